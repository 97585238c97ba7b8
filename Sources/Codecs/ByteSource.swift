import Raster

/// Where a picture's bytes come from. Read in blocks, as the decoder asks; never loaded whole.
public protocol ByteSource: AnyObject {
  /// The number of bytes, where it is known beforehand: files and memory, not pipes.
  var byteCount: Int? { get }

  /// Whether `read(into:at:)` is possible now. Where the number of bytes is known it is, as a rule; a caller's function may know
  /// how many bytes it gives, and give them in order only.
  var isSeekable: Bool { get }

  /// Copies the next bytes into `buffer` without moving on, `mostPeeked` at most, and gives their number: less than was
  /// asked for only where the source ends. What tells one kind of picture from another is in them.
  func peek(into buffer: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int

  /// Reads the next bytes in order into `buffer` and gives their number, which may be less than was asked for; 0 at the
  /// end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int

  /// Makes `read(into:at:)` possible; what comes from a pipe is first written to an unlinked temporary file. Only before
  /// the first `read(into:)`.
  func makeSeekable() throws(DownsampleError)

  /// Reads bytes from `offset` on, without moving the position of `read(into:)`; 0 at or past the end. Several threads
  /// may do this at once.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int

  /// The bytes that `makeSeekable` put into a temporary file on a file system that lives in memory: they count like any
  /// other memory.
  var temporaryBytesInMemory: Int { get }
}

extension ByteSource {
  public var isSeekable: Bool { byteCount != nil }

  public var temporaryBytesInMemory: Int { 0 }

  /// The bytes that `peek(into:)` can show.
  public static var mostPeeked: Int { 4096 }
}
