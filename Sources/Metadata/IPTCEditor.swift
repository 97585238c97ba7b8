/// Edits IPTC-IIM data sets (IIM 4.2, 1.5): a tag marker 0x1C, a record, a number, a length of two bytes or an extended one, a
/// value.
enum IPTCEditor {
  /// Nil where the data are broken.
  static func edit(_ bytes: [UInt8], rightsOnly: Bool) -> [UInt8]? {
    var result: [UInt8] = []
    var hasValue = false
    var i = 0
    while i < bytes.count {
      guard bytes[i] == 0x1C else {
        // Writers pad to even lengths, and some with more.
        if bytes[i...].allSatisfy({ $0 == 0 }) { break }
        return nil
      }
      guard let value = self.value(bytes, at: i) else { return nil }
      let record = bytes[i + 1]
      let number = bytes[i + 2]
      if rightsOnly ? isRights(record, number) : !isPreview(record, number) {
        result += bytes[i..<value.upperBound]
        hasValue = hasValue || (record == 2 && number != 0)
      }
      i = value.upperBound
    }
    // The version and the character set say nothing by themselves.
    return hasValue ? result : []
  }

  private static func value(_ bytes: [UInt8], at offset: Int) -> Range<Int>? {
    guard offset + 5 <= bytes.count else { return nil }
    var start = offset + 5
    var length = Int(bytes[offset + 3]) << 8 | Int(bytes[offset + 4])
    if length & 0x8000 != 0 {
      let count = length & 0x7FFF
      guard (1...4).contains(count), start + count <= bytes.count else { return nil }
      length = bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
      start += count
    }
    return length <= bytes.count - start ? start..<start + length : nil
  }

  /// The coded character set and the record version, without which the others cannot be read; by-line and its title, credit,
  /// copyright notice.
  private static func isRights(_ record: UInt8, _ number: UInt8) -> Bool {
    record == 1 ? number == 90 : record == 2 && [0, 80, 85, 110, 116].contains(number)
  }

  /// A preview's format, version and data.
  private static func isPreview(_ record: UInt8, _ number: UInt8) -> Bool {
    record == 2 && (200...202).contains(number)
  }
}
