import Budget
import CJPEG
import Raster

/// JPEG by libjpeg-turbo: planes go in as they are, RGB is converted and subsampled by the library.
final class JPEGEncoder: ImageEncoder {
  let hasICCProfile: Bool
  let warnings: [String] = []
  private let handle: Handle
  private let bridge: SinkBridge

  private struct Handle: ~Copyable {
    let writer: OpaquePointer
    deinit { cjpeg_discard(writer) }
  }

  /// What encoding will hold: our block of output, libjpeg's tables, the rows that wait until a row of MCUs is complete, those
  /// by which luma is ahead of chroma among them, and libjpeg's own rows where it converts from RGB.
  static func memory(layout: EncodedLayout, settings: EncoderSettings) -> [MemoryUse] {
    let width = (layout.size.width + 31) & ~15
    let rows =
      switch layout.color {
      case .ycbcr420: width * 2 * (mostRowsAhead + 16)
      case .rgb: width * 3 * 40
      case .gray: width * 24
      }
    return [MemoryUse("JPEG encoder", rows + (96 << 10))]
  }

  /// Rows by which a plane is ahead of another that the pipeline fills in step.
  private static let mostRowsAhead = 48

  init(layout: EncodedLayout, settings: EncoderSettings, sink: ByteSink) throws(DownsampleError) {
    guard layout.size.longEdge <= 65500 else {
      throw DownsampleError(.usage, "a JPEG can be 65500 pixels long at most, not \(layout.size.longEdge)")
    }
    bridge = SinkBridge(sink)
    hasICCProfile = !settings.iccProfile.isEmpty
    var error = cjpeg_error()
    let callbacks = cjpeg_sink(context: bridge.context) { context, bytes, count in
      SinkBridge.from(context).write(bytes, count: count)
    }
    let writer = settings.iccProfile.withUnsafeBufferPointer { icc in
      var description = cjpeg_settings(
        width: UInt32(layout.size.width), height: UInt32(layout.size.height), quality: Int32(settings.quality),
        color: layout.color == .gray ? CJPEG_GRAY : layout.color == .rgb ? CJPEG_RGB : CJPEG_YCBCR,
        h_samp: settings.chroma == .full ? 1 : 2, v_samp: settings.chroma == .quarter ? 2 : 1, icc: icc.baseAddress,
        icc_bytes: icc.count)
      return cjpeg_create(callbacks, &description, &error)
    }
    guard let writer else { throw Self.failure(error, bridge) }
    handle = Handle(writer: writer)
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
    bridge.error ?? DownsampleError(.internalFault, "encoding the JPEG failed: \(text(error.message))")
  }
}
