import Codecs
import Raster

/// Where a picture comes from. Opened when work begins, and read in blocks as the decoder asks; a file is never loaded whole.
public struct ImageSource: Sendable {
  let opener: @Sendable () throws(DownsampleError) -> ByteSource

  /// A file, a FIFO or a device.
  public static func path(_ path: Path) -> ImageSource {
    ImageSource { () throws(DownsampleError) in try BufferedSource(path: path) }
  }

  /// An open descriptor: a file is read from its position on, without moving it; anything else in order. It stays open, and has
  /// to for as long as the work goes on.
  public static func descriptor(_ descriptor: Int32) -> ImageSource {
    ImageSource { () throws(DownsampleError) in try BufferedSource(descriptor: descriptor) }
  }

  /// A whole file in memory. The array is shared, not copied.
  public static func bytes(_ bytes: [UInt8]) -> ImageSource { ImageSource { MemorySource(bytes) } }

  /// A whole file in memory that belongs to the caller. The bytes have to stay, unchanged, until the call that was given the
  /// source has returned.
  public static func borrowed(_ bytes: UnsafeRawBufferPointer) -> ImageSource {
    nonisolated(unsafe) let bytes = bytes
    return ImageSource { MemorySource(borrowing: bytes) }
  }

  /// What a function gives, in order: it copies the next bytes into the buffer and returns their number, which may be less than
  /// there is room for; 0 at the end. A HEIC or AVIF is first written to an unlinked temporary file (TMPDIR, else /var/tmp), as
  /// it has to be read out of order. Such a source is used up by one call.
  ///
  /// - Parameters:
  ///   - byteCount: of the file, where it is known.
  ///   - read: what it throws becomes `.inputOutput`, unless it is a `DownsampleError`.
  public static func pull(
    byteCount: Int? = nil, _ read: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws -> Int
  ) -> ImageSource {
    ImageSource { BufferedSource(ClosureInput(byteCount: byteCount, pull: read)) }
  }

  /// What a function gives from an offset on, which is 0 or more: it copies bytes into the buffer and returns their number; 0 at
  /// and past the end. It may be called on several threads at once.
  ///
  /// - Parameters:
  ///   - byteCount: of the file.
  ///   - read: what it throws becomes `.inputOutput`, unless it is a `DownsampleError`.
  public static func randomAccess(
    byteCount: Int, _ read: @escaping @Sendable (UnsafeMutableRawBufferPointer, _ offset: Int) throws -> Int
  ) -> ImageSource {
    ImageSource { BufferedSource(ClosureInput(byteCount: byteCount, read: read)) }
  }

  /// - Throws: `.noInput`.
  func open() throws(DownsampleError) -> ByteSource { try opener() }
}
