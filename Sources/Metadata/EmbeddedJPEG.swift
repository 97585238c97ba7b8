/// Finds JPEG streams within other bytes, as previews lie in maker notes whose form only their makers know.
enum EmbeddedJPEG {
  /// Where they lie. Only what begins with SOI and goes on with well-formed segments up to the first scan is one: four bytes
  /// alone occur by chance. One that does not end reaches to the end of the bytes.
  static func ranges(in bytes: [UInt8]) -> [Range<Int>] {
    var result: [Range<Int>] = []
    var i = 0
    while i + 3 < bytes.count {
      guard bytes[i] == 0xFF, bytes[i + 1] == 0xD8, bytes[i + 2] == 0xFF, let scan = firstScan(bytes, from: i + 2)
      else {
        i += 1
        continue
      }
      let end = self.end(bytes, from: scan)
      result.append(i..<end)
      i = end
    }
    return result
  }

  /// Before the first scan. Previews have about ten; without a bound, segments within segments would be read over and over.
  private static let mostSegments = 200

  /// Where the first scan's segment begins, of segments from `start`; nil where they are not JPEG's.
  private static func firstScan(_ bytes: [UInt8], from start: Int) -> Int? {
    var i = start
    for _ in 0..<mostSegments where i + 3 < bytes.count {
      guard bytes[i] == 0xFF else { return nil }
      switch bytes[i + 1] {
      case 0xFF: i += 1  // a fill byte
      case 0xDA: return i
      case 0xC0...0xCF, 0xDB, 0xDD, 0xE0...0xFE:
        let length = Int(bytes[i + 2]) << 8 | Int(bytes[i + 3])
        guard length >= 2 else { return nil }
        i += 2 + length
      default: return nil
      }
    }
    return nil
  }

  /// Behind EOI.
  private static func end(_ bytes: [UInt8], from scan: Int) -> Int {
    var i = scan
    while i + 1 < bytes.count {
      if bytes[i] == 0xFF, bytes[i + 1] == 0xD9 { return i + 2 }
      i += 1
    }
    return bytes.count
  }
}
