import Codecs
import Raster

/// Gathers small writes, as encoders make them; larger ones go straight through.
final class WriteBuffer {
  /// What it holds, in bytes, once something small was written.
  static let byteCount = 32 << 10

  private var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var count = 0

  deinit { bytes.deallocate() }

  /// Takes all of `more`, or gives it on by `write`, after what was gathered.
  func append(
    _ more: UnsafeRawBufferPointer, write: (UnsafeRawBufferPointer) throws(DownsampleError) -> Void
  ) throws(DownsampleError) {
    guard let start = more.baseAddress, !more.isEmpty else { return }
    if count + more.count > Self.byteCount { try flush(write: write) }
    if more.count >= Self.byteCount { return try write(more) }
    if bytes.isEmpty { bytes = .allocate(byteCount: Self.byteCount, alignment: 16) }
    (bytes.baseAddress! + count).copyMemory(from: start, byteCount: more.count)
    count += more.count
  }

  /// Gives on what was gathered.
  func flush(write: (UnsafeRawBufferPointer) throws(DownsampleError) -> Void) throws(DownsampleError) {
    if count == 0 { return }
    let gathered = UnsafeRawBufferPointer(rebasing: bytes[..<count])
    count = 0
    try write(gathered)
  }

  /// Forgets what was gathered, and gives the memory back.
  func clear() {
    bytes.deallocate()
    bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    count = 0
  }
}
