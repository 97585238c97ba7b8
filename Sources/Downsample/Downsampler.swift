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
  /// - Throws: `.noInput`, `.damagedData`, `.unsupported`, `.inputOutput`, `.overBudget`.
  public static func probe(
    _ source: ImageSource, memory: MemoryBudget = MemoryBudget()
  ) throws(DownsampleError) -> ImageHeader {
    try probe(try source.open(), memory: memory)
  }

  /// How the pictures would be made, and whether that fits. Nothing is decoded.
  ///
  /// - Parameter destinations: where they would go: what is collected in memory is planned too. Empty: into files.
  /// - Throws: as `probe`, and `.usage` for a request out of range.
  public static func plan(
    _ source: ImageSource, request: Request = Request(), to destinations: [ImageDestination] = []
  ) throws(DownsampleError) -> (header: ImageHeader, plan: Plan) {
    try plan(try source.open(), request: request, to: destinations)
  }

  /// Makes one picture, and blocks until it is done.
  ///
  /// - Parameters:
  ///   - source: the large picture.
  ///   - request: with one rendition.
  ///   - destination: opened only when the input's header has been found good and the plan fits, before anything is decoded.
  ///   - cancellation: ends the work with `.cancelled` from another thread.
  ///   - progress: told of every hundredth part or so, on the thread that does the work.
  /// - Returns: what was found, what was done and what it took.
  /// - Throws: `.usage` for a request out of range, `.overBudget` when no plan fits (before anything is decoded),
  ///   `.deadlinePassed`, `.cancelled`, `.noInput`, `.damagedData`, `.unsupported`, `.inputOutput`, `.cannotCreate`. Nothing is left
  ///   behind where the destination can be undone.
  @discardableResult
  public static func run(
    _ source: ImageSource, request: Request = Request(), to destination: ImageDestination,
    cancellation: Cancellation? = nil, progress: (@Sendable (RowProgress) -> Void)? = nil
  ) throws(DownsampleError) -> Report {
    try run(source, request: request, to: [destination], cancellation: cancellation, progress: progress)
  }

  /// Makes several pictures out of one decode, and blocks until they are done. They are planned together: what all of them hold at
  /// once is what has to fit.
  ///
  /// - Parameter destinations: one for each of the request's renditions, in their order. Files appear one after another once all
  ///   are whole: where one cannot be given its name, those before it stand.
  /// - Throws: as for one; `.usage` too where there are more or fewer destinations than renditions.
  @discardableResult
  public static func run(
    _ source: ImageSource, request: Request, to destinations: [ImageDestination],
    cancellation: Cancellation? = nil, progress: (@Sendable (RowProgress) -> Void)? = nil
  ) throws(DownsampleError) -> Report {
    let interruption = Interruption(deadline: request.deadline, cancellation: cancellation)
    try interruption.check()
    return try run(
      try source.open(), request: request, to: destinations, interruption: interruption, progress: progress)
  }

  /// Makes one picture and gives the encoded file.
  ///
  /// - Throws: as `run`.
  public static func bytes(
    of source: ImageSource, request: Request = Request(), cancellation: Cancellation? = nil
  ) throws(DownsampleError) -> [UInt8] {
    let collector = EncodedBytes()
    try run(source, request: request, to: .bytes(collector), cancellation: cancellation)
    return collector.array
  }

  // MARK: Opened sources

  static func probe(
    _ source: ByteSource, memory: MemoryBudget = MemoryBudget()
  ) throws(DownsampleError) -> ImageHeader {
    var header = try CodecRegistry.decoder(for: source, options: ReadingOptions(available: memory.available)).header
    header.fileByteCount = source.byteCount
    return header
  }

  static func plan(
    _ source: ByteSource, request: Request, to destinations: [ImageDestination] = []
  ) throws(DownsampleError) -> (header: ImageHeader, plan: Plan) {
    try request.validate()
    if !destinations.isEmpty { try check(destinations, request) }
    let decoder = try CodecRegistry.decoder(for: source, options: request.readingOptions(available: openable(request)))
    try refuseUnsupported(decoder.header)
    let metadata = try outputMetadata(decoder, request)
    var header = decoder.header
    header.fileByteCount = source.byteCount
    return (header, makePlan(decoder, request, metadata, source, collects: destinations.map(\.collects)))
  }

  static func run(
    _ source: ByteSource, request: Request, to destinations: [ImageDestination],
    interruption: Interruption, progress: ((RowProgress) -> Void)? = nil
  ) throws(DownsampleError) -> Report {
    try request.validate()
    try check(destinations, request)
    let source = interruption.isNever ? source : InterruptibleSource(source, interruption: interruption)
    var times = Report.Times()
    let total = Stopwatch()
    let decoder = try CodecRegistry.decoder(for: source, options: request.readingOptions(available: openable(request)))
    try refuseUnsupported(decoder.header)
    var metadata = try outputMetadata(decoder, request)
    times.header = total.elapsed

    let plan = makePlan(decoder, request, metadata, source, collects: destinations.map(\.collects))
    guard plan.fits else { throw DownsampleError(.overBudget, plan.verdict) }
    let reservation = try reserve(plan, request, interruption)
    defer { reservation?.release() }
    var outputs: [OpenDestination] = []
    for destination in destinations { outputs.append(try destination.open(interruption)) }

    var watch = Stopwatch()
    let resources = DecodingResources(
      openTemporaryFile: { () throws(DownsampleError) in try TemporaryFile.openDescriptor() },
      mayGoOn: { () throws(DownsampleError) in try interruption.check() })
    let decoded = try decoder.begin(plan.decoding, resources: resources)
    times.decode += watch.lap()
    // Some files tell their colour only in the picture itself.
    var header = decoder.header
    header.fileByteCount = source.byteCount
    try refuseUnsupported(header)

    var productions: [Production] = []
    for (index, rendition) in request.renditions.enumerated() {
      productions.append(
        try Production(
          rendition, maxPixelSize: plan.outputs[index].maxPixelSize, header: header, decoded: decoded,
          metadata: &metadata[index], output: outputs[index], interruption: interruption))
    }
    var entry = productions.count == 1 ? productions[0].entry : FanOutSink(productions.map(\.entry))
    if let progress { entry = ProgressSink(decoded, tell: progress, next: entry) }
    let timed = TimedSink(entry)
    let decode = { (sink: RowSink) throws(DownsampleError) in
      var watch = Stopwatch()
      while let band = try decoder.nextBand() {
        try interruption.check()
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
    times.encode = productions.reduce(0) { $0 + $1.encodingTime }
    times.resample += timed.elapsed - times.encode
    try interruption.check()
    for production in productions { try production.commit() }
    times.commit = watch.lap()
    times.total = total.elapsed

    return Report(
      input: .init(header: header),
      outputs: productions.map { $0.report(isSalvaged: decoder.isSalvaged) },
      plan: plan, peakResidentBytes: Footprint.peakResidentBytes, times: times,
      warnings: unique(
        header.notes + metadata.flatMap(\.warnings) + plan.warnings + decoder.warnings
          + productions.flatMap(\.warnings) + hiddenMemoryWarnings(source)))
  }

  private static func check(_ destinations: [ImageDestination], _ request: Request) throws(DownsampleError) {
    guard destinations.count == request.renditions.count else {
      throw DownsampleError(
        .usage, "\(destinations.count) destinations for \(request.renditions.count) renditions: each takes one")
    }
    for (destination, rendition) in zip(destinations, request.renditions)
    where destination.takesPixels != (rendition.pixelFormat != nil) {
      throw DownsampleError(
        .usage,
        destination.takesPixels
          ? "a destination of rows needs a rendition with a pixelFormat"
          : "a rendition with a pixelFormat needs a destination of rows")
    }
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

  /// What of the input's metadata goes into each output. Made before the plan, which then counts what it takes as resident.
  private static func outputMetadata(
    _ decoder: ImageDecoder, _ request: Request
  ) throws(DownsampleError) -> [OutputMetadata] {
    let isKept = request.renditions.contains { $0.keptMetadata != .none }
    let read = isKept ? try decoder.takeMetadata() : ImageMetadata()
    var made: [OutputMetadata] = []
    for (index, rendition) in request.renditions.enumerated() {
      // Those that want the same share one copy, until each is told its size.
      if let same = request.renditions[..<index].firstIndex(where: { $0.wantsSameMetadata(as: rendition) }) {
        made.append(made[same])
        continue
      }
      made.append(
        OutputMetadata(
          read, choice: rendition.keptMetadata, stripsGPS: rendition.stripsGPS,
          orientation: decoder.header.orientation, isTurned: rendition.appliesOrientation))
    }
    return made
  }

  private static func makePlan(
    _ decoder: ImageDecoder, _ request: Request, _ metadata: [OutputMetadata], _ source: ByteSource, collects: [Bool]
  ) -> Plan {
    Allocator.trim()
    let state = request.memory.state
    // Others that run at once are in what is resident: a shared ledger counts them, and knows what there is in all.
    let available = request.ledger?.capacity ?? max(0, state.available - source.temporaryBytesInMemory)
    return Planner(
      header: decoder.header, decoding: decoder.planner, request: request, metadata: metadata.map(\.metadata),
      collects: collects,
      memory: .init(
        resident: state.resident, peak: state.peak, available: available, ceiling: request.memory.ceiling,
        isLimitedByCeiling: state.isLimitedByCeiling && request.ledger == nil,
        canSpill: { TemporaryFile.isOnDisk })
    ).plan()
  }

  /// Waits until the ledger has the plan's bytes.
  private static func reserve(
    _ plan: Plan, _ request: Request, _ interruption: Interruption
  ) throws(DownsampleError) -> Ledger.Reservation? {
    guard let ledger = request.ledger else { return nil }
    do throws(Ledger.Refusal) {
      return try ledger.reserve(
        plan.addedBytes, for: "picture of \(plan.outputSize)", timeout: interruption.remaining,
        isCancelled: { interruption.isCancelled })
    } catch .exceedsCapacity(let capacity) {
      throw DownsampleError(
        .overBudget,
        "needs \(ByteCount.describe(plan.addedBytes)), the ledger has \(ByteCount.describe(capacity)) in all"
      )
    } catch .cancelled {
      throw Interruption.cancelled
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
