import TestPictures
import Testing

@testable import Raster

@Suite struct FilterWeightsTests {
  private static let axes: [ResamplingAxis] = {
    var noise = Noise(30)
    return (0..<400).map { i in
      let step = [1, 0.5, 1.0 / 3, 0.6, 1.000_000_01][safe: i % 9] ?? Double.random(in: 0.2...8, using: &noise)
      let source = 1 + Int(noise.next() % 300)
      return ResamplingAxis(
        sourceCount: source, origin: i % 2 == 0 ? 0 : Double.random(in: -1...1, using: &noise), step: step,
        count: max(1, Int(Double(source) / step)))
    }
  }()

  /// Rows pass once: a filter may not begin before the one above it, nor reach beyond the source.
  @Test func startsNeverGoBack() {
    for axis in Self.axes {
      let weights = FilterWeights(axis: axis)
      #expect(weights.starts.count == axis.count)
      #expect(zip(weights.starts, weights.starts.dropFirst()).allSatisfy { $0 <= $1 }, "\(axis)")
      #expect(weights.starts.allSatisfy { $0 >= 0 && Int($0) + weights.taps <= axis.sourceCount }, "\(axis)")
    }
  }

  /// The vertical kernel has room for absolute weights that sum to 2.
  @Test func weightsSumToOneAndFitTheKernels() {
    for axis in Self.axes {
      let weights = FilterWeights(axis: axis)
      for scale in [1, 255.0 / 219, 255.0 / 224] {
        let fixed = weights.fixedPoint(bits: 14, times: scale)
        let one = (16384 * scale).rounded()
        for i in 0..<axis.count {
          let run = fixed[i * weights.taps..<(i + 1) * weights.taps].map(Double.init)
          #expect(run.reduce(0, +) == one, "\(axis)")
          #expect(run.reduce(0) { $0 + abs($1) } <= 2 * one, "\(axis)")
        }
      }
      let floats = weights.floatingPoint()
      for i in 0..<axis.count {
        let sum = floats[i * weights.taps..<(i + 1) * weights.taps].reduce(0) { $0 + Double($1) }
        #expect(abs(sum - 1) < 1e-6, "\(axis)")
      }
    }
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
