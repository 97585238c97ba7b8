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
  public var kernel: ResamplingKernel
  /// The part of a whole sample that the last source sample covers: less than 1 where averaging had fewer left for it.
  private(set) var lastWidth = 1.0

  public init(
    sourceCount: Int, origin: Double, step: Double, count: Int, kernel: ResamplingKernel = .lanczos3
  ) {
    self.sourceCount = sourceCount
    self.origin = origin
    self.step = step
    self.count = count
    self.kernel = kernel
  }

  /// From this ratio on, whole boxes of samples are averaged before the filter, so that the rows it holds do not grow with
  /// the ratio. The filter still sees at least half of this many boxes for each output sample: the box's own fall-off is
  /// then under 0.3 dB at the output's Nyquist frequency.
  static let boxRatio = 8.0
  /// The most samples that the sums of the box pass have room for, in each direction.
  static let mostBoxed = 256

  /// Source samples averaged into one before filtering: 1 is none. The box filter itself would no longer be the mean of what
  /// an output sample covers: it needs no boxes, as `isLongMean` says.
  public var boxFactor: Int {
    step < Self.boxRatio || kernel == .box ? 1 : min(Self.mostBoxed, Int(step / (Self.boxRatio / 2)))
  }

  /// Whether each output sample is the mean of so many that fixed-point weights would be too coarse. A source sample then
  /// counts for two output samples at most, so that sums of rows are kept in place of rows.
  var isLongMean: Bool { kernel == .box && step >= Self.boxRatio }

  /// The most source samples that the filter of one output sample spans, over all of them.
  var mostTaps: Int {
    min(sourceCount, Int((2 * kernel.radius * max(1, step)).rounded(.up)) + 2)
  }

  /// Where the filter of an output sample is centred: never beyond the source's ends.
  func center(of index: Int) -> Double { min(max(origin + (Double(index) + 0.5) * step, 0), Double(sourceCount)) }

  /// What an output sample covers of the source, maybe beyond its ends.
  func covered(by index: Int) -> Range<Double> {
    let start = origin + Double(index) * step
    return start..<start + step
  }

  /// This axis over the averaged samples.
  var boxed: ResamplingAxis {
    let factor = boxFactor
    let boxes = (sourceCount + factor - 1) / factor
    var result = ResamplingAxis(
      sourceCount: boxes, origin: origin / Double(factor), step: step / Double(factor), count: count,
      kernel: kernel)
    result.lastWidth = Double(sourceCount - (boxes - 1) * factor) / Double(factor)
    return result
  }
}

/// The filter's weights for each output sample of an axis: `taps` of them, from `starts[i]` on, summing to 1. The same number
/// for every sample, zeros where fewer are needed; samples beyond the source's ends are left out and the rest made up for.
/// The starts never go back, so that rows before a start are not needed again.
struct FilterWeights {
  let starts: [Int32]
  let taps: Int

  private let axis: ResamplingAxis
  private let scale: Double
  /// The source samples that have a weight, first and last, for each output sample.
  private let runs: [(first: Int32, last: Int32)]

  /// How far from its centre an output sample's filter reaches, in source samples.
  private static func support(of axis: ResamplingAxis) -> Double {
    (axis.kernel.radius - axis.kernel.trim) * max(1, axis.step)
  }

  /// What `taps` is at most, told without making the weights.
  static func mostTaps(of axis: ResamplingAxis) -> Int {
    min(axis.sourceCount, Int(2 * support(of: axis)) + (axis.kernel == .box ? 2 : 1))
  }

  init(axis: ResamplingAxis) {
    let scale = max(1, axis.step)
    let support = Self.support(of: axis)
    var runs: [(first: Int32, last: Int32)] = []
    runs.reserveCapacity(axis.count)
    for i in 0..<axis.count {
      let center = axis.center(of: i)
      let nearest = min(max((center - 0.5).rounded(), 0), Double(axis.sourceCount - 1))
      // Where nothing is scaled down, all samples but one lie on the filter's zeros when that one lies at the centre. At one
      // sample for one, a filter without such zeros is taken for one that has them.
      if scale == 1, abs(nearest + 0.5 - center) < 1e-7, axis.kernel.interpolates || axis.step == 1 {
        runs.append((Int32(nearest), Int32(nearest)))
        continue
      }
      if axis.kernel == .box {
        // A billionth of a sample is rounding's.
        let covered = axis.covered(by: i)
        let first = min(max((covered.lowerBound + 1e-9).rounded(.down), 0), nearest)
        let last = max(min((covered.upperBound - 1e-9).rounded(.up), Double(axis.sourceCount)) - 1, nearest)
        runs.append((Int32(first), Int32(last)))
        continue
      }
      let first = max(0, (center - support - 0.5).rounded(.up))
      let last = min(Double(axis.sourceCount - 1), (center + support - 0.5).rounded(.down))
      runs.append((Int32(min(first, nearest)), Int32(max(last, nearest))))
    }
    var starts = runs.map(\.first)
    for i in starts.indices.dropLast().reversed() { starts[i] = min(starts[i], starts[i + 1]) }
    let taps = zip(starts, runs).reduce(1) { max($0, Int($1.1.last - $1.0) + 1) }
    let latest = Int32(axis.sourceCount - taps)
    for i in starts.indices { starts[i] = min(starts[i], latest) }
    self.axis = axis
    self.scale = scale
    self.runs = runs
    self.starts = starts
    self.taps = taps
  }

  /// What the weights of an axis take while they are made, in bytes, at most: in single precision, or as 16 bits and once more
  /// in pairs, starts and runs beside.
  static func mostBytes(_ axis: ResamplingAxis) -> Int { axis.count * (axis.mostTaps * 4 + 24) }

  /// The weights in single precision.
  func floatingPoint() -> [Float] {
    var result = [Float](repeating: 0, count: starts.count * taps)
    forEachRun { offset, weights in
      for (k, weight) in weights.enumerated() { result[offset + k] = Float(weight) }
    }
    return result
  }

  /// The weights in single precision for sums, in place of means, of the boxes of `axis`.
  func floatingPoint(perSampleOf axis: ResamplingAxis) -> [Float] {
    var result = floatingPoint()
    let factor = axis.boxFactor
    if factor == 1 { return result }
    for i in starts.indices {
      for k in 0..<taps {
        let first = (Int(starts[i]) + k) * factor
        result[i * taps + k] /= Float(min(factor, axis.sourceCount - first))
      }
    }
    return result
  }

  /// The weights times `factor`, in fixed point of `bits` bits of fraction. Each output sample's sum is exact: what rounding
  /// leaves over goes to its largest weight.
  func fixedPoint(bits: Int, times factor: Double) -> [Int16] {
    let one = Double(1 << bits) * factor
    let whole = Int(one.rounded())
    var result = [Int16](repeating: 0, count: starts.count * taps)
    forEachRun { offset, weights in
      var rest = whole
      var largest = 0
      for (k, weight) in weights.enumerated() {
        let fixed = Int((weight * one).rounded())
        result[offset + k] = Int16(fixed)
        rest -= fixed
        if weight > weights[largest] { largest = k }
      }
      result[offset + largest] += Int16(rest)
    }
    return result
  }

  /// Weights of this axis for a filter that takes source samples two at a time: from an even one on, and an even number of
  /// them, which may reach beyond the last sample.
  func pairs<Weight: FixedWidthInteger>(_ weights: [Weight]) -> (starts: [Int32], taps: Int, weights: [Weight]) {
    let hasOdd = starts.contains { $0 & 1 == 1 }
    let paired = (taps + (hasOdd ? 1 : 0) + 1) & ~1
    var result = [Weight](repeating: 0, count: starts.count * paired)
    for i in starts.indices {
      let first = i * paired + Int(starts[i] & 1)
      for k in 0..<taps { result[first + k] = weights[i * taps + k] }
    }
    return (starts.map { $0 & ~1 }, paired, result)
  }

  /// The last source sample that has a weight, of each output sample.
  var lasts: [Int32] { runs.map(\.last) }

  /// Gives the weights of each output sample, and where they belong among all weights.
  private func forEachRun(_ body: (_ offset: Int, _ weights: UnsafeBufferPointer<Double>) -> Void) {
    withUnsafeTemporaryAllocation(of: Double.self, capacity: taps) { memory in
      for i in runs.indices {
        let run = runs[i]
        let weights = UnsafeMutableBufferPointer(rebasing: memory[0...Int(run.last - run.first)])
        let center = axis.center(of: i)
        if axis.kernel == .box {
          fillCovered(weights, run.first, axis.covered(by: i))
        } else {
          axis.kernel.fill(weights, from: (Double(run.first) + 0.5 - center) / scale, step: 1 / scale)
          if axis.lastWidth < 1, Int(run.last) == axis.sourceCount - 1 {
            // It covers less than the others: it lies nearer to them and counts for less.
            let last = UnsafeMutableBufferPointer(rebasing: weights.suffix(1))
            axis.kernel.fill(last, from: (Double(run.last) + axis.lastWidth / 2 - center) / scale, step: 1)
            last[0] *= axis.lastWidth
          }
        }
        let sum = weights.reduce(0, +)
        for k in weights.indices { weights[k] /= sum }
        body(i * taps + Int(run.first - starts[i]), UnsafeBufferPointer(weights))
      }
    }
  }

  /// The part of each sample that lies in `covered`; where that holds none, because it lies beyond the ends, all of one.
  private func fillCovered(
    _ weights: UnsafeMutableBufferPointer<Double>, _ first: Int32, _ covered: Range<Double>
  ) {
    if weights.count == 1 {
      weights[0] = 1
      return
    }
    for k in weights.indices {
      let start = Double(Int(first) + k)
      weights[k] = max(0, min(covered.upperBound, start + 1) - max(covered.lowerBound, start))
    }
  }
}
