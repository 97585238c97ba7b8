import Raster

/// The colour space of the output.
public enum OutputColor: String, Sendable, CaseIterable {
  /// The input's.
  case keep
  /// IEC 61966-2-1.
  case srgb
  /// Display P3: the primaries of SMPTE EG 432-1 with D65 and sRGB's transfer function.
  case p3
}

/// Bits of a sample in the output, where the format has a choice.
public enum SampleDepth: String, Sendable, CaseIterable {
  /// 0 to 255.
  case eight = "8"
  /// 0 to 65,535: PNG only.
  case sixteen = "16"
}

/// An opaque colour in sRGB, 0 to 1 each.
public struct BackgroundColor: Sendable, Equatable {
  /// 0 to 1.
  public var red: Double
  /// 0 to 1.
  public var green: Double
  /// 0 to 1.
  public var blue: Double

  /// Values beyond 0 and 1 are cut off.
  public init(red: Double, green: Double, blue: Double) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// What lies under pictures unless something else is asked for.
  public static let white = BackgroundColor(red: 1, green: 1, blue: 1)

  /// Of 8 bits.
  var samples: [UInt8] { [red, green, blue].map(Self.sample) }

  /// The gray of the same luminance, of 8 bits with sRGB's curve.
  var gray: UInt8 {
    let curve = ToneCurve.srgb
    // IEC 61966-2-1's weights.
    let light = 0.2126 * curve.light(of: red) + 0.7152 * curve.light(of: green) + 0.0722 * curve.light(of: blue)
    return Self.sample(curve.code(of: light))
  }

  private static func sample(_ value: Double) -> UInt8 { UInt8((min(max(value, 0), 1) * 255).rounded()) }
}
