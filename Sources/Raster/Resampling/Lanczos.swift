#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The Lanczos window of three lobes: sinc(x) sinc(x / 3) for |x| < 3 (C. Duchon, "Lanczos Filtering in One and Two
/// Dimensions", 1979).
enum Lanczos {
  static let radius = 3.0

  static func weight(at x: Double) -> Double {
    if x == 0 { return 1 }
    if abs(x) >= radius { return 0 }
    let t = x * .pi
    return radius * sin(t) * sin(t / radius) / (t * t)
  }
}
