import Budget
import Codecs
import Metadata
import Raster

/// One rendition being made: its stages, its encoder and its destination.
final class Production {
  /// The first of its stages.
  let entry: RowSink
  private let rendition: Rendition
  private let pipeline: Pipeline
  private let encoder: ImageEncoder
  private let output: OpenDestination
  private let late: LateSink

  /// - Parameter metadata: completed in place.
  /// - Throws: what making the stages and the encoder throws, and the caller's sink of pixels.
  init(
    _ rendition: Rendition, maxPixelSize: Int, header: ImageHeader, decoded: DecodedLayout,
    metadata: inout OutputMetadata, output: OpenDestination, interruption: Interruption
  ) throws(DownsampleError) {
    self.rendition = rendition
    self.output = output
    var pipeline = Pipeline(header: header, decoded: decoded, maxPixelSize: maxPixelSize, rendition: rendition)
    late = LateSink(interruption: interruption)
    entry = try pipeline.make(to: late)
    self.pipeline = pipeline
    var settings = rendition.encoderSettings(for: pipeline, metadata: ImageMetadata())
    switch output {
    case .file(let file):
      metadata.complete(
        size: pipeline.encoded.size, colorSpace: rendition.exifColorSpace(isSRGB: settings.isSRGB))
      settings.metadata = metadata.metadata
      encoder = try CodecRegistry.encoder(
        for: rendition.format, layout: pipeline.encoded, settings: settings, sink: file)
    case .rows(let sink):
      // Asked for together: see `Downsampler.run`.
      encoder = try CodecRegistry.encoder(
        for: rendition.pixelFormat!, layout: pipeline.encoded, settings: settings, sink: sink)
    }
    late.sink = encoder
  }

  /// Nanoseconds spent in the encoder.
  var encodingTime: Int { late.elapsed }

  var warnings: [String] { pipeline.warnings + encoder.warnings }

  func commit() throws(DownsampleError) {
    if case .file(let file) = output { try file.commit() }
  }

  func report(isSalvaged: Bool) -> Report.Output {
    let encoded = pipeline.encoded
    var byteCount = rendition.pixelFormat.map { $0.bytesPerPixel * encoded.size.width * encoded.size.height } ?? 0
    if case .file(let file) = output { byteCount = file.byteCount }
    return Report.Output(
      format: rendition.pixelFormat == nil ? rendition.format : nil, pixelFormat: rendition.pixelFormat,
      size: encoded.size, byteCount: byteCount, depth: encoded.sampleType.byteCount * 8,
      hasAlpha: encoded.hasAlpha, hasICCProfile: encoder.hasICCProfile,
      isSRGB: pipeline.isSRGB && !encoder.hasICCProfile, isSalvaged: isSalvaged)
  }
}

/// Gives each row to several.
final class FanOutSink: RowSink {
  private let sinks: [RowSink]

  init(_ sinks: [RowSink]) { self.sinks = sinks }

  func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    for sink in sinks { try sink.write(row, plane: plane) }
  }

  func finish() throws(DownsampleError) {
    for sink in sinks { try sink.finish() }
  }
}

/// Times the stages that follow, on whichever thread they run.
final class TimedSink: RowSink {
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

/// Stands for the encoder while the stages before it are built, times it, and asks before each row whether to go on.
private final class LateSink: RowSink {
  var sink: RowSink?
  private(set) var elapsed = 0
  private let interruption: Interruption

  init(interruption: Interruption) { self.interruption = interruption }

  func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    try interruption.check()
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
