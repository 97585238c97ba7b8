import Raster

@testable import Codecs

/// Bytes in memory.
final class Bytes: ByteSource {
  private let bytes: [UInt8]
  private let most: Int
  private var position = 0

  /// - Parameter most: bytes that one read gives: few, so that no decoder can count on more.
  init(_ bytes: [UInt8], atMost most: Int = 97) { (self.bytes, self.most) = (bytes, most) }

  var byteCount: Int? { bytes.count }
  func makeSeekable() {}

  func peek(into buffer: UnsafeMutableRawBufferPointer) -> Int { read(into: buffer, at: position) }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, most)])
    let count = read(into: part, at: position)
    position += count
    return count
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let count = max(0, min(buffer.count, bytes.count - offset))
    if count > 0 {
      bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
    }
    return count
  }
}

/// What an encoder wrote.
final class Collected: ByteSink {
  private(set) var bytes: [UInt8] = []
  func write(_ bytes: UnsafeRawBufferPointer) { self.bytes += bytes }
}
