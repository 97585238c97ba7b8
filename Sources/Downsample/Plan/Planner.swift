import Budget
import Codecs
import Metadata
import Raster

/// Makes plans: a pure function of the header, the request and what memory there is.
struct Planner {
  let header: ImageHeader
  let decoding: any DecodingPlanner
  let request: Request
  /// As they go into the outputs, of each rendition.
  let metadata: [ImageMetadata]
  /// Of which of the renditions the whole result is kept in memory; empty for none.
  var collects: [Bool] = []
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

  /// The plan for the request's sizes; where nothing fits and the request says so, for the largest that do.
  func plan() -> Plan {
    let plan = self.plan(maxPixelSize: .max)
    if plan.fits || request.overBudget == .refuse { return plan }
    guard let fitting = plan.largestFittingSize else { return plan }
    return self.plan(
      maxPixelSize: fitting,
      warnings: [
        "made \(fitting) pixels long: \(largestWanted) needs "
          + "\(ByteCount.describe(plan.predictedPeakBytes)), and there are \(ByteCount.describe(plan.limitBytes))"
          + (plan.enoughMemory.map { "; \($0) would do" } ?? "")
      ])
  }

  /// - Parameter maxPixelSize: no rendition is made larger.
  private func plan(maxPixelSize: Int, warnings: [String] = []) -> Plan {
    let (best, ladder) = choose(maxPixelSize)
    let fits = ladder.last!.fits
    return Plan(
      outputs: zip(request.renditions, best.sizes).map { rendition, size in
        Plan.Output(
          size: size, format: rendition.pixelFormat == nil ? rendition.format : nil, pixelFormat: rendition.pixelFormat,
          maxPixelSize: min(self.size(of: rendition), maxPixelSize))
      },
      strategy: best.strategy.name, threads: best.threads,
      spilledBytes: best.spilled, stages: best.stages, residentBytes: memory.resident, addedBytes: best.added,
      predictedPeakBytes: peak(best), limitBytes: limit, availableBytes: memory.available, fits: fits,
      ladder: ladder, largestFittingSize: fits ? nil : largestFitting(below: min(maxPixelSize, largestWanted)),
      warnings: warnings + [best.strategy.warning].compactMap { $0 } + best.warnings, decoding: best.strategy,
      overlaps: best.overlaps, isLimitedByCeiling: memory.isLimitedByCeiling)
  }

  /// The longest side that is asked for, in pixels.
  private func size(of rendition: Rendition) -> Int {
    rendition.maxPixelSize ?? Rendition.automaticSize(available: memory.available)
  }

  /// The longest side that the largest rendition would have.
  private var largestWanted: Int { min(request.renditions.map(size).max() ?? 1, header.size.longEdge) }

  private func peak(_ candidate: Candidate) -> Int { max(memory.peak, memory.resident + candidate.added) }

  private var limit: Int {
    let (sum, isTooMuch) = memory.resident.addingReportingOverflow(memory.available)
    return isTooMuch ? memory.ceiling : min(memory.ceiling, sum)
  }

  /// One way to make the picture, with what it adds to the resident memory.
  private struct Candidate {
    var strategy: DecodingStrategy
    /// Decoding has a thread of its own.
    var overlaps: Bool
    /// Of the renditions.
    var sizes: [PixelSize]
    var stages: [Plan.Stage]
    var added: Int
    var spilled: Int
    /// Of its pipelines.
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
    // All have the picture's aspect: what the largest needs is enough for each.
    let target = header.size.fitted(to: min(largestWanted, maxPixelSize)).oriented(by: header.orientation)
    let isLinear = request.renditions.contains(where: \.isLinear)
    for strategy in decoding.strategies(target: target, threads: request.threads, isLinear: isLinear) {
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
    let pipelines = request.renditions.map {
      Pipeline(header: header, decoded: strategy.layout, maxPixelSize: min(size(of: $0), maxPixelSize), rendition: $0)
    }
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
    for (index, pipeline) in pipelines.enumerated() {
      let rendition = request.renditions[index]
      let settings = rendition.encoderSettings(for: pipeline, metadata: metadata[index])
      let suffix = pipelines.count == 1 ? "" : " (\(pipeline.encoded.size))"
      func add(_ uses: [MemoryUse]) {
        stages += uses.filter { $0.bytes > 0 }
          .map { Plan.Stage(name: $0.name + suffix, bytes: $0.bytes, phase: .rows) }
      }
      add(pipeline.memory)
      add(CodecRegistry.encoderMemory(for: rendition.kind, layout: pipeline.encoded, settings: settings))
      // The first one's is among what running takes at all.
      if index > 0, rendition.pixelFormat == nil { add([MemoryUse("output", WriteBuffer.byteCount)]) }
      if index < collects.count, collects[index] {
        add([
          MemoryUse(
            rendition.pixelFormat == nil ? "encoded bytes" : "pixels",
            EncodedBytes.mostBytes(rendition.kind, pipeline.encoded, settings))
        ])
      }
    }

    func total(_ phase: Plan.Phase) -> Int {
      stages.filter { $0.phase == phase }.map { MemoryUse("", $0.bytes) }.totalBytes
    }
    let (added, isTooMuch) = total(.throughout).addingReportingOverflow(max(total(.beforeRows), total(.rows)))
    return Candidate(
      strategy: strategy, overlaps: overlaps, sizes: pipelines.map(\.encoded.size), stages: stages,
      // Half of what can be counted is more than any machine has, and leaves room for sums.
      added: isTooMuch ? .max / 2 : min(added, .max / 2),
      spilled: strategy.spillable.map { $0.wanted - $0.share } ?? 0, warnings: pipelines.flatMap(\.warnings))
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
    var high = maxPixelSize
    while high - low > 1 {
      let middle = (low + high) / 2
      if fits(middle) { low = middle } else { high = middle }
    }
    return low > 0 ? low : nil
  }
}
