import Raster

/// Bytes that the caller's own function gives.
final class ClosureInput: RawInput {
  /// The next bytes in order.
  typealias Pull = @Sendable (UnsafeMutableRawBufferPointer) throws -> Int
  /// Bytes from an offset on.
  typealias Read = @Sendable (UnsafeMutableRawBufferPointer, Int) throws -> Int

  private enum Function {
    case pull(Pull)
    case read(Read)
  }

  let byteCount: Int?
  private let function: Function

  init(byteCount: Int?, pull: @escaping Pull) {
    self.byteCount = byteCount
    function = .pull(pull)
  }

  init(byteCount: Int, read: @escaping Read) {
    self.byteCount = byteCount
    function = .read(read)
  }

  var isSeekable: Bool {
    if case .read = function { return true }
    return false
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, unless interruption: Interruption) throws(DownsampleError)
    -> Int
  {
    guard case .pull(let pull) = function else {
      throw DownsampleError(.internalFault, "an input that can be read anywhere was read in order")
    }
    try interruption.check()
    return try Self.call(buffer.count) { () throws in try pull(buffer) }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int {
    guard case .read(let read) = function else {
      throw DownsampleError(.internalFault, "a sequential input was read out of order")
    }
    return try Self.call(buffer.count) { () throws in try read(buffer, offset) }
  }

  private static func call(_ room: Int, _ body: () throws -> Int) throws(DownsampleError) -> Int {
    let count = try DownsampleError.wrapping("the input cannot be read", body)
    guard (0...room).contains(count) else {
      throw DownsampleError(.inputOutput, "the input's function gave \(count) bytes where \(room) were asked for")
    }
    return count
  }
}
