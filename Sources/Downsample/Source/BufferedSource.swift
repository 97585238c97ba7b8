import Codecs
import Raster

/// A picture that is read in blocks, ahead of the small reads of the codecs: from a file, a pipe, a caller's function.
package final class BufferedSource: ByteSource {
  package private(set) var byteCount: Int?

  private let input: any RawInput
  private var spool: SpooledInput?

  /// What was read ahead: `buffer[bufferStart..<bufferEnd]`. Codecs ask for as little as four bytes at a time.
  private var buffer: UnsafeMutableRawBufferPointer
  private var bufferStart = 0
  private var bufferEnd = 0
  /// The next byte to be read from the input, counted from the picture's beginning.
  private var position = 0
  private var hasBegun = false

  private static let bufferSize = 16 * 1024

  /// How long a pipe may be waited for.
  var interruption = Interruption()

  init(_ input: any RawInput) {
    self.input = input
    byteCount = input.byteCount
    buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  }

  /// A file, a FIFO or a device.
  ///
  /// - Throws: `noInput` with the cause: no such file, no permission, a folder.
  package convenience init(path: Path) throws(DownsampleError) { self.init(try FileInput(path: path)) }

  /// Reads from an open descriptor: standard input, as a rule.
  ///
  /// - Parameter closesDescriptor: the source closes it at its end, also when this throws.
  /// - Throws: `noInput`: not open, or a folder.
  package convenience init(descriptor: Int32, closesDescriptor: Bool = false) throws(DownsampleError) {
    self.init(try FileInput(descriptor: descriptor, closesDescriptor: closesDescriptor))
  }

  deinit { buffer.deallocate() }

  package var temporaryBytesInMemory: Int {
    guard let spool, spool.file.isInMemory else { return 0 }
    return spool.byteCount
  }

  package var isSeekable: Bool { input.isSeekable || spool != nil }

  package func peek(into target: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    let wanted = min(target.count, Self.mostPeeked)
    while bufferEnd - bufferStart < wanted, try readAhead() > 0 {}
    let count = min(wanted, bufferEnd - bufferStart)
    take(count, into: target)
    return count
  }

  package func read(into target: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
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

  package func makeSeekable() throws(DownsampleError) {
    if input.isSeekable || spool != nil { return }
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

  package func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int {
    if offset < 0 { throw DownsampleError(.internalFault, "an input was read before its beginning") }
    if let spool {
      return offset >= spool.byteCount
        ? 0 : try FileInput.check(SystemCalls.read(spool.file.descriptor, target, at: offset))
    }
    guard input.isSeekable else { throw DownsampleError(.internalFault, "a sequential input was read out of order") }
    return try input.read(into: target, at: offset)
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
    let count =
      spool != nil || input.isSeekable
      ? try read(into: target, at: position) : try input.read(into: target, unless: interruption)
    position += count
    return count
  }

  private func take(_ count: Int, into target: UnsafeMutableRawBufferPointer) {
    if count == 0 { return }
    target.copyMemory(
      from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[bufferStart..<(bufferStart + count)]))
  }
}
