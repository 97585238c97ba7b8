import Budget
import CPictures
import Codecs
import Foundation
import Metadata
import Raster
import TestPictures
import Testing

@testable import Codecs
@testable import Downsample

private let mb = 1 << 20

/// Strategies as a codec would give them, with numbers made up.
private struct Strategies: DecodingPlanner {
  var make: @Sendable (PixelSize) -> [DecodingStrategy]

  func strategies(target: PixelSize, threads: Int, isLinear: Bool) -> [DecodingStrategy] { make(target) }
}

@Suite struct PlanTests {
  private static let size = PixelSize(width: 4000, height: 3000)

  private static func strategy(
    _ name: String, held: Int, passing: Int = 0, spillable: DecodingStrategy.Spillable? = nil, warning: String? = nil
  ) -> DecodingStrategy {
    let plane = PlaneLayout(width: size.width, height: size.height, channels: 3, sampleType: .uint8, maximum: 255)
    return DecodingStrategy(
      name: name,
      layout: DecodedLayout(
        color: .rgb, alpha: .none,
        planes: [.init(layout: plane, box: SourceBox(x: 0, y: 0, width: 4000, height: 3000))]),
      held: [MemoryUse("frame", held)], passing: passing > 0 ? [MemoryUse("decoder", passing)] : [],
      spillable: spillable, warning: warning)
  }

  private func plan(
    _ strategies: @escaping @Sendable (PixelSize) -> [DecodingStrategy], available: Int, max: Int? = 1000,
    overBudget: Request.OverBudget? = nil, canSpill: Bool = true, ceiling: Int = 1000 * mb,
    threads: Int = 2
  ) -> Plan {
    Planner(
      header: ImageHeader(
        kind: "TEST", codedSize: Self.size, depth: 8, colorModel: .rgb, arrangement: .sequential),
      decoding: Strategies(make: strategies),
      request: Request(maxPixelSize: max, threads: threads, memory: .init(ceiling: ceiling), overBudget: overBudget),
      metadata: [ImageMetadata()],
      memory: .init(
        resident: 10 * mb, available: available, ceiling: ceiling,
        isLimitedByCeiling: ceiling - 10 * mb == available, canSpill: { canSpill })
    ).plan()
  }

  @Test func takesTheFirstWayThatFits() {
    let ways: @Sendable (PixelSize) -> [DecodingStrategy] = { _ in
      [Self.strategy("two", held: 50 * mb), Self.strategy("one", held: 30 * mb, warning: "worse")]
    }
    let ample = plan(ways, available: 100 * mb)
    #expect(ample.fits && ample.strategy == "two" && ample.warnings.isEmpty && ample.ladder.count == 1)
    #expect(ample.stages.contains { $0.name == "frame" && $0.bytes == 50 * mb && $0.phase == .throughout })
    let scarce = plan(ways, available: 45 * mb)
    #expect(scarce.fits && scarce.strategy == "one" && scarce.warnings == ["worse"])
    #expect(scarce.ladder.map(\.fits) == [false, true])
    // The limit itself: just enough, and a byte less.
    let needed = scarce.predictedPeakBytes - scarce.residentBytes
    #expect(plan(ways, available: needed).fits)
    #expect(!plan(ways, available: needed - 1).fits)
  }

  /// What can be overlapped is, where there is room and another thread is allowed.
  @Test func overlapsWhereThereIsRoom() {
    let ways: @Sendable (PixelSize) -> [DecodingStrategy] = { _ in
      var strategy = Self.strategy("rows", held: 30 * mb)
      strategy.isStreamed = true
      return [strategy]
    }
    let ample = plan(ways, available: 100 * mb)
    #expect(ample.overlaps && ample.threads == 2 && ample.ladder.count == 1)
    #expect(ample.stages.contains { $0.name == "decoding ahead" })
    let scarce = plan(ways, available: ample.addedBytes - 1)
    #expect(scarce.fits && !scarce.overlaps && scarce.threads == 1)
    #expect(scarce.ladder.map(\.threads) == [2, 1] && scarce.ladder.map(\.fits) == [false, true])
    #expect(scarce.addedBytes < ample.addedBytes)
    #expect(!plan(ways, available: 100 * mb, threads: 1).overlaps)
    #expect(!plan({ _ in [Self.strategy("whole", held: 30 * mb)] }, available: 100 * mb).overlaps)
  }

  @Test func peakIsThatOfTheLargerPhase() {
    func peak(held: Int, passing: Int) -> Int {
      plan({ _ in [Self.strategy("a", held: held, passing: passing)] }, available: 500 * mb).predictedPeakBytes
    }
    let rows = peak(held: 0, passing: 0)
    #expect(peak(held: 7 * mb, passing: 0) == rows + 7 * mb)
    #expect(peak(held: 0, passing: 1) == rows)
    let decoding = peak(held: 7 * mb, passing: 300 * mb)
    #expect(decoding > 317 * mb && decoding < 317 * mb + Planner.codeBytes + mb)
  }

  @Test func refusalSaysWhatWouldFit() {
    let ways: @Sendable (PixelSize) -> [DecodingStrategy] = { target in
      [Self.strategy("a", held: target.width * 60 << 10)]
    }
    let plan = self.plan(ways, available: 40 * mb, ceiling: 50 * mb)
    #expect(!plan.fits)
    let side = plan.largestFittingSize ?? 0
    #expect(side > 300 && side < 700)
    #expect(self.plan(ways, available: 40 * mb, max: side).fits)
    #expect(self.plan(ways, available: 40 * mb - Planner.residentNoise, max: side).fits)
    #expect(!self.plan(ways, available: 40 * mb - Planner.residentNoise, max: side + 1).fits)
    #expect(plan.verdict.contains("has 50 MB") && plan.verdict.contains("--max \(side) would fit"))
    #expect(plan.verdict.contains("--memory \(ByteCount.megabytes(plan.predictedPeakBytes + Planner.residentNoise))MB"))
    #expect(plan.verdict.contains("frame"))
    // Where the machine is what limits, a higher ceiling would not help.
    #expect(!self.plan(ways, available: 40 * mb).verdict.contains("--memory"))
    #expect(self.plan({ _ in [Self.strategy("a", held: 80 * mb)] }, available: 40 * mb).largestFittingSize == nil)

    let shrunk = self.plan(ways, available: 40 * mb, overBudget: .shrink)
    #expect(shrunk.fits && shrunk.outputSize.longEdge == side && shrunk.warnings.count == 1)
  }

  @Test func automaticSize() {
    func side(_ available: Int) -> Int {
      self.plan({ _ in [Self.strategy("a", held: 0)] }, available: available, max: nil).outputSize.longEdge
    }
    #expect([30 * mb - 1, 30 * mb, 80 * mb - 1, 80 * mb].map(side) == [512, 1024, 1024, 2048])
    // With an automatic size, what does not fit is shrunk.
    let plan = self.plan(
      { target in [Self.strategy("a", held: target.width * 60 << 10)] }, available: 20 * mb, max: nil)
    #expect(plan.fits && plan.outputSize.longEdge < 512)
  }

  @Test func spillsWhatDoesNotFit() {
    let ways: @Sendable (PixelSize) -> [DecodingStrategy] = { _ in
      [
        Self.strategy(
          "store", held: mb, spillable: .init(name: "coefficients", wanted: 60 * mb, least: 4 * mb))
      ]
    }
    let ample = plan(ways, available: 100 * mb)
    #expect(ample.spilledBytes == 0 && ample.decoding.spillable?.share == 60 * mb)
    let scarce = plan(ways, available: 30 * mb)
    #expect(scarce.fits && scarce.predictedPeakBytes == 40 * mb)
    #expect(scarce.spilledBytes == 60 * mb - scarce.decoding.spillable!.share)
    #expect(scarce.ladder.map(\.spilledBytes) == [0, scarce.spilledBytes])
    #expect(!plan(ways, available: 5 * mb).fits)
    #expect(!plan(ways, available: 30 * mb, canSpill: false).fits)
  }

  @Test func sizesThatCannotBeCounted() {
    let plan = self.plan(
      { _ in [Self.strategy("a", held: .max - 5, spillable: .init(name: "b", wanted: .max, least: .max))] },
      available: 100 * mb)
    #expect(!plan.fits && plan.predictedPeakBytes > 1 << 60)
    #expect(plan.largestFittingSize == nil)
  }

  /// A plan needs no decoder, and the run keeps to it.
  @Test func refusedBeforeDecoding() throws {
    let picture = Picture(CPIC_PHOTO, 400, 300).jpeg()
    var request = Request(maxPixelSize: 300, memory: MemoryBudget(ceiling: 1 << 20))
    // A destination that was opened would be the error.
    let error = #expect(throws: DownsampleError.self) {
      try Downsampler.run(.bytes(picture), request: request, to: .path("/no/such/folder/out"))
    }
    #expect(error?.code == .overBudget)
    request.memory = .ample
    let (header, plan) = try Downsampler.plan(MemorySource(picture), request: request)
    #expect(plan.fits && header.size == PixelSize(width: 400, height: 300))
    #expect(plan.outputSize == PixelSize(width: 300, height: 225))
    #expect(plan.addedBytes == plan.stages.filter { $0.phase != .beforeRows }.reduce(0) { $0 + $1.bytes })
    #expect(plan.predictedPeakBytes >= plan.residentBytes + plan.addedBytes)
  }

  @Test func ledgerIsWaitedFor() throws {
    let picture = Picture(CPIC_PHOTO, 400, 300).jpeg()
    let ledger = Ledger(capacity: 40 * mb)
    var request = Request(maxPixelSize: 300, memory: .ample, ledger: ledger, deadline: .milliseconds(80))
    do {
      let held = try ledger.reserve(39 * mb, for: "another")
      let error = #expect(throws: DownsampleError.self) { try makeBytes(MemorySource(picture), request: request) }
      #expect(error?.code == .deadlinePassed)
      held.release()
    }
    request.deadline = nil
    _ = try makeBytes(MemorySource(picture), request: request)
    #expect(ledger.reservedBytes == 0)
    request.ledger = Ledger(capacity: mb)
    let error = #expect(throws: DownsampleError.self) { try makeBytes(MemorySource(picture), request: request) }
    #expect(error?.code == .overBudget)
  }

  @Test func deadline() throws {
    let picture = Picture(CPIC_PHOTO, 1600, 1200).jpeg()
    let request = Request(maxPixelSize: 300, memory: .ample, deadline: .nanoseconds(1))
    let error = #expect(throws: DownsampleError.self) { try makeBytes(MemorySource(picture), request: request) }
    #expect(error?.code == .deadlinePassed)
    #expect(error?.message.contains("deadline") == true)
  }
}
