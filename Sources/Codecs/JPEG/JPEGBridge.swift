import CJPEG
import Raster

/// What the C reader calls back: the source, and what decoding may use. Errors are kept here, since C only learns that there
/// was one.
final class JPEGBridge {
  let source: SourceBridge
  /// Set when decoding begins.
  var resources: DecodingResources?
  private var ownError: DownsampleError?

  init(_ source: ByteSource) { self.source = SourceBridge(source) }

  var error: DownsampleError? { source.error ?? ownError }

  /// What the C callbacks are given. The bridge has to outlive them.
  private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  private static func from(_ context: UnsafeMutableRawPointer?) -> JPEGBridge {
    Unmanaged.fromOpaque(context!).takeUnretainedValue()
  }

  var callbacks: cjpeg_source {
    cjpeg_source(
      context: context,
      read: { context, buffer, count in JPEGBridge.from(context).source.read(buffer, count: count) },
      may_go_on: { context in JPEGBridge.from(context).mayGoOn() ? 0 : -1 })
  }

  func limits(libraryBytes: Int, storeBytes: Int, fileBytes: Int) -> cjpeg_limits {
    cjpeg_limits(
      library_bytes: libraryBytes, store_bytes: storeBytes, file_bytes: fileBytes, context: context,
      open_file: { context in JPEGBridge.from(context).openFile() })
  }

  private func mayGoOn() -> Bool {
    do {
      try resources?.mayGoOn()
      return true
    } catch {
      ownError = error
      return false
    }
  }

  private func openFile() -> Int32 {
    do {
      return try resources?.openTemporaryFile() ?? -1
    } catch {
      ownError = error
      return -1
    }
  }
}
