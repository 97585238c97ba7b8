#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The Lanczos window of three lobes: sinc(x) sinc(x / 3) for |x| < 3 (C. Duchon, "Lanczos Filtering in One and Two
/// Dimensions", 1979), at places one step apart.
struct Lanczos {
  private let step: Double
  private let turn: (sine: Double, cosine: Double)

  init(step: Double) {
    self.step = step
    turn = (sin(step * .pi / 3), cos(step * .pi / 3))
  }

  /// Fills in the window's values at x, x + step, ..., all within the radius.
  func fill(_ weights: UnsafeMutableBufferPointer<Double>, from x: Double) {
    // One turn a sample instead of two sines: sin(3 a) = 3 sin(a) - 4 sin(a)^3.
    var sine = sin(x * .pi / 3)
    var cosine = cos(x * .pi / 3)
    for k in weights.indices {
      let t = (x + Double(k) * step) * .pi
      let square = sine * sine
      // Near 0 the quotient is inexact, and the first terms of the series are not.
      let weight = abs(t) < 0.003 ? 1 - t * t * 5 / 27 : 3 * square * (3 - 4 * square) / (t * t)
      weights[k] = weight
      (sine, cosine) = (sine * turn.cosine + cosine * turn.sine, cosine * turn.cosine - sine * turn.sine)
    }
  }
}
