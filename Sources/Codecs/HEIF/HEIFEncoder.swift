import Budget
import CHEIF
import Raster

/// HEIC by x265 and AVIF by libaom, through libheif: a grid of tiles, each row of them encoded as soon as its rows have
/// come; a small picture as one item.
final class HEIFEncoder: ImageEncoder {
  let hasICCProfile: Bool
  let warnings: [String]
  private let handle: Handle
  private let bridge: SinkBridge
  private let name: String

  /// The longest side of a tile, in pixels.
  static let tileSide = 512

  private struct Handle: ~Copyable {
    let writer: OpaquePointer
    deinit { cheif_writer_discard(writer) }
  }

  init(
    layout: EncodedLayout, settings: EncoderSettings, format: OutputFormat, sink: ByteSink
  ) throws(DownsampleError) {
    name = format == .heic ? "HEIC" : "AVIF"
    guard layout.size.longEdge <= 65535 else {
      throw DownsampleError(.usage, "\(name) is written up to 65535 pixels long, not \(layout.size.longEdge)")
    }
    bridge = SinkBridge(sink)
    hasICCProfile = !settings.iccProfile.isEmpty
    warnings = settings.metadata.iptc.isEmpty ? [] : ["\(name) has no place for IPTC data: they are left out"]
    var error = cheif_error()
    let callbacks = cheif_sink(context: bridge.context) { context, bytes, count in
      SinkBridge.from(context).write(bytes, count: count)
    }
    let writer = Self.withBytes(of: settings) { icc, exif, xmp in
      var description = cheif_writer_settings(
        width: UInt32(layout.size.width), height: UInt32(layout.size.height),
        rows: layout.color == .gray ? CHEIF_ROWS_GRAY : layout.color == .rgb ? CHEIF_ROWS_RGB : CHEIF_ROWS_YCBCR,
        has_alpha: layout.hasAlpha, layout: Self.coded(layout, settings),
        coding: Self.coding(format), quality: Int32(Self.quality(settings.quality, format: format)),
        effort: Int32(settings.effort), tile: UInt32(Self.tileSide), icc: icc.baseAddress, icc_bytes: icc.count,
        exif: exif.baseAddress, exif_bytes: exif.count, xmp: xmp.baseAddress, xmp_bytes: xmp.count)
      return cheif_writer_create(callbacks, &description, &error)
    }
    guard let writer else { throw Self.failure(error, bridge, name) }
    handle = Handle(writer: writer)
  }

  func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    var error = cheif_error()
    guard
      cheif_write_row(handle.writer, Int32(plane), row.assumingMemoryBound(to: UInt8.self), &error) == CHEIF_OK
    else { throw Self.failure(error, bridge, name) }
  }

  func finish() throws(DownsampleError) {
    var error = cheif_error()
    guard cheif_writer_finish(handle.writer, &error) == CHEIF_OK else { throw Self.failure(error, bridge, name) }
  }

  private static func withBytes(
    of settings: EncoderSettings,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> OpaquePointer?
  ) -> OpaquePointer? {
    settings.iccProfile.withUnsafeBufferPointer { icc in
      settings.metadata.exif.withUnsafeBufferPointer { exif in
        settings.metadata.xmp.withUnsafeBufferPointer { xmp in body(icc, exif, xmp) }
      }
    }
  }

  private static func failure(_ error: cheif_error, _ bridge: SinkBridge, _ name: String) -> DownsampleError {
    if let cause = bridge.error { return cause }
    let message = text(error.message)
    switch error.status {
    case CHEIF_UNSUPPORTED: return DownsampleError(.unsupported, message)
    case CHEIF_NO_MEMORY: return DownsampleError(.overBudget, "there is not enough memory: \(message)")
    default: return DownsampleError(.internalFault, "encoding the \(name) failed: \(message)")
    }
  }

  private static func coding(_ format: OutputFormat) -> cheif_coding { format == .heic ? CHEIF_HEVC : CHEIF_AV1 }

  static func coded(_ layout: EncodedLayout, _ settings: EncoderSettings) -> cheif_layout {
    if layout.color == .gray { return CHEIF_LAYOUT_MONOCHROME }
    if layout.color == .ycbcr420 { return CHEIF_LAYOUT_420 }
    switch settings.chroma {
    case .quarter: return CHEIF_LAYOUT_420
    case .half: return CHEIF_LAYOUT_422
    case .full: return CHEIF_LAYOUT_444
    }
  }

  /// Whether the encoder is installed. It is not loaded; libheif is opened.
  static func isAvailable(_ format: OutputFormat) -> Bool { cheif_has_encoder(coding(format)) }

  static func tiling(_ size: PixelSize, format: OutputFormat) -> cheif_tiling {
    cheif_tiling_for(UInt32(size.width), UInt32(size.height), UInt32(tileSide), coding(format))
  }

  /// Whether a picture of this size is written as a grid.
  static func isTiled(_ size: PixelSize, format: OutputFormat) -> Bool { !tiling(size, format: format).single }

  /// libjpeg's scale to the encoder's own: straight lines between points at which the pictures score about alike
  /// (SSIMULACRA 2 of photos at libjpeg's 50, 85 and 95).
  static func quality(_ quality: Int, format: OutputFormat) -> Int {
    let points =
      format == .heic
      ? [(1, 2), (50, 32), (85, 52), (95, 65), (100, 85)] : [(1, 10), (50, 52), (85, 82), (95, 92), (100, 98)]
    let next = points.firstIndex { $0.0 >= quality } ?? points.count - 1
    if next == 0 { return points[0].1 }
    let ((x0, y0), (x1, y1)) = (points[next - 1], points[next])
    return y0 + ((quality - x0) * (y1 - y0) + (x1 - x0) / 2) / (x1 - x0)
  }
}
