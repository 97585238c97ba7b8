import Testing

@testable import Metadata

@Suite struct IPTCTests {
  private func dataSet(_ record: UInt8, _ number: UInt8, _ value: [UInt8]) -> [UInt8] {
    [0x1C, record, number, UInt8(value.count >> 8), UInt8(value.count & 255)] + value
  }

  private func dataSet(_ record: UInt8, _ number: UInt8, _ value: String) -> [UInt8] {
    dataSet(record, number, Array(value.utf8))
  }

  private var rights: [UInt8] {
    dataSet(1, 90, [0x1B, 0x25, 0x47]) + dataSet(2, 0, [0, 4]) + dataSet(2, 80, "someone")
      + dataSet(2, 110, "an agency")
      + dataSet(2, 116, "someone, 2026")
  }

  @Test func allIsKept() {
    let bytes = rights + dataSet(2, 90, "a city") + dataSet(2, 120, "a caption")
    #expect(IPTCEditor.edit(bytes, rightsOnly: false) == bytes)
    #expect(IPTCEditor.edit(bytes + [0, 0, 0], rightsOnly: false) == bytes)
    #expect(IPTCEditor.edit([], rightsOnly: false) == [])
  }

  @Test func previewsAreNot() {
    let bytes = rights + dataSet(2, 200, [0, 11]) + dataSet(2, 201, [0, 1]) + dataSet(2, 202, preview)
    #expect(IPTCEditor.edit(bytes, rightsOnly: false) == rights)
    // As long as some write them: an extended length.
    let extended: [UInt8] = [0x1C, 2, 202, 0x80, 4, 0, 1, 0, 0] + [UInt8](repeating: 5, count: 65536)
    #expect(IPTCEditor.edit(extended + rights, rightsOnly: false) == rights)
  }

  @Test func rightsAlone() {
    let bytes = dataSet(1, 20, "x") + dataSet(2, 90, "a city") + rights + dataSet(2, 120, "a caption")
    #expect(IPTCEditor.edit(bytes, rightsOnly: true) == rights)
    #expect(IPTCEditor.edit(dataSet(1, 90, [0x1B, 0x25, 0x47]) + dataSet(2, 0, [0, 4]), rightsOnly: true) == [])
  }

  @Test func brokenData() {
    #expect(IPTCEditor.edit([1, 2, 3], rightsOnly: false) == nil)
    #expect(IPTCEditor.edit(rights + [7], rightsOnly: false) == nil)
    #expect(IPTCEditor.edit([0x1C, 2, 80, 0x80, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1], rightsOnly: false) == nil)
    #expect(IPTCEditor.edit([0x1C, 2, 80, 0x80, 4, 255, 255, 255, 255], rightsOnly: false) == nil)
    var whole = 0
    for count in 0..<rights.count {
      if let edited = IPTCEditor.edit(Array(rights[..<count]), rightsOnly: false) {
        whole += 1
        #expect(edited.isEmpty || edited == Array(rights[..<count]))
      }
    }
    // The beginnings of the data sets, and nothing.
    #expect(whole == 5)
  }
}
