import Raster

/// Where a picture's bytes come from. Read in blocks, as the decoder asks; never loaded whole.
public protocol ByteSource: AnyObject {
  /// The number of bytes, where it is known beforehand: files and memory, not pipes.
  var byteCount: Int? { get }

  /// Reads the next bytes in order into `buffer` and gives their number; 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int

  /// Makes `read(into:at:)` possible; what comes from a pipe is first written to an unlinked temporary file.
  func makeSeekable() throws(DownsampleError)

  /// Reads bytes from `offset` on, without moving the position of `read(into:)`; 0 at or past the end.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int
}

/// Where the encoded picture goes.
public protocol ByteSink: AnyObject {
  /// Takes all of `bytes` or throws.
  func write(_ bytes: UnsafeRawBufferPointer) throws(DownsampleError)
}
