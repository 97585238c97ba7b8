import Budget
import CJPEG
import Raster

/// JPEG by libjpeg-turbo: planes go in as they are, RGB is converted and subsampled by the library.
final class JPEGEncoder: ImageEncoder {
  let hasICCProfile: Bool
  let warnings: [String]
  private let handle: Handle
  private let bridge: SinkBridge

  private struct Handle: ~Copyable {
    let writer: OpaquePointer
    deinit { cjpeg_discard(writer) }
  }

  /// What encoding will hold: our block of output, libjpeg's tables, the rows that wait until a row of MCUs is complete, those
  /// by which luma is ahead of chroma among them, and libjpeg's own rows where it converts from RGB. Profile and metadata go
  /// from the settings to the file as they are.
  static func memory(layout: EncodedLayout, settings: EncoderSettings) -> [MemoryUse] {
    let width = (layout.size.width + 31) & ~15
    let rows =
      switch layout.color {
      case .ycbcr420: width * 2 * (mostRowsAhead + 16)
      case .rgb: width * 3 * 40
      case .gray: width * 24
      }
    let encoder = MemoryUse("JPEG encoder", rows + (96 << 10))
    guard keepsCoefficients(settings) else { return [encoder] }
    return [encoder, MemoryUse("JPEG encoder, coefficients", coefficientBytes(layout, settings) + (320 << 10))]
  }

  /// Several scans, or tables made for the picture: the whole of it has to be seen before the first byte is written.
  private static func keepsCoefficients(_ settings: EncoderSettings) -> Bool {
    settings.isProgressive || optimizes(settings)
  }

  private static func optimizes(_ settings: EncoderSettings) -> Bool {
    settings.effort >= EncoderSettings.leastOptimizingEffort
  }

  /// Two bytes for each coefficient of whole MCUs, as libjpeg holds them.
  private static func coefficientBytes(_ layout: EncodedLayout, _ settings: EncoderSettings) -> Int {
    let (h, v) = samplingFactors(layout, settings)
    let columns = (layout.size.width + 8 * h - 1) / (8 * h)
    let rows = (layout.size.height + 8 * v - 1) / (8 * v)
    return columns * rows * (h * v + (layout.color == .gray ? 0 : 2)) * 128
  }

  /// Of luma; chroma's are 1.
  private static func samplingFactors(_ layout: EncodedLayout, _ settings: EncoderSettings) -> (h: Int, v: Int) {
    if layout.color == .gray { return (1, 1) }
    return (settings.chroma == .full ? 1 : 2, settings.chroma == .quarter ? 2 : 1)
  }

  /// Rows by which a plane is ahead of another that the pipeline fills in step.
  private static let mostRowsAhead = 48

  init(layout: EncodedLayout, settings: EncoderSettings, sink: ByteSink) throws(DownsampleError) {
    guard layout.size.longEdge <= 65500 else {
      throw DownsampleError(.usage, "a JPEG can be 65500 pixels long at most, not \(layout.size.longEdge)")
    }
    bridge = SinkBridge(sink)
    var warnings: [String] = []
    /// What fits the file's segments, else nothing.
    func fitting(_ bytes: [UInt8], _ name: String, _ kind: cjpeg_kind) -> [UInt8] {
      let most = cjpeg_most_bytes(kind)
      if bytes.count <= most { return bytes }
      warnings.append("\(name) was left out: it has \(bytes.count) bytes, a JPEG holds \(most)")
      return []
    }
    let icc = fitting(settings.iccProfile, "the ICC profile", CJPEG_ICC)
    let exif = fitting(settings.metadata.exif, "EXIF", CJPEG_EXIF)
    let xmp = fitting(settings.metadata.xmp, "XMP", CJPEG_XMP)
    let iptc = fitting(settings.metadata.iptc, "IPTC", CJPEG_IPTC)
    self.warnings = warnings
    hasICCProfile = !icc.isEmpty
    var error = cjpeg_error()
    let callbacks = cjpeg_sink(context: bridge.context) { context, bytes, count in
      SinkBridge.from(context).write(bytes, count: count)
    }
    let (h, v) = Self.samplingFactors(layout, settings)
    let writer = Self.borrowing([exif, xmp, iptc, icc][...]) { parts in
      var description = cjpeg_settings(
        width: UInt32(layout.size.width), height: UInt32(layout.size.height), quality: Int32(settings.quality),
        color: layout.color == .gray ? CJPEG_GRAY : layout.color == .rgb ? CJPEG_RGB : CJPEG_YCBCR,
        h_samp: Int32(h), v_samp: Int32(v), progressive: settings.isProgressive, optimize: Self.optimizes(settings),
        exif: parts[0], xmp: parts[1], iptc: parts[2], icc: parts[3])
      return cjpeg_create(callbacks, &description, &error)
    }
    guard let writer else { throw Self.failure(error, bridge) }
    handle = Handle(writer: writer)
  }

  /// Gives pointers to all of them at once.
  private static func borrowing<T>(
    _ arrays: ArraySlice<[UInt8]>, _ parts: [cjpeg_bytes] = [], _ body: ([cjpeg_bytes]) -> T
  )
    -> T
  {
    guard let first = arrays.first else { return body(parts) }
    return first.withUnsafeBufferPointer {
      borrowing(arrays.dropFirst(), parts + [cjpeg_bytes(bytes: $0.baseAddress, count: $0.count)], body)
    }
  }

  func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    var error = cjpeg_error()
    guard
      cjpeg_write_row(handle.writer, Int32(plane), row.assumingMemoryBound(to: UInt8.self), &error) == CJPEG_OK
    else { throw Self.failure(error, bridge) }
  }

  func finish() throws(DownsampleError) {
    var error = cjpeg_error()
    guard cjpeg_finish(handle.writer, &error) == CJPEG_OK else { throw Self.failure(error, bridge) }
  }

  private static func failure(_ error: cjpeg_error, _ bridge: SinkBridge) -> DownsampleError {
    bridge.error ?? failure(error)
  }

  static func failure(_ error: cjpeg_error) -> DownsampleError {
    if error.status == CJPEG_NO_MEMORY {
      return DownsampleError(.overBudget, "there is not enough memory: encoding the JPEG: \(text(error.message))")
    }
    return DownsampleError(.internalFault, "encoding the JPEG failed: \(text(error.message))")
  }
}
