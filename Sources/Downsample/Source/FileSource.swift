import Codecs
import Raster

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A picture in a file, a FIFO, a device or an open descriptor. A regular file may grow or shrink while it is read: the
/// reads then end where the file does.
public final class FileSource: ByteSource {
  public private(set) var byteCount: Int?

  private let descriptor: Int32
  private let ownsDescriptor: Bool
  /// Where the picture begins: standard input may be a file that somebody has read a part of.
  private let start: Int
  private var spool: SpooledInput?
  private let isSeekable: Bool

  /// What was read ahead: `buffer[bufferStart..<bufferEnd]`. Codecs ask for as little as four bytes at a time.
  private var buffer: UnsafeMutableRawBufferPointer
  private var bufferStart = 0
  private var bufferEnd = 0
  /// The next byte to be read from the file, counted from the picture's beginning.
  private var position = 0
  private var hasBegun = false

  private static let bufferSize = 16 * 1024

  /// How long a pipe may be waited for. A file never lets wait for long.
  var deadline: Deadline?

  /// - Throws: `noInput` with the cause: no such file, no permission, a folder.
  public convenience init(path: Path) throws(DownsampleError) {
    let descriptor = SystemCalls.open(path, O_RDONLY)
    if descriptor < 0 { throw DownsampleError(.noInput, "the input cannot be opened: \(SystemCalls.text(errno))") }
    try self.init(descriptor: descriptor, closesDescriptor: true)
  }

  /// Reads from an open descriptor: standard input, as a rule.
  ///
  /// - Parameter closesDescriptor: the source closes it at its end, also when this throws.
  /// - Throws: `noInput`: not open, or a folder.
  public init(descriptor: Int32, closesDescriptor: Bool = false) throws(DownsampleError) {
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
    buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  }

  deinit {
    buffer.deallocate()
    if ownsDescriptor { close(descriptor) }
  }

  public var temporaryBytesInMemory: Int {
    guard let spool, spool.file.isInMemory else { return 0 }
    return spool.byteCount
  }

  public func peek(into target: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    let wanted = min(target.count, Self.mostPeeked)
    while bufferEnd - bufferStart < wanted, try readAhead() > 0 {}
    let count = min(wanted, bufferEnd - bufferStart)
    take(count, into: target)
    return count
  }

  public func read(into target: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    if target.isEmpty { return 0 }
    hasBegun = true
    if bufferStart == bufferEnd {
      if target.count >= Self.bufferSize { return try readNext(target) }
      if try readAhead() == 0 { return 0 }
    }
    let count = min(target.count, bufferEnd - bufferStart)
    take(count, into: target)
    bufferStart += count
    return count
  }

  public func makeSeekable() throws(DownsampleError) {
    if isSeekable || spool != nil { return }
    if hasBegun { throw DownsampleError(.internalFault, "an input was read before it was made seekable") }
    let spool = SpooledInput(file: try TemporaryFile())
    try spool.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[bufferStart..<bufferEnd]))
    // The read-ahead is in the file now, and its buffer carries the rest there.
    bufferStart = 0
    bufferEnd = 0
    makeBuffer()
    while true {
      let count = try readNext(buffer)
      if count == 0 { break }
      try spool.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
    }
    position = 0
    byteCount = spool.byteCount
    self.spool = spool
  }

  public func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int {
    if offset < 0 { throw DownsampleError(.internalFault, "an input was read before its beginning") }
    if let spool {
      return offset >= spool.byteCount
        ? 0 : try Self.check(SystemCalls.read(spool.file.descriptor, target, at: offset))
    }
    guard isSeekable else { throw DownsampleError(.internalFault, "a sequential input was read out of order") }
    // Past the largest offset there is nothing; the kernel would call the request invalid.
    let room = Int.max - start - target.count
    return offset > room ? 0 : try Self.check(SystemCalls.read(descriptor, target, at: start + offset))
  }

  // MARK: -

  private func makeBuffer() {
    if buffer.isEmpty { buffer = .allocate(byteCount: Self.bufferSize, alignment: 16) }
  }

  /// Reads more into the buffer, behind what it holds; 0 at the end.
  private func readAhead() throws(DownsampleError) -> Int {
    makeBuffer()
    if bufferStart > 0 {
      buffer.copyMemory(
        from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[bufferStart..<bufferEnd]))
      bufferEnd -= bufferStart
      bufferStart = 0
    }
    let count = try readNext(UnsafeMutableRawBufferPointer(rebasing: buffer[bufferEnd...]))
    bufferEnd += count
    return count
  }

  private func readNext(_ target: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    let count: Int
    if spool != nil || isSeekable {
      count = try read(into: target, at: position)
    } else {
      while let deadline, let remaining = deadline.remaining, !SystemCalls.canRead(descriptor, within: remaining) {
        try deadline.check()
      }
      count = try Self.check(SystemCalls.read(descriptor, target))
    }
    position += count
    return count
  }

  private func take(_ count: Int, into target: UnsafeMutableRawBufferPointer) {
    if count == 0 { return }
    target.copyMemory(
      from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[bufferStart..<(bufferStart + count)]))
  }

  private static func check(_ count: Int) throws(DownsampleError) -> Int {
    if count >= 0 { return count }
    throw DownsampleError(.inputOutput, "the input cannot be read: \(SystemCalls.text(Int32(-count)))")
  }
}
