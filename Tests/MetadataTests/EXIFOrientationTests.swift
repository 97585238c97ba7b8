import CPictures
import Metadata
import Raster
import TestPictures
import Testing

@Suite struct EXIFOrientationTests {
  private func find(_ bytes: [UInt8]) -> Orientation { bytes.withUnsafeBufferPointer { EXIFOrientation.find(in: $0) } }

  /// A directory of the entries given, each a tag, a type and the value's four bytes as they lie in the file.
  private func tiff(bigEndian: Bool, _ entries: [(tag: Int, type: Int, value: [UInt8])]) -> [UInt8] {
    func number(_ value: Int, _ bytes: Int) -> [UInt8] {
      let little = (0..<bytes).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
      return bigEndian ? little.reversed() : little
    }
    var result: [UInt8] = bigEndian ? [0x4D, 0x4D] : [0x49, 0x49]
    result += number(42, 2) + number(8, 4) + number(entries.count, 2)
    for entry in entries { result += number(entry.tag, 2) + number(entry.type, 2) + number(1, 4) + entry.value }
    return result + number(0, 4)
  }

  private func value(_ number: UInt8, bytes: Int, bigEndian: Bool) -> [UInt8] {
    let field =
      bigEndian
      ? [UInt8](repeating: 0, count: bytes - 1) + [number] : [number] + [UInt8](repeating: 0, count: bytes - 1)
    return field + [UInt8](repeating: 0, count: 4 - bytes)
  }

  @Test(arguments: [false, true])
  func shortAndLong(bigEndian: Bool) {
    for number: UInt8 in 1...8 {
      for (type, bytes) in [(3, 2), (4, 4)] {
        let entry = (tag: 0x0112, type: type, value: value(number, bytes: bytes, bigEndian: bigEndian))
        let file = tiff(bigEndian: bigEndian, [(0x010F, 2, [65, 0, 0, 0]), entry, (0x011A, 5, [0, 0, 0, 0])])
        #expect(find(file) == Orientation(rawValue: Int(number)))
        for count in 0..<file.count { _ = find(Array(file[..<count])) }
      }
    }
  }

  @Test func invalidIsUp() {
    for number: UInt8 in [0, 9, 255] {
      #expect(find(tiff(bigEndian: false, [(0x0112, 3, value(number, bytes: 2, bigEndian: false))])) == .up)
    }
    #expect(find([]) == .up)
    #expect(find(tiff(bigEndian: true, [])) == .up)
    #expect(find([0x49, 0x49, 42, 0, 255, 255, 255, 255]) == .up)
    #expect(find([0x4D, 0x4D, 0, 42, 255, 255, 255, 255]) == .up)
    #expect(find([0x49, 0x49, 42, 0, 8, 0, 0, 0, 255, 255, 1, 2, 3]) == .up)
    #expect(find(Array("XX".utf8) + [42, 0, 8, 0, 0, 0, 1, 0]) == .up)
  }

  /// Orientations follow one another as the pictures do.
  @Test func compositionIsThatOfPictures() throws {
    let picture = Picture(CPIC_NOISE, 5, 3)
    for first in Orientation.allCases {
      for second in Orientation.allCases {
        let twice = picture.oriented(first.rawValue).oriented(second.rawValue)
        let once = picture.oriented(first.followed(by: second).rawValue)
        #expect(twice.largestDifference(from: once) == 0, "\(first) and \(second)")
      }
    }
  }
}
