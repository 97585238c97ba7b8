import Codecs
import Raster

/// What a picture's colour values mean, by the first of these that holds: an ICC profile without faults, numbers of ITU-T H.273,
/// gAMA and cHRM, and sRGB where the file says nothing. PQ and HLG come first: no profile says how bright they are.
struct SourceColor {
  enum Space: Equatable {
    /// `isStated`: by the file.
    case srgb(isStated: Bool)
    case profile([UInt8])
    /// No profile stands for it yet.
    case described(RGBSpace)
    case highDynamicRange(ToneMapping.Transfer, Primaries)
  }

  private(set) var space = Space.srgb(isStated: false)
  private(set) var warnings: [String] = []

  init(_ header: ImageHeader, _ data: ICCProfile.DataSpace) {
    if data != .cmyk, let numbers = header.codedColor, let transfer = ToneMapping.Transfer(number: numbers.transfer) {
      space = .highDynamicRange(transfer, Self.widePrimaries(numbers.primaries))
      return
    }
    if !header.iccProfile.isEmpty {
      if let fault = ICCProfile.fault(of: header.iccProfile, for: data) {
        warnings.append(
          data == .cmyk
            ? "the CMYK profile could not be used: colours are approximate" : "the ICC profile was left out: \(fault)")
      } else if data != .cmyk, let numbers = ICCProfile.codedNumbers(header.iccProfile),
        let transfer = ToneMapping.Transfer(number: numbers.transfer)
      {
        space = .highDynamicRange(transfer, Self.widePrimaries(numbers.primaries))
        return
      } else {
        space = .profile(ICCProfile.trimmed(header.iccProfile))
        return
      }
    }
    if data == .cmyk { return }
    if let numbers = header.codedColor {
      read(numbers)
    } else if let calibration = header.calibration {
      read(calibration)
    }
    // Gray has no primaries.
    if data == .gray, case .described(let space) = space, space.curve == .srgb { self.space = .srgb(isStated: true) }
  }

  private static func widePrimaries(_ number: Int) -> Primaries { Primaries(number: number) ?? .bt2020 }

  private mutating func read(_ numbers: ImageHeader.CodedColor) {
    if numbers.primaries == 2 && numbers.transfer == 2 { return }
    var primaries = Primaries.bt709
    if numbers.primaries != 2 {
      if let known = Primaries(number: numbers.primaries) {
        primaries = known
      } else {
        warnings.append("colour primaries \(numbers.primaries) (H.273) are not known: those of sRGB were taken")
      }
    }
    let curve = Self.curve(numbers.transfer)
    if curve == nil {
      warnings.append("transfer function \(numbers.transfer) (H.273) is not supported: that of sRGB was taken")
    }
    settle(RGBSpace(primaries: primaries, curve: curve ?? .srgb))
  }

  private mutating func settle(_ described: RGBSpace) {
    space = described == .srgb ? .srgb(isStated: true) : .described(described)
  }

  /// TransferCharacteristics of H.273, table 3. Those of cameras (BT.709 and its relatives) are taken for sRGB's curve, see
  /// docs/color.md. Nil where there is no telling.
  private static func curve(_ number: Int) -> ToneCurve? {
    switch number {
    case 1, 2, 6, 7, 11, 12, 13, 14, 15: .srgb
    case 4: .gamma(2.2)
    case 5: .gamma(2.8)
    case 8: .gamma(1)
    // SMPTE ST 428-1: 48/52.37 of full light is white.
    case 17: ToneCurve(g: 2.6, a: 1.034089)
    default: nil
    }
  }

  /// A gamma of 1/2.2 within 5%, with the primaries of BT.709, is what programs write for sRGB.
  private mutating func read(_ calibration: ImageHeader.Calibration) {
    var primaries = Primaries.bt709
    if let points = calibration.chromaticities, points.count == 4 {
      let given = points.map { Chromaticity($0.x, $0.y) }
      let stated = Primaries(white: given[0], red: given[1], green: given[2], blue: given[3])
      if stated.toXYZ == nil {
        warnings.append("the cHRM chunk was ignored: its colours span no space")
      } else if !stated.isClose(to: .bt709, tolerance: 0.005) {
        primaries = stated
      }
    }
    var curve = ToneCurve.srgb
    if let gamma = calibration.gamma {
      if !(gamma >= 0.1 && gamma <= 10) {
        warnings.append("the gAMA chunk was ignored: a gamma of \(gamma) makes no picture")
      } else if primaries != .bt709 || abs(gamma * 2.2 - 1) > 0.05 {
        curve = .gamma(1 / gamma)
      }
    }
    settle(RGBSpace(primaries: primaries, curve: curve))
  }
}

extension RGBSpace {
  /// For the description of a profile made for it.
  private var name: String {
    if self == .displayP3 { return "Display P3" }
    let known: [(Primaries, String)] = [(.bt709, "BT.709"), (.bt2020, "BT.2020"), (.p3, "P3")]
    let primaries = known.first { $0.0 == self.primaries }?.1 ?? "Own"
    return primaries + " primaries, " + curve.name
  }

  /// A profile that stands for it in the output; nil where its primaries span no space.
  func profile(for data: ICCProfile.DataSpace) -> [UInt8]? {
    data == .gray ? curve.grayProfile(named: "Gray, \(curve.name)") : iccProfile(named: name)
  }
}

extension ToneCurve {
  fileprivate var name: String {
    if self == .srgb { return "sRGB curve" }
    // Two digits, without a formatter.
    let hundredths = Int((g * 100).rounded())
    return "gamma \(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10)"
  }
}
