#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How coded values become light: Y = (a X + b)^g from X = d on, Y = c X below; a parametric curve of type 3 of ICC.1:2022
/// (10.18). Both are 0 to 1.
public struct ToneCurve: Sendable, Equatable {
  public var g: Double
  public var a: Double
  public var b: Double
  public var c: Double
  public var d: Double

  public init(g: Double, a: Double = 1, b: Double = 0, c: Double = 0, d: Double = 0) {
    self.g = g
    self.a = a
    self.b = b
    self.c = c
    self.d = d
  }

  /// IEC 61966-2-1.
  public static let srgb = ToneCurve(g: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045)

  /// A plain power; 1 is light itself.
  public static func gamma(_ exponent: Double) -> ToneCurve { ToneCurve(g: exponent) }

  /// Light of a coded value.
  public func light(of code: Double) -> Double {
    let value = code >= d ? pow(max(a * code + b, 0), g) : c * code
    return min(max(value, 0), 1)
  }

  /// The coded value of light.
  public func code(of light: Double) -> Double {
    let value = c > 0 && light < c * d ? light / c : (pow(max(light, 0), 1 / g) - b) / a
    return min(max(value, 0), 1)
  }
}
