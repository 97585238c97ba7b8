import Codecs
import Raster

/// A picture in memory, read where it lies.
package final class MemorySource: ByteSource {
  private enum Storage {
    case array([UInt8])
    case borrowed(UnsafeRawBufferPointer)
  }

  private let storage: Storage
  private var position = 0

  /// The array is shared, not copied.
  package init(_ bytes: [UInt8]) { storage = .array(bytes) }

  /// Bytes that belong to the caller. They must stay, unchanged, for as long as the source is in use.
  package init(borrowing bytes: UnsafeRawBufferPointer) { storage = .borrowed(bytes) }

  package var byteCount: Int? {
    switch storage {
    case .array(let bytes): bytes.count
    case .borrowed(let bytes): bytes.count
    }
  }

  package func peek(into buffer: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, Self.mostPeeked)])
    return try read(into: part, at: position)
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    let count = try read(into: buffer, at: position)
    position += count
    return count
  }

  package func makeSeekable() {}

  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int {
    if offset < 0 { throw DownsampleError(.internalFault, "an input was read before its beginning") }
    switch storage {
    case .array(let bytes): return bytes.withUnsafeBytes { Self.copy($0, from: offset, into: buffer) }
    case .borrowed(let bytes): return Self.copy(bytes, from: offset, into: buffer)
    }
  }

  private static func copy(
    _ bytes: UnsafeRawBufferPointer, from offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    if offset >= bytes.count { return 0 }
    let count = min(buffer.count, bytes.count - offset)
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)]))
    return count
  }
}
