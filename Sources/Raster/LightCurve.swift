#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How the coded values of a channel become light, both from 0 to 1.
///
/// Tables of 16 bits cannot tell the darkest values of a pure power apart. So that each of 8 bits comes back as it was, a curve
/// is taken to be no darker than 1/128 of the coded value: that changes values below 5/255 of a gamma of 2.2.
public struct LightCurve: Sendable, Equatable {
  private enum Form: Equatable {
    /// (a x + b)^g + e from d on, c x + f below (ICC.1:2022, 10.18).
    case parametric(g: Double, a: Double, b: Double, c: Double, d: Double, e: Double, f: Double)
    /// Evenly spaced, of 65,535.
    case table([UInt16])
  }

  private let form: Form

  private init(_ form: Form) { self.form = form }

  /// IEC 61966-2-1.
  public static let srgb = LightCurve(
    .parametric(g: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045, e: 0, f: 0))

  /// A pure power.
  public static func gamma(_ gamma: Double) -> LightCurve {
    LightCurve(.parametric(g: gamma, a: 1, b: 0, c: 0, d: 0, e: 0, f: 0))
  }

  /// By its number in ITU-T H.273, table 3. Nil for PQ and HLG, whose light has no largest value that 16 bits could be
  /// fractions of, and for what is not specified.
  public init?(transfer: Int) {
    switch transfer {
    case 4: self = .gamma(2.2)
    case 5: self = .gamma(2.8)
    case 8: self = .gamma(1)
    // Cameras' curves of stills are taken for sRGB's, as everywhere (docs/color.md).
    case 1, 6, 7, 11, 12, 13, 14, 15: self = .srgb
    case 17: self = .gamma(2.6)
    default: return nil
    }
  }

  /// A tag of curveType or parametricCurveType (ICC.1:2022, 10.6 and 10.18); nil where it is neither, or broken.
  init?(tag: ArraySlice<UInt8>) {
    func number(_ offset: Int, bytes: Int) -> Int? {
      let start = tag.startIndex + offset
      guard offset >= 0, start + bytes <= tag.endIndex else { return nil }
      return tag[start..<start + bytes].reduce(0) { $0 << 8 | Int($1) }
    }
    if tag.starts(with: Array("curv".utf8)), let count = number(8, bytes: 4) {
      switch count {
      case 0: self = .gamma(1)
      case 1:
        guard let gamma = number(12, bytes: 2), gamma > 0 else { return nil }
        self = .gamma(Double(gamma) / 256)
      default:
        guard count <= 65536, tag.count >= 12 + 2 * count else { return nil }
        form = .table((0..<count).map { UInt16(number(12 + 2 * $0, bytes: 2) ?? 0) })
      }
    } else if tag.starts(with: Array("para".utf8)), let kind = number(8, bytes: 2), kind <= 4 {
      let count = [1, 3, 4, 5, 7][kind]
      let values = (0..<count).compactMap { index in
        number(12 + 4 * index, bytes: 4).map { Double(Int32(truncatingIfNeeded: $0)) / 65536 }
      }
      guard values.count == count, values[0] > 0 else { return nil }
      let (g, a, b) = (values[0], count > 1 ? values[1] : 1, count > 1 ? values[2] : 0)
      // The first kinds are the last one with numbers left out.
      switch kind {
      case 0: self = .gamma(g)
      case 1, 2:
        guard a > 0 else { return nil }
        let c = kind == 2 ? values[3] : 0
        form = .parametric(g: g, a: a, b: b, c: 0, d: -b / a, e: c, f: c)
      case 3: form = .parametric(g: g, a: a, b: b, c: values[3], d: values[4], e: 0, f: 0)
      default: form = .parametric(g: g, a: a, b: b, c: values[3], d: values[4], e: values[5], f: values[6])
      }
    } else {
      return nil
    }
    // What hardly rises is no curve of a picture.
    guard light(of: 1) - light(of: 0) > 0.1 else { return nil }
  }

  /// The light of a coded value.
  public func light(of coded: Double) -> Double { min(max(exactLight(of: coded), coded / 128, 0), 1) }

  /// The same as the curve itself has it: dark values may be alike, and what it says may lie beyond 0 and 1.
  func exactLight(of coded: Double) -> Double {
    switch form {
    case .parametric(let g, let a, let b, let c, let d, let e, let f):
      return coded >= d ? pow(max(0, a * coded + b), g) + e : c * coded + f
    case .table(let values):
      let place = coded * Double(values.count - 1)
      let index = min(Int(place), values.count - 2)
      let (low, high) = (Double(values[index]), Double(values[index + 1]))
      return (low + (place - Double(index)) * (high - low)) / 65535
    }
  }

  /// The light of every coded value, 0 to `maximum`, in 16 bits. It never falls.
  func table(maximum: Int) -> [UInt16] {
    var most: UInt16 = 0
    return (0...maximum).map { value in
      most = max(most, UInt16((light(of: Double(value) / Double(maximum)) * 65535).rounded()))
      return most
    }
  }

  /// The coded value, 0 to `maximum`, that is nearest to each light of 16 bits.
  func inverseTable<Value: FixedWidthInteger>(maximum: Int, of type: Value.Type) -> [Value] {
    var result = [Value](repeating: Value(maximum), count: 65536)
    var next = 0
    for value in 0..<maximum where next < 65536 {
      // From the middle between this value and the following one on, it is that.
      let end = light(of: (Double(value) + 0.5) / Double(maximum)) * 65535
      while next < 65536, Double(next) < end {
        result[next] = Value(value)
        next += 1
      }
    }
    return result
  }
}

extension ICCProfile {
  /// The curves of an RGB profile's channels, or of a gray one's, where it has them: profiles of tables alone do not.
  public static func lightCurves(of profile: [UInt8], isGray: Bool) -> [LightCurve]? {
    guard let tags = Tags(profile) else { return nil }
    let names = isGray ? ["kTRC"] : ["rTRC", "gTRC", "bTRC"]
    let curves = names.compactMap { tags.element($0).flatMap { LightCurve(tag: profile[$0]) } }
    return curves.count == names.count ? curves : nil
  }
}
