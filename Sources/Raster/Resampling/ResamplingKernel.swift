#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The filters that a picture can be resampled with, widened by the ratio when it is made smaller. One sample for one sample
/// is the identity with each of them.
public enum ResamplingKernel: String, Sendable, CaseIterable {
  /// The mean of the source that an output sample covers, samples at its edges by the part that it covers of them.
  case box
  /// Linear interpolation, radius 1.
  case triangle
  /// Catmull-Rom: Mitchell and Netravali's cubic with B = 0, C = 1/2, radius 2.
  case catrom
  /// Mitchell and Netravali's cubic with B = C = 1/3, radius 2. It does not pass through the samples: it smooths a little.
  case mitchell
  /// Sinc windowed by a sinc of two lobes, radius 2.
  case lanczos2
  /// Sinc windowed by a sinc of three lobes, radius 3.
  case lanczos3

  /// How far from its centre it reaches, in source samples, or in output samples where those are the wider ones.
  public var radius: Double {
    switch self {
    case .box: 0.5
    case .triangle: 1
    case .catrom, .mitchell, .lanczos2: 2
    case .lanczos3: 3
    }
  }

  /// What is left out at the ends of the support: zeros there cost time and, in the vertical pass, rows. The smooth filters
  /// end with the square of the distance: within a thousandth of the end their weights are under 1.3e-6.
  var trim: Double {
    switch self {
    case .box: 0
    case .triangle: 1e-6
    case .catrom, .mitchell, .lanczos2, .lanczos3: 0.001
    }
  }

  /// Whether it is 1 at 0 and 0 at all other whole numbers.
  var interpolates: Bool { self != .mitchell }

  /// Fills in the filter's values at x, x + step, ..., all within the radius. Not for `box`, whose weights are not those of
  /// points.
  func fill(_ weights: UnsafeMutableBufferPointer<Double>, from x: Double, step: Double) {
    if self == .lanczos3 { return Lanczos(step: step).fill(weights, from: x) }
    for k in weights.indices { weights[k] = value(at: x + Double(k) * step) }
  }

  private func value(at x: Double) -> Double {
    let x = abs(x)
    switch self {
    case .box: return x <= 0.5 ? 1 : 0
    case .triangle: return max(0, 1 - x)
    case .catrom: return Self.cubic(x, b: 0, c: 0.5)
    case .mitchell: return Self.cubic(x, b: 1.0 / 3, c: 1.0 / 3)
    case .lanczos2: return x < 2 ? Self.sinc(x) * Self.sinc(x / 2) : 0
    case .lanczos3: return x < 3 ? Self.sinc(x) * Self.sinc(x / 3) : 0
    }
  }

  private static func sinc(_ x: Double) -> Double {
    let t = x * .pi
    // The first terms of the series, where the quotient is inexact.
    return t < 1e-4 ? 1 - t * t / 6 : sin(t) / t
  }

  /// D. Mitchell and A. Netravali, "Reconstruction Filters in Computer Graphics", 1988, equation 8.
  private static func cubic(_ x: Double, b: Double, c: Double) -> Double {
    if x < 1 { return ((12 - 9 * b - 6 * c) * x * x * x + (-18 + 12 * b + 6 * c) * x * x + 6 - 2 * b) / 6 }
    if x < 2 {
      return ((-b - 6 * c) * x * x * x + (6 * b + 30 * c) * x * x + (-12 * b - 48 * c) * x + 8 * b + 24 * c) / 6
    }
    return 0
  }
}
