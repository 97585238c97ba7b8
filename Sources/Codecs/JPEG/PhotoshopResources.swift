/// Photoshop's image resources, as a JPEG's APP13 segments hold them: each "8BIM", a number, a name and its data (Adobe
/// Photoshop File Formats Specification, image resource blocks).
enum PhotoshopResources {
  /// IPTC-IIM data sets: resource 0x0404. Empty where there is none, or where it is cut short.
  static func iptc(in bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    func number(_ offset: Int, _ count: Int) -> Int { (0..<count).reduce(0) { $0 << 8 | Int(bytes[offset + $1]) } }
    var position = 0
    // The shortest resource: its kind, number, empty name and length.
    while bytes.count - position >= 12, bytes[position..<position + 4].elementsEqual("8BIM".utf8) {
      let nameBytes = (Int(bytes[position + 6]) + 2) & ~1
      let data = position + 6 + nameBytes + 4
      guard data <= bytes.count else { return [] }
      let count = number(data - 4, 4)
      guard count <= bytes.count - data else { return [] }
      if number(position + 4, 2) == 0x0404 { return Array(bytes[data..<data + count]) }
      position = min(bytes.count, data + (count + 1) & ~1)
    }
    return []
  }
}
