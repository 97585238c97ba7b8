/// Reads a TIFF structure (TIFF 6.0, section 2), as EXIF data are one. Nothing outside of the bytes is ever read.
struct TIFFReader<Bytes: RandomAccessCollection> where Bytes.Element == UInt8, Bytes.Index == Int {
  /// Of indices from 0.
  let bytes: Bytes
  let isLittleEndian: Bool

  /// Nil where the bytes do not begin as a TIFF file does.
  init?(_ bytes: Bytes) {
    guard bytes.count >= 8 else { return nil }
    switch (bytes[0], bytes[1]) {
    case (0x49, 0x49): isLittleEndian = true
    case (0x4D, 0x4D): isLittleEndian = false
    default: return nil
    }
    self.bytes = bytes
    guard short(at: 2) == 42 else { return nil }
  }

  /// Where the first directory lies.
  var firstDirectory: Int { long(at: 4)! }

  func short(at offset: Int) -> Int? { number(at: offset, bytes: 2) }
  func long(at offset: Int) -> Int? { number(at: offset, bytes: 4) }

  private func number(at offset: Int, bytes count: Int) -> Int? {
    guard offset >= 0, offset <= bytes.count - count else { return nil }
    var result = 0
    for i in 0..<count { result = result << 8 | Int(bytes[offset + (isLittleEndian ? count - 1 - i : i)]) }
    return result
  }

  struct Entry {
    /// Of its 12 bytes.
    let position: Int
    let tag: Int
    let type: Int
    /// Values, not bytes.
    let count: Int
    /// The value's bytes, in the entry itself where they are four at most. Nil where its type is not known or where it would
    /// lie outside.
    let value: Range<Int>?

    /// Whether the value lies in the entry.
    var isInside: Bool { value.map { $0.count <= 4 } ?? false }
  }

  func entry(at position: Int) -> Entry? {
    guard let tag = short(at: position), let type = short(at: position + 2), let count = long(at: position + 4),
      let field = long(at: position + 8)
    else { return nil }
    var value: Range<Int>?
    if let size = TIFFType.byteCount(type) {
      // At most 2^32 times 8.
      let length = count * size
      let start = length <= 4 ? position + 8 : field
      if start >= 8, length <= bytes.count - start { value = start..<start + length }
    }
    return Entry(position: position, tag: tag, type: type, count: count, value: value)
  }

  /// The entries of a directory, and the bytes that it takes, with the offset of the next directory behind the entries where
  /// there is room for one. Nil where it does not lie inside.
  func directory(at offset: Int) -> (entries: [Entry], table: Range<Int>)? {
    guard offset >= 8, let count = short(at: offset), count * 12 <= bytes.count - offset - 2 else { return nil }
    let end = offset + 2 + count * 12
    let entries = (0..<count).compactMap { entry(at: offset + 2 + $0 * 12) }
    return (entries, offset..<(bytes.count - end >= 4 ? end + 4 : end))
  }

  /// The first number of a value of SHORT, LONG or IFD.
  func number(_ entry: Entry) -> Int? {
    guard entry.count > 0, let value = entry.value else { return nil }
    switch entry.type {
    case TIFFType.short: return short(at: value.lowerBound)
    case TIFFType.long, TIFFType.directory: return long(at: value.lowerBound)
    default: return nil
    }
  }

  /// The numbers of a value of SHORT or LONG, as many of them as `most`.
  func numbers(_ entry: Entry, most: Int) -> [Int] {
    guard let value = entry.value, entry.type == TIFFType.short || entry.type == TIFFType.long else { return [] }
    let size = entry.type == TIFFType.short ? 2 : 4
    return stride(from: value.lowerBound, to: value.lowerBound + min(entry.count, most) * size, by: size).compactMap {
      size == 2 ? short(at: $0) : long(at: $0)
    }
  }
}

/// The types of values that TIFF 6.0, its supplement 1 and EXIF 3.0 (129, UTF-8) know.
enum TIFFType {
  static let ascii = 2
  static let short = 3
  static let long = 4
  static let undefined = 7
  static let directory = 13
  static let utf8 = 129

  /// Of one value; nil for a type that is none.
  static func byteCount(_ type: Int) -> Int? {
    switch type {
    case 1, 2, 6, 7, 129: 1
    case 3, 8: 2
    case 4, 9, 11, 13: 4
    case 5, 10, 12: 8
    default: nil
    }
  }
}
