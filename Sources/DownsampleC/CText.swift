#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Text for C: it lasts as long as this object.
final class CText: @unchecked Sendable {
  /// Never written to once it is made, so any thread may read it.
  let pointer: UnsafePointer<CChar>

  init(_ text: String) {
    var text = text
    pointer = text.withUTF8 { bytes in
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
      for (index, byte) in bytes.enumerated() { copy[index] = CChar(bitPattern: byte) }
      copy[bytes.count] = 0
      return UnsafePointer(copy)
    }
  }

  deinit { pointer.deallocate() }

  /// Writes the text to a buffer of `size` bytes, cut between two characters where it is longer.
  func copy(to buffer: UnsafeMutablePointer<CChar>, size: Int) {
    guard size > 0 else { return }
    var count = min(strlen(pointer), size - 1)
    // A byte of the form 10xxxxxx goes on with the character before it.
    while count > 0, UInt8(bitPattern: pointer[count]) & 0xC0 == 0x80 { count -= 1 }
    memcpy(buffer, pointer, count)
    buffer[count] = 0
  }
}
