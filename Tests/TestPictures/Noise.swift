/// The same numbers at every run (SplitMix64, G. Steele et al., 2014).
public struct Noise: RandomNumberGenerator {
  private var state: UInt64

  public init(_ seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Half of them noise, half of them extremes.
  public mutating func samples<T: FixedWidthInteger>(_ count: Int, of type: T.Type, upTo maximum: T = .max) -> [T] {
    (0..<count).map { _ in
      let bits = next()
      return bits & 1 == 0 ? T.random(in: 0...maximum, using: &self) : bits & 2 == 0 ? 0 : maximum
    }
  }
}
