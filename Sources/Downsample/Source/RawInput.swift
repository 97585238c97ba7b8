import Raster

/// Where a source's bytes really are: what a `BufferedSource` reads ahead from.
protocol RawInput: AnyObject {
  /// Where it is known beforehand.
  var byteCount: Int? { get }
  /// Whether `read(into:at:)` is possible.
  var isSeekable: Bool { get }
  /// The next bytes, only where it is not seekable; 0 at the end. Waits no longer than the interruption allows.
  func read(into buffer: UnsafeMutableRawBufferPointer, unless interruption: Interruption) throws(DownsampleError)
    -> Int
  /// Bytes from `offset`, 0 or more, on; 0 at or past the end. Several threads may do this at once.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int
}
