import CKernels

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// From PQ or HLG to the brightness of an ordinary display: the EETF of ITU-R BT.2390-11, 5.4.1 (a Hermite spline above a knee, in
/// PQ's own scale) on the brightest of R, G and B, all three then multiplied alike, so that hue and saturation stay and no
/// channel runs into its limit by itself. See docs/color.md.
public final class ToneMapping {
  public enum Transfer: Sendable, Equatable {
    /// SMPTE ST 2084.
    case pq
    /// ARIB STD-B67.
    case hlg

    /// TransferCharacteristics of ITU-T H.273; nil for others.
    public init?(number: Int) {
      switch number {
      case 16: self = .pq
      case 18: self = .hlg
      default: return nil
      }
    }

    public var name: String { self == .pq ? "PQ" : "HLG" }

    /// cd/m2 of the highest coded value: ST 2084's end, and the nominal display of BT.2100 for which HLG's gamma is 1.2.
    var peak: Double { self == .pq ? 10000 : 1000 }
  }

  /// White of the output in cd/m2: the reference white of ITU-R BT.2408-7, 2.1.
  public static let white = 203.0

  /// cd/m2 of the brightest pixel where the file does not say.
  public static let usualPeak = 1000.0

  private let light: [Float]
  private let system: [Float]
  private let gain: [Float]
  private let code: [Float]
  private let luma: (Float, Float, Float)
  private let weights: (Float, Float, Float)
  private let matrix: Matrix3

  /// What it holds, in bytes.
  public static let byteCount = (CK_LIGHT_STEPS + 3 * CK_TONE_STEPS + 4) * 4

  /// - Parameters:
  ///   - primaries: of the input; those of BT.2020 are taken where they span no space.
  ///   - peak: cd/m2 of the input's brightest pixel; taken to 203 to 10,000. Not used for HLG.
  ///   - output: what the pixels become.
  public init(from transfer: Transfer, primaries: Primaries, peak: Double, to output: RGBSpace) {
    let source = primaries.toXYZ == nil ? Primaries.bt2020 : primaries
    matrix = source.matrix(to: output.primaries) ?? Matrix3([1, 0, 0, 0, 1, 0, 0, 0, 1])
    luma = Self.luminance(of: source)
    weights = Self.luminance(of: output.primaries)
    func table(_ steps: Int, _ value: (Double) -> Double) -> [Float] {
      (0...steps).map { Float(value(Double($0) / Double(steps))) }
    }
    light = table(CK_LIGHT_STEPS) { transfer == .pq ? Self.pqLight($0) / transfer.peak : Self.hlgLight($0) }
    // BT.2100, table 5: the OOTF, L = Y^(gamma - 1) E.
    system = transfer == .pq ? [] : table(CK_TONE_STEPS) { pow($0, 4 * 0.2) }
    let peak = transfer == .pq ? min(max(peak, Self.white), transfer.peak) : transfer.peak
    gain = table(CK_TONE_STEPS) { root in
      let light = pow(root, 4) * transfer.peak
      if light == 0 { return transfer.peak / Self.white }
      return Self.displayed(light, peak: peak) / Self.white / (light / transfer.peak)
    }
    code = table(CK_TONE_STEPS) { output.curve.code(of: $0 * $0) }
  }

  /// The cd/m2 that the output shows for those of the input: BT.2390-11, 5.4.1, with black at 0.
  static func displayed(_ light: Double, peak: Double) -> Double {
    let whole = pqCode(peak)
    let most = pqCode(white) / whole
    let knee = 1.5 * most - 0.5
    let value = min(pqCode(min(light, peak)) / whole, 1)
    guard value > knee, knee < 1 else { return min(pqLight(value * whole), white) }
    let t = (value - knee) / (1 - knee)
    let (t2, t3) = (t * t, t * t * t)
    let spline = (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * most
    return min(pqLight(spline * whole), white)
  }

  // ST 2084's constants.
  private static let (m1, m2) = (2610.0 / 16384, 2523.0 / 32)
  private static let (c1, c2, c3) = (3424.0 / 4096, 2413.0 / 128, 2392.0 / 128)

  /// cd/m2 of PQ's coded value.
  static func pqLight(_ code: Double) -> Double {
    let power = pow(max(code, 0), 1 / m2)
    return 10000 * pow(max(power - c1, 0) / (c2 - c3 * power), 1 / m1)
  }

  static func pqCode(_ light: Double) -> Double {
    let power = pow(max(light, 0) / 10000, m1)
    return pow((c1 + c2 * power) / (1 + c3 * power), m2)
  }

  /// Light of the scene, 0 to 1, of HLG's coded value: the inverse OETF of BT.2100, table 5.
  static func hlgLight(_ code: Double) -> Double {
    let a = 0.17883277
    let (b, c) = (1 - 4 * a, 0.5 - a * log(4 * a))
    return code <= 0.5 ? code * code / 3 : min((exp((code - c) / a) + b) / 12, 1)
  }

  private static func luminance(of primaries: Primaries) -> (Float, Float, Float) {
    // Whoever calls it has primaries that span a space.
    let values = (primaries.toXYZ ?? Primaries.bt709.toXYZ!).values
    return (Float(values[3]), Float(values[4]), Float(values[5]))
  }

  /// Maps a row of `pixels` of 16-bit samples.
  func apply(_ row: UnsafeRawPointer, channels: Int, pixels: Int, to out: UnsafeMutableRawPointer, as type: SampleType)
  {
    light.withUnsafeBufferPointer { light in
      system.withUnsafeBufferPointer { system in
        gain.withUnsafeBufferPointer { gain in
          code.withUnsafeBufferPointer { code in
            var tone = ck_tone()
            tone.light = light.baseAddress
            tone.system = system.isEmpty ? nil : system.baseAddress
            tone.luma = luma
            tone.gain = gain.baseAddress
            let m = matrix.values.map(Float.init)
            tone.matrix = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
            tone.weights = weights
            tone.code = code.baseAddress
            tone.maximum = type == .uint8 ? 255 : 65535
            let row = row.assumingMemoryBound(to: UInt16.self)
            if type == .uint8 {
              ck_tone_u8(row, Int32(channels), pixels, &tone, out.assumingMemoryBound(to: UInt8.self))
            } else {
              ck_tone_u16(row, Int32(channels), pixels, &tone, out.assumingMemoryBound(to: UInt16.self))
            }
          }
        }
      }
    }
  }
}
