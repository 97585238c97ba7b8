import Budget
import Codecs
import Raster

/// Makes a small picture of a large one, without ever building the large one where its kind allows.
public enum Downsampler {
  /// What the input's header says. Nothing is decoded.
  ///
  /// - Throws: `.damagedData`, `.unsupported`, `.inputOutput`, and what the source throws.
  public static func probe(_ source: ByteSource) throws(DownsampleError) -> ImageHeader {
    try CodecRegistry.decoder(for: source).header
  }

  /// Makes the picture. The output's bytes go to the sink that `openOutput` gives; it is asked for one only when the input's
  /// header has been found good, and before anything is decoded.
  ///
  /// - Throws: `.usage` for a request out of range, `.damagedData`, `.unsupported`, `.inputOutput`, and what the source,
  ///   `openOutput` and `commit` throw.
  public static func run(
    _ source: ByteSource, request: Request, openOutput: () throws(DownsampleError) -> OutputFile
  ) throws(DownsampleError) -> Report {
    try request.validate()
    var times = Report.Times()
    let total = Stopwatch()
    let decoder = try CodecRegistry.decoder(for: source)
    try refuseUnsupported(decoder.header)
    times.header = total.elapsed
    let output = try openOutput()

    var watch = Stopwatch()
    let target = decoder.header.size.fitted(to: request.maxPixelSize).oriented(by: decoder.header.orientation)
    let strategy = decoder.planner.strategies(target: target, threads: request.threads)[0]
    let resources = DecodingResources { () throws(DownsampleError) in try TemporaryFile.openDescriptor() }
    let decoded = try decoder.begin(strategy, resources: resources)
    times.decode += watch.lap()
    // Some files tell their colour only in the picture itself.
    let header = decoder.header
    try refuseUnsupported(header)

    var pipeline = Pipeline(header: header, decoded: decoded, request: request)
    let late = LateSink()
    let stages = pipeline.stages(to: late)
    let encoder = try CodecRegistry.encoder(
      for: request.format, layout: pipeline.encoded,
      settings: EncoderSettings(quality: request.quality, iccProfile: pipeline.iccProfile), sink: output)
    late.sink = encoder
    times.resample += watch.lap()
    while let band = try decoder.nextBand() {
      times.decode += watch.lap()
      for (plane, rows) in band.planes.enumerated() {
        for y in 0..<rows.count { try stages.write(rows.samples + y * rows.stride, plane: plane) }
      }
      times.resample += watch.lap()
    }
    times.decode += watch.lap()
    try stages.finish()
    times.resample += watch.lap() - late.elapsed
    times.encode = late.elapsed
    try output.commit()
    times.commit = watch.lap()
    times.total = total.elapsed

    return Report(
      input: .init(header: header, byteCount: source.byteCount),
      output: .init(
        format: request.format, size: pipeline.encoded.size, byteCount: output.byteCount,
        depth: pipeline.encoded.sampleType.byteCount * 8, hasAlpha: pipeline.encoded.hasAlpha,
        hasICCProfile: encoder.hasICCProfile),
      strategy: strategy.name, peakResidentBytes: Footprint.peakResidentBytes, times: times,
      warnings: header.notes + pipeline.warnings + encoder.warnings + hiddenMemoryWarnings(source))
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
    guard let color = header.codedColor, color.isHighDynamicRange else { return }
    throw DownsampleError(
      .unsupported, "pictures in \(color.transfer == 16 ? "PQ" : "HLG") (high dynamic range) are not supported")
  }
}

/// Stands for the encoder while the stages before it are built, and times it.
private final class LateSink: RowSink {
  var sink: RowSink?
  private(set) var elapsed = 0

  func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
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
