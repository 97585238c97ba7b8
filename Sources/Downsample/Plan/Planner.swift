import Budget
import Codecs
import Metadata
import Raster

/// Makes plans: a pure function of the header, the request and what memory there is.
struct Planner {
  let header: ImageHeader
  let decoding: any DecodingPlanner
  let request: Request
  /// As it goes into the output.
  let metadata: ImageMetadata
  let memory: MemoryState

  /// What memory there is, in bytes, when a plan is made.
  struct MemoryState {
    /// Of the process.
    var resident: Int
    /// The most that was so far.
    var peak = 0
    /// What may be taken beside that.
    var available: Int
    var ceiling: Int
    /// Whether a higher ceiling would leave more.
    var isLimitedByCeiling: Bool
    /// Whether there is a folder for temporary files that is not itself in memory. Asked only where it matters.
    var canSpill: () -> Bool
  }

  /// The plan for the request's size; where nothing fits and the request says so, for the largest size that does.
  func plan() -> Plan {
    let wanted = request.maxPixelSize ?? Request.automaticSize(available: memory.available)
    let plan = self.plan(maxPixelSize: wanted)
    if plan.fits || request.overBudget == .refuse { return plan }
    guard let fitting = plan.largestFittingSize else { return plan }
    return self.plan(
      maxPixelSize: fitting,
      warnings: [
        "made \(fitting) pixels long: \(min(wanted, header.size.longEdge)) needs "
          + "\(ByteCount.describe(plan.predictedPeakBytes)), and there are \(ByteCount.describe(plan.limitBytes))"
          + (plan.enoughMemory.map { "; \($0) would do" } ?? "")
      ])
  }

  private func plan(maxPixelSize: Int, warnings: [String] = []) -> Plan {
    let (best, ladder) = choose(maxPixelSize)
    let fits = ladder.last!.fits
    return Plan(
      outputSize: best.outputSize, format: request.format, strategy: best.strategy.name, threads: best.threads,
      spilledBytes: best.spilled, stages: best.stages, residentBytes: memory.resident, addedBytes: best.added,
      predictedPeakBytes: peak(best), limitBytes: limit, availableBytes: memory.available, fits: fits,
      ladder: ladder, largestFittingSize: fits ? nil : largestFitting(below: maxPixelSize),
      warnings: warnings + [best.strategy.warning].compactMap { $0 } + best.warnings, decoding: best.strategy,
      overlaps: best.overlaps, isLimitedByCeiling: memory.isLimitedByCeiling)
  }

  private func peak(_ candidate: Candidate) -> Int { max(memory.peak, memory.resident + candidate.added) }

  private var limit: Int { min(memory.ceiling, memory.resident + memory.available) }

  /// One way to make the picture, with what it adds to the resident memory.
  private struct Candidate {
    var strategy: DecodingStrategy
    /// Decoding has a thread of its own.
    var overlaps: Bool
    var outputSize: PixelSize
    var stages: [Plan.Stage]
    var added: Int
    var spilled: Int
    /// Of its pipeline.
    var warnings: [String]

    var threads: Int { strategy.threads + (overlaps ? 1 : 0) }
  }

  /// The first way of the ladder that fits, or the one that needs least; and what was considered.
  private func choose(_ maxPixelSize: Int) -> (Candidate, [Plan.Rung]) {
    var ladder: [Plan.Rung] = []
    var least: Candidate?
    let fitting = firstCandidate(maxPixelSize) { candidate in
      let fits = candidate.added <= memory.available
      ladder.append(
        Plan.Rung(
          strategy: candidate.strategy.name, threads: candidate.threads, spilledBytes: candidate.spilled,
          predictedPeakBytes: peak(candidate), fits: fits))
      if least.map({ candidate.added < $0.added }) ?? true { least = candidate }
      return fits
    }
    return (fitting ?? least!, ladder)
  }

  /// The first that is accepted, in this order: fewer threads, spilling, a stronger pre-shrink.
  private func firstCandidate(_ maxPixelSize: Int, where accepts: (Candidate) -> Bool) -> Candidate? {
    let target = header.size.fitted(to: maxPixelSize).oriented(by: header.orientation)
    for strategy in decoding.strategies(target: target, threads: request.threads, isLinear: request.isLinear) {
      if gainsByOverlap(strategy) {
        let overlapped = candidate(strategy, maxPixelSize, overlaps: true)
        if accepts(overlapped) { return overlapped }
      }
      let whole = candidate(strategy, maxPixelSize)
      if accepts(whole) { return whole }
      guard let spillable = strategy.spillable, whole.added > memory.available, memory.canSpill() else { continue }
      // What is left for it beside everything else.
      var spilling = strategy
      spilling.spillable!.share = min(
        spillable.wanted, max(spillable.least, memory.available - (whole.added - spillable.wanted)))
      let spilled = candidate(spilling, maxPixelSize)
      if accepts(spilled) { return spilled }
    }
    return nil
  }

  /// Below this, in decoded samples, starting a thread costs about what it gains (docs/performance.md).
  private static let leastOverlapped = 1 << 20

  private func gainsByOverlap(_ strategy: DecodingStrategy) -> Bool {
    guard strategy.isStreamed && request.threads > strategy.threads else { return false }
    return strategy.layout.planes.reduce(0) { $0 + $1.layout.samplesPerRow * $1.layout.height } >= Self.leastOverlapped
  }

  private func candidate(_ strategy: DecodingStrategy, _ maxPixelSize: Int, overlaps: Bool = false) -> Candidate {
    let pipeline = Pipeline(
      header: header, decoded: strategy.layout, maxPixelSize: maxPixelSize, request: request)
    var stages = [Plan.Stage(name: "code and tables", bytes: Self.codeBytes, phase: .throughout)]
    func add(_ uses: [MemoryUse], _ phase: Plan.Phase) {
      stages += uses.filter { $0.bytes > 0 }.map { Plan.Stage(name: $0.name, bytes: $0.bytes, phase: phase) }
    }
    add(strategy.held, .throughout)
    if let spillable = strategy.spillable { add([MemoryUse(spillable.name, spillable.share)], .throughout) }
    if overlaps {
      add([MemoryUse("decoding ahead", RowRelay.byteCount(planes: strategy.layout.planes.map(\.layout)))], .throughout)
    }
    add(strategy.passing, .beforeRows)
    add(pipeline.memory, .rows)
    let settings = request.encoderSettings(for: pipeline, metadata: metadata)
    add(CodecRegistry.encoderMemory(for: request.format, layout: pipeline.encoded, settings: settings), .rows)

    func total(_ phase: Plan.Phase) -> Int {
      stages.filter { $0.phase == phase }.map { MemoryUse("", $0.bytes) }.totalBytes
    }
    let (added, isTooMuch) = total(.throughout).addingReportingOverflow(max(total(.beforeRows), total(.rows)))
    return Candidate(
      strategy: strategy, overlaps: overlaps, outputSize: pipeline.encoded.size, stages: stages,
      // Half of what can be counted is more than any machine has, and leaves room for sums.
      added: isTooMuch ? .max / 2 : min(added, .max / 2),
      spilled: strategy.spillable.map { $0.wanted - $0.share } ?? 0, warnings: pipeline.warnings)
  }

  /// Pages of the program, of the C library and of libjpeg and libpng that are touched only once decoding has begun, and
  /// the allocator's rounding. See docs/memory-model.md.
  static let codeBytes = 5632 << 10

  /// What two runs that do the same may differ by when they plan.
  static let residentNoise = 512 << 10

  /// The longest side for which some way fits, by bisection: what a plan needs hardly ever grows as the output shrinks, and
  /// what is found is known to fit.
  private func largestFitting(below maxPixelSize: Int) -> Int? {
    // What is resident differs from run to run: the next one should fit too.
    let available = memory.available - Self.residentNoise
    func fits(_ side: Int) -> Bool { firstCandidate(side) { $0.added <= available } != nil }
    var low = 0
    var high = min(maxPixelSize, header.size.longEdge)
    while high - low > 1 {
      let middle = (low + high) / 2
      if fits(middle) { low = middle } else { high = middle }
    }
    return low > 0 ? low : nil
  }
}
