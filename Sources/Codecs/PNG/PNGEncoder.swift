import Budget
import CPNG
import Raster

/// PNG by libpng, not interlaced.
final class PNGEncoder: ImageEncoder {
  let hasICCProfile: Bool
  let warnings: [String]
  private let handle: Handle
  private let bridge: SinkBridge

  /// How rows are filtered and deflated. What is filtered repeats itself in little but runs, of photos and of what was scaled, so
  /// that looking for more takes three times as long for 1% of a photo's bytes.
  private static func deflating(effort: Int) -> (level: Int32, onlyRuns: Bool, onlyPaeth: Bool) {
    // zlib's levels, from the effort of 3 on.
    let levels: [Int32] = [4, 5, 6, 6, 7, 8, 9]
    return (levels[max(0, min(effort - 3, levels.count - 1))], effort < 3, effort < 2)
  }

  private struct Handle: ~Copyable {
    let writer: OpaquePointer
    deinit { cpng_discard(writer) }
  }

  init(layout: EncodedLayout, settings: EncoderSettings, sink: ByteSink) throws(DownsampleError) {
    bridge = SinkBridge(sink)
    var error = cpng_error()
    var iccTaken = false
    let callbacks = cpng_sink(context: bridge.context) { context, bytes, count in
      SinkBridge.from(context).write(bytes, count: count)
    }
    let plane = layout.planes[0]
    let deflating = Self.deflating(effort: settings.effort)
    var description = cpng_settings(
      width: UInt32(layout.size.width), height: UInt32(layout.size.height), channels: Int32(plane.channels),
      bytes_per_sample: Int32(plane.sampleType.byteCount), compression: deflating.level,
      only_runs: deflating.onlyRuns, only_paeth: deflating.onlyPaeth,
      icc: nil, icc_bytes: 0,
      is_srgb: settings.isSRGB, exif: cpng_bytes(), xmp: cpng_bytes(), text: cpng_bytes(),
      limit: Self.memory(layout: layout, settings: settings).totalBytes)
    let text = PNGText.rawProfile(iptc: settings.metadata.iptc)
    let writer = settings.iccProfile.withUnsafeBufferPointer { icc in
      settings.metadata.exif.withUnsafeBufferPointer { exif in
        settings.metadata.xmp.withUnsafeBufferPointer { xmp in
          text.withUnsafeBufferPointer { text in
            (description.icc, description.icc_bytes) = (icc.baseAddress, icc.count)
            description.exif = cpng_bytes(bytes: exif.baseAddress, count: exif.count)
            description.xmp = cpng_bytes(bytes: xmp.baseAddress, count: xmp.count)
            description.text = cpng_bytes(bytes: text.baseAddress, count: text.count)
            return cpng_create(callbacks, &description, &iccTaken, &error)
          }
        }
      }
    }
    guard let writer else { throw Self.failure(error, bridge) }
    handle = Handle(writer: writer)
    hasICCProfile = iccTaken
    warnings =
      settings.iccProfile.isEmpty || iccTaken
      ? [] : ["the ICC profile was left out: libpng finds it unfit for this kind of PNG"]
  }

  func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    var error = cpng_error()
    guard cpng_write_row(handle.writer, row, &error) == CPNG_OK else { throw Self.failure(error, bridge) }
  }

  func finish() throws(DownsampleError) {
    var error = cpng_error()
    guard cpng_finish(handle.writer, &error) == CPNG_OK else { throw Self.failure(error, bridge) }
  }

  /// What the bytes of `memory` came to so far.
  var mostHeld: Int { cpng_writer_most_held(handle.writer) }

  private static func failure(_ error: cpng_error, _ bridge: SinkBridge) -> DownsampleError {
    if let cause = bridge.error { return cause }
    let message = text(error.message)
    if error.status == CPNG_NO_MEMORY {
      return DownsampleError(.overBudget, "there is not enough memory to encode a PNG: \(message)")
    }
    return DownsampleError(.internalFault, "encoding the PNG failed: \(message)")
  }
}
