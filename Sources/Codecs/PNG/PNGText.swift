/// Metadata that PNG has no chunk for.
enum PNGText {
  /// The data of a tEXt chunk that holds IPTC as ImageMagick writes and exiftool reads it: "Raw profile type iptc", then Photoshop's
  /// image resource 0x0404 in hexadecimal digits. Empty for none.
  static func rawProfile(iptc: [UInt8]) -> [UInt8] {
    if iptc.isEmpty { return [] }
    let length = resourceStart.count + 4 + iptc.count + iptc.count % 2
    var text = [UInt8]()
    text.reserveCapacity(byteCount(iptc: iptc.count))
    text += "Raw profile type iptc".utf8
    text += [0]
    text += "\niptc\n".utf8
    let number = String(length)
    text += String(repeating: " ", count: max(0, 8 - number.utf8.count)).utf8
    text += number.utf8
    var column = 0
    func add(_ byte: UInt8) {
      if column % bytesPerLine == 0 { text.append(newline) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
      column += 1
    }
    resourceStart.forEach(add)
    for shift in [24, 16, 8, 0] { add(UInt8(truncatingIfNeeded: iptc.count >> shift)) }
    iptc.forEach(add)
    if iptc.count % 2 == 1 { add(0) }
    text.append(newline)
    return text
  }

  /// At least the bytes of that text.
  static func byteCount(iptc count: Int) -> Int {
    let bytes = count + resourceStart.count + 5
    return 2 * bytes + bytes / bytesPerLine + 64
  }

  /// "8BIM", the number 0x0404 and no name.
  private static let resourceStart: [UInt8] = [0x38, 0x42, 0x49, 0x4D, 4, 4, 0, 0]
  private static let bytesPerLine = 36
  private static let newline: UInt8 = 10
  private static let digits = Array("0123456789abcdef".utf8)
}
