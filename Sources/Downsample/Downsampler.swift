import Budget
import Codecs
import Metadata
import Raster

/// Makes a small picture of a large one, without ever building the large one where its kind allows.
public enum Downsampler {
  /// Of this library and of the program.
  public static let version: StaticString = "0.1.0"

  /// What the input's header says. Nothing is decoded.
  ///
  /// - Parameter memory: what the process may hold, in all.
  /// - Throws: `.damagedData`, `.unsupported`, `.inputOutput`, `.overBudget`, and what the source throws.
  public static func probe(
    _ source: ByteSource, memory: MemoryBudget = MemoryBudget()
  ) throws(DownsampleError) -> ImageHeader {
    try CodecRegistry.decoder(for: source, options: ReadingOptions(available: memory.available)).header
  }

  /// How the picture would be made, and whether it fits. Nothing is decoded.
  ///
  /// - Throws: as `probe`, and `.usage` for a request out of range.
  public static func plan(
    _ source: ByteSource, request: Request
  ) throws(DownsampleError) -> (header: ImageHeader, plan: Plan) {
    try request.validate()
    let decoder = try CodecRegistry.decoder(for: source, options: request.readingOptions(available: openable(request)))
    try refuseUnsupported(decoder.header)
    let metadata = try outputMetadata(decoder, request)
    return (decoder.header, makePlan(decoder, request, metadata.metadata, source))
  }

  /// Makes the picture. The output's bytes go to the sink that `openOutput` gives; it is asked for one only when the input's
  /// header has been found good and the plan fits, and before anything is decoded.
  ///
  /// - Throws: `.usage` for a request out of range, `.overBudget` when no plan fits (before anything is decoded),
  ///   `.deadlinePassed`, `.damagedData`, `.unsupported`, `.inputOutput`, and what the source, `openOutput` and `commit` throw.
  public static func run(
    _ source: ByteSource, request: Request, openOutput: () throws(DownsampleError) -> OutputFile
  ) throws(DownsampleError) -> Report {
    try request.validate()
    let deadline = Deadline(request.deadline)
    let source = request.deadline == nil ? source : TimedSource(source, deadline: deadline)
    var times = Report.Times()
    let total = Stopwatch()
    let decoder = try CodecRegistry.decoder(for: source, options: request.readingOptions(available: openable(request)))
    try refuseUnsupported(decoder.header)
    var metadata = try outputMetadata(decoder, request)
    times.header = total.elapsed

    let plan = makePlan(decoder, request, metadata.metadata, source)
    guard plan.fits else { throw DownsampleError(.overBudget, plan.verdict) }
    let reservation = try reserve(plan, request, deadline)
    defer { reservation?.release() }
    let output = try openOutput()

    var watch = Stopwatch()
    let resources = DecodingResources(
      openTemporaryFile: { () throws(DownsampleError) in try TemporaryFile.openDescriptor() },
      mayGoOn: { () throws(DownsampleError) in try deadline.check() })
    let decoded = try decoder.begin(plan.decoding, resources: resources)
    times.decode += watch.lap()
    // Some files tell their colour only in the picture itself.
    let header = decoder.header
    try refuseUnsupported(header)

    var pipeline = Pipeline(
      header: header, decoded: decoded, maxPixelSize: plan.outputSize.longEdge, request: request)
    let late = LateSink(deadline: deadline)
    let stages = try pipeline.make(to: late)
    var settings = request.encoderSettings(for: pipeline, metadata: ImageMetadata())
    metadata.complete(size: pipeline.encoded.size, colorSpace: request.exifColorSpace(isSRGB: settings.isSRGB))
    settings.metadata = metadata.metadata
    let encoder = try CodecRegistry.encoder(
      for: request.format, layout: pipeline.encoded, settings: settings, sink: output)
    late.sink = encoder
    let timed = TimedSink(stages)
    let decode = { (sink: RowSink) throws(DownsampleError) in
      var watch = Stopwatch()
      while let band = try decoder.nextBand() {
        try deadline.check()
        times.decode += watch.lap()
        try band.forEachRow { row, plane throws(DownsampleError) in try sink.write(row, plane: plane) }
        _ = watch.lap()
      }
      times.decode += watch.lap()
    }
    times.resample += watch.lap()
    if plan.overlaps {
      try RowRelay.run(planes: decoded.planes.map(\.layout), decode: decode, to: timed)
    } else {
      try decode(timed)
    }
    try timed.finish()
    watch = Stopwatch()
    times.resample += timed.elapsed - late.elapsed
    times.encode = late.elapsed
    try deadline.check()
    try output.commit()
    times.commit = watch.lap()
    times.total = total.elapsed

    return Report(
      input: .init(header: header, byteCount: source.byteCount),
      output: .init(
        format: request.format, size: pipeline.encoded.size, byteCount: output.byteCount,
        depth: pipeline.encoded.sampleType.byteCount * 8, hasAlpha: pipeline.encoded.hasAlpha,
        hasICCProfile: encoder.hasICCProfile, isSRGB: pipeline.isSRGB && !encoder.hasICCProfile,
        isSalvaged: decoder.isSalvaged),
      plan: plan, peakResidentBytes: Footprint.peakResidentBytes, times: times,
      warnings: unique(
        header.notes + metadata.warnings + plan.warnings + decoder.warnings + pipeline.warnings + encoder.warnings
          + hiddenMemoryWarnings(source)))
  }

  /// The plan says before what its pipeline says again.
  private static func unique(_ warnings: [String]) -> [String] {
    var result: [String] = []
    for warning in warnings where !result.contains(warning) { result.append(warning) }
    return result
  }

  /// What reading the header may hold.
  private static func openable(_ request: Request) -> Int {
    min(request.memory.available, request.ledger?.capacity ?? .max)
  }

  /// What of the input's metadata goes into the output. Made before the plan, which then counts what it takes as resident.
  private static func outputMetadata(
    _ decoder: ImageDecoder, _ request: Request
  ) throws(DownsampleError) -> OutputMetadata {
    OutputMetadata(
      request.metadata == .none ? ImageMetadata() : try decoder.takeMetadata(), choice: request.metadata,
      stripsGPS: request.stripsGPS, orientation: decoder.header.orientation)
  }

  private static func makePlan(
    _ decoder: ImageDecoder, _ request: Request, _ metadata: ImageMetadata, _ source: ByteSource
  ) -> Plan {
    Allocator.trim()
    let state = request.memory.state
    // Others that run at once are in what is resident: a shared ledger counts them, and knows what there is in all.
    let available = request.ledger?.capacity ?? max(0, state.available - source.temporaryBytesInMemory)
    return Planner(
      header: decoder.header, decoding: decoder.planner, request: request, metadata: metadata,
      memory: .init(
        resident: state.resident, peak: state.peak, available: available, ceiling: request.memory.ceiling,
        isLimitedByCeiling: state.isLimitedByCeiling && request.ledger == nil,
        canSpill: { TemporaryFile.isOnDisk })
    ).plan()
  }

  /// Waits until the ledger has the plan's bytes.
  private static func reserve(
    _ plan: Plan, _ request: Request, _ deadline: Deadline
  ) throws(DownsampleError) -> Ledger.Reservation? {
    guard let ledger = request.ledger else { return nil }
    do throws(Ledger.Refusal) {
      return try ledger.reserve(
        plan.addedBytes, for: "picture of \(plan.outputSize)", timeout: deadline.remaining)
    } catch .exceedsCapacity(let capacity) {
      throw DownsampleError(
        .overBudget,
        "needs \(ByteCount.describe(plan.addedBytes)), the ledger has \(ByteCount.describe(capacity)) in all"
      )
    } catch {
      throw DownsampleError(.deadlinePassed, "the deadline passed while other pictures held the memory")
    }
  }

  /// What the resident set does not show.
  private static func hiddenMemoryWarnings(_ source: ByteSource) -> [String] {
    let bytes = source.temporaryBytesInMemory
    if bytes == 0 { return [] }
    return [
      "the input's \(bytes) bytes were kept in memory beside the peak: the folder for temporary files is on a tmpfs"
    ]
  }

  /// The longest side of an input, in pixels: libpng's own default limit. JPEG and HEIF cannot say more, or not much.
  public static let longestSide = 1_000_000

  private static func refuseUnsupported(_ header: ImageHeader) throws(DownsampleError) {
    guard header.codedSize.longEdge <= longestSide else {
      throw DownsampleError(
        .unsupported, "a picture of \(header.codedSize): sides above \(longestSide) are not supported")
    }
  }
}

extension DecodedBand {
  /// Gives the rows of all planes in step, so that whoever needs them together keeps few.
  fileprivate func forEachRow(
    _ body: (_ row: UnsafeRawPointer, _ plane: Int) throws(DownsampleError) -> Void
  ) throws(DownsampleError) {
    if planes.count == 1 {
      for y in 0..<planes[0].count { try body(planes[0].samples + y * planes[0].stride, 0) }
      return
    }
    let most = planes.map(\.count).max() ?? 0
    var given = planes.map { _ in 0 }
    for y in 0..<most {
      for plane in planes.indices {
        while given[plane] < planes[plane].count, given[plane] * most <= y * planes[plane].count {
          try body(planes[plane].samples + given[plane] * planes[plane].stride, plane)
          given[plane] += 1
        }
      }
    }
  }
}

/// Times the stages that follow, on whichever thread they run.
private final class TimedSink: RowSink {
  private let next: RowSink
  /// Nanoseconds.
  private(set) var elapsed = 0

  init(_ next: RowSink) { self.next = next }

  func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    let watch = Stopwatch()
    try next.write(row, plane: plane)
    elapsed += watch.elapsed
  }

  func finish() throws(DownsampleError) {
    let watch = Stopwatch()
    try next.finish()
    elapsed += watch.elapsed
  }
}

/// Stands for the encoder while the stages before it are built, times it, and asks for the deadline before each row.
private final class LateSink: RowSink {
  var sink: RowSink?
  private(set) var elapsed = 0
  private let deadline: Deadline

  init(deadline: Deadline) { self.deadline = deadline }

  func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    try deadline.check()
    let watch = Stopwatch()
    try sink?.write(row, plane: plane)
    elapsed += watch.elapsed
  }

  func finish() throws(DownsampleError) {
    let watch = Stopwatch()
    try sink?.finish()
    elapsed += watch.elapsed
  }
}
