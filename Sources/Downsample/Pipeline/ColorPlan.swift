import Codecs
import Raster

/// What becomes of a picture's colour, decided from its header.
struct ColorPlan {
  enum Step: Equatable {
    /// Values stay as they are.
    case keep
    /// By ICC profiles.
    case convert(from: [UInt8], to: RGBSpace)
    case toneMap(ToneMapping.Transfer, Primaries, to: RGBSpace)
    /// From CMYK, by a profile if there is one.
    case separate(profile: [UInt8], isInverted: Bool, to: RGBSpace)
  }

  let data: ICCProfile.DataSpace
  private(set) var step = Step.keep
  /// Goes into the output; empty for none.
  private(set) var profile: [UInt8] = []
  /// The output's values are known to be of sRGB.
  private(set) var isSRGB = false
  private(set) var warnings: [String]

  init(header: ImageHeader, decoded: DecodedLayout, rendition: Rendition) {
    switch decoded.color {
    case .gray: data = .gray
    case .cmyk: data = .cmyk
    default: data = .rgb
    }
    let source = SourceColor(header, data)
    warnings = source.warnings
    let target: RGBSpace? =
      switch rendition.color {
      case .keep: nil
      case .srgb: .srgb
      case .p3: .displayP3
      }

    if case .cmyk(let isInverted) = decoded.color {
      var profile: [UInt8] = []
      if case .profile(let own) = source.space { profile = own }
      step = .separate(profile: profile, isInverted: isInverted, to: target ?? .srgb)
      write(target ?? .srgb)
      return
    }
    switch source.space {
    case .srgb(let isStated):
      if let target { become(target, from: .srgb) } else { isSRGB = isStated }
    case .described(let space):
      if let target {
        become(target, from: space)
      } else if let profile = space.profile(for: data) {
        self.profile = profile
      }
    case .highDynamicRange(let transfer, let primaries):
      step = .toneMap(transfer, primaries, to: target ?? .srgb)
      warnings.append(
        "tone-mapped from \(transfer.name) (high dynamic range) to \(target == .displayP3 ? "Display P3" : "sRGB")")
      write(target ?? .srgb)
    case .profile(let own):
      if let target {
        become(target, from: own)
      } else if rendition.kind.codesColorDifferences && data == .rgb && ICCProfile.hasDegeneratePrimaries(own) {
        warnings.append("converted to sRGB: the ICC profile's primaries are degenerate")
        step = .convert(from: own, to: .srgb)
        write(.srgb)
      } else {
        profile = own
      }
    }
  }

  private mutating func become(_ target: RGBSpace, from space: RGBSpace) {
    let isThere = data == .gray ? space.curve == target.curve : space == target
    if !isThere, let own = space.profile(for: data) { step = .convert(from: own, to: target) }
    write(target)
  }

  private mutating func become(_ target: RGBSpace, from own: [UInt8]) {
    if data == .gray {
      if !ICCProfile.describes(target.curve, gray: own) { step = .convert(from: own, to: target) }
      write(target)
    } else if ICCProfile.describes(target, own) {
      write(target)
      if target != .srgb { profile = own }
    } else {
      step = .convert(from: own, to: target)
      write(target)
    }
  }

  /// Gray has no primaries, and both targets have sRGB's curve.
  private mutating func write(_ target: RGBSpace) {
    isSRGB = target == .srgb || data == .gray
    profile = isSRGB ? [] : target.profile(for: .rgb) ?? []
  }
}
