/// One axis of a resampling: where each output sample lies among the source samples, and how many of those are first averaged.
public struct ResamplingAxis: Sendable, Equatable {
  /// Source samples that may be read: 0 ..< sourceCount.
  public var sourceCount: Int
  /// Where output sample 0 begins, in source samples.
  public var origin: Double
  /// Source samples for each output sample.
  public var step: Double
  /// Output samples.
  public var count: Int

  public init(sourceCount: Int, origin: Double, step: Double, count: Int) {
    self.sourceCount = sourceCount
    self.origin = origin
    self.step = step
    self.count = count
  }

  /// From this ratio on, whole boxes of samples are averaged before the filter, so that the rows it holds do not grow with
  /// the ratio. The filter still sees at least half of this many boxes for each output sample: the box's own fall-off is
  /// then under 0.3 dB at the output's Nyquist frequency.
  static let boxRatio = 8.0
  /// The most samples that the sums of the box pass have room for, in each direction.
  static let mostBoxed = 256

  /// Source samples averaged into one before filtering: 1 is none.
  public var boxFactor: Int {
    step < Self.boxRatio ? 1 : min(Self.mostBoxed, Int(step / (Self.boxRatio / 2)))
  }

  /// This axis over the averaged samples.
  var boxed: ResamplingAxis {
    let factor = boxFactor
    return ResamplingAxis(
      sourceCount: (sourceCount + factor - 1) / factor, origin: origin / Double(factor), step: step / Double(factor),
      count: count)
  }
}

/// The filter's weights for each output sample of an axis: `taps` of them, from `starts[i]` on, summing to 1. The same number
/// for every sample, zeros where fewer are needed; samples beyond the source's ends are left out and the rest made up for.
struct FilterWeights {
  let starts: [Int32]
  let taps: Int
  let values: [Double]

  init(axis: ResamplingAxis) {
    let scale = max(1, axis.step)
    let support = Lanczos.radius * scale
    var runs: [(start: Int, weights: [Double])] = []
    runs.reserveCapacity(axis.count)
    for i in 0..<axis.count {
      let center = min(max(axis.origin + (Double(i) + 0.5) * axis.step, 0), Double(axis.sourceCount))
      var first = max(0, Int((center - support - 0.5).rounded(.up)))
      let last = min(axis.sourceCount - 1, Int((center + support - 0.5).rounded(.down)))
      var weights = (min(first, last)...max(first, last)).map { Lanczos.weight(at: (Double($0) + 0.5 - center) / scale) }
      // Zeros at the ends cost time and, in the vertical pass, rows.
      while weights.count > 1, abs(weights.last!) < 1e-7 { weights.removeLast() }
      while weights.count > 1, abs(weights.first!) < 1e-7 {
        weights.removeFirst()
        first += 1
      }
      let sum = weights.reduce(0, +)
      runs.append((first, weights.map { $0 / sum }))
    }
    let taps = runs.reduce(1) { max($0, $1.weights.count) }
    var starts: [Int32] = []
    var values: [Double] = []
    starts.reserveCapacity(axis.count)
    values.reserveCapacity(axis.count * taps)
    for run in runs {
      let start = min(run.start, axis.sourceCount - taps)
      starts.append(Int32(start))
      values.append(contentsOf: repeatElement(0, count: run.start - start))
      values.append(contentsOf: run.weights)
      values.append(contentsOf: repeatElement(0, count: taps - run.weights.count - (run.start - start)))
    }
    self.starts = starts
    self.taps = taps
    self.values = values
  }

  /// The weights times `factor`, in fixed point of `bits` bits of fraction. Each output sample's sum is exact: what rounding
  /// leaves over goes to its largest weight.
  func fixedPoint(bits: Int, times factor: Double) -> [Int16] {
    let one = Double(1 << bits) * factor
    var result = [Int16](repeating: 0, count: values.count)
    for i in starts.indices {
      let run = i * taps..<(i + 1) * taps
      var sum = 0
      var largest = run.lowerBound
      for k in run {
        let weight = Int((values[k] * one).rounded())
        result[k] = Int16(weight)
        sum += weight
        if abs(values[k]) > abs(values[largest]) { largest = k }
      }
      result[largest] += Int16(Int(one.rounded()) - sum)
    }
    return result
  }
}
