import Raster

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file, a FIFO, a device or an open descriptor. A regular file may grow or shrink while it is read: the reads then end where
/// the file does.
final class FileInput: RawInput {
  let byteCount: Int?
  let isSeekable: Bool
  private let descriptor: Int32
  private let ownsDescriptor: Bool
  /// Where the picture begins: standard input may be a file that somebody has read a part of.
  private let start: Int

  /// - Throws: `noInput` with the cause: no such file, no permission, a folder.
  convenience init(path: Path) throws(DownsampleError) {
    // Opening a FIFO would wait for its writer: reading does, and sees deadlines and cancellations meanwhile.
    let isFIFO = SystemCalls.status(of: path)?.kind == S_IFIFO
    let descriptor = SystemCalls.open(path, O_RDONLY | (isFIFO ? O_NONBLOCK : 0))
    if descriptor < 0 { throw DownsampleError(.noInput, "the input cannot be opened: \(SystemCalls.text(errno))") }
    try self.init(descriptor: descriptor, closesDescriptor: true)
  }

  /// - Parameter closesDescriptor: it is closed at this one's end, also when this throws.
  /// - Throws: `noInput`: not open, or a folder.
  init(descriptor: Int32, closesDescriptor: Bool) throws(DownsampleError) {
    do throws(DownsampleError) {
      guard let status = SystemCalls.status(of: descriptor) else {
        throw DownsampleError(.noInput, "the input cannot be opened: \(SystemCalls.text(errno))")
      }
      switch status.kind {
      case S_IFDIR:
        throw DownsampleError(.noInput, "the input is a folder")
      case S_IFREG, S_IFBLK:
        start = max(0, Int(lseek(descriptor, 0, SEEK_CUR)))
        // A block device's size is where it ends. The position is put back for whoever shares it.
        let end = status.kind == S_IFREG ? Int(status.st_size) : Int(lseek(descriptor, 0, SEEK_END))
        if status.kind == S_IFBLK { lseek(descriptor, off_t(start), SEEK_SET) }
        byteCount = max(0, end - start)
        isSeekable = true
        _ = posix_fadvise(descriptor, off_t(start), 0, POSIX_FADV_SEQUENTIAL)
      default:
        start = 0
        byteCount = nil
        isSeekable = false
      }
    } catch {
      if closesDescriptor { close(descriptor) }
      throw error
    }
    self.descriptor = descriptor
    ownsDescriptor = closesDescriptor
  }

  deinit { if ownsDescriptor { close(descriptor) } }

  func read(into buffer: UnsafeMutableRawBufferPointer, unless interruption: Interruption) throws(DownsampleError)
    -> Int
  {
    try interruption.check()
    // A FIFO that nobody has opened to write to is not at its end: it is only then not ready.
    while !SystemCalls.canRead(descriptor, within: interruption.patience) { try interruption.check() }
    return try Self.check(SystemCalls.read(descriptor, buffer))
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int {
    // Past the largest offset there is nothing; the kernel would call the request invalid.
    let room = Int.max - start - buffer.count
    return offset > room ? 0 : try Self.check(SystemCalls.read(descriptor, buffer, at: start + offset))
  }

  /// - Parameter count: as read, or an error number, negated.
  static func check(_ count: Int) throws(DownsampleError) -> Int {
    if count >= 0 { return count }
    throw DownsampleError(.inputOutput, "the input cannot be read: \(SystemCalls.text(Int32(-count)))")
  }
}
