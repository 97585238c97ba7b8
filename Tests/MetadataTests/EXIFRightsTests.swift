import Testing

@testable import Metadata

@Suite struct EXIFRightsTests {
  private typealias Entry = TIFFBuilder.Entry

  @Test(arguments: [false, true])
  func artistAndCopyrightAlone(isBigEndian: Bool) throws {
    let bytes = TIFFBuilder.build(
      [
        Entry(0x010F, .ascii("A camera")), Entry(0x0112, .short(6)), Entry(0x013B, .ascii("Ann")),
        Entry(0x8298, .ascii("someone, 2026")), Entry(0x8825, .directory([Entry(2, .rationals(3))])),
      ], isBigEndian: isBigEndian, thumbnail: preview)
    let rights = try #require(EXIFRights.extract(from: bytes))
    #expect(
      rights
        == TIFFBuilder.build([Entry(0x013B, .ascii("Ann")), Entry(0x8298, .ascii("someone, 2026"))]))
  }

  @Test func nothingToKeep() {
    #expect(EXIFRights.extract(from: TIFFBuilder.build([Entry(0x010F, .ascii("A camera"))])) == [])
    // As cameras write it where nobody has set it.
    #expect(EXIFRights.extract(from: TIFFBuilder.build([Entry(0x013B, .ascii("          "))])) == [])
    #expect(EXIFRights.extract(from: TIFFBuilder.build([Entry(0x013B, .long(7))])) == [])
    #expect(EXIFRights.extract(from: Array("II".utf8)) == nil)
  }

  @Test func everyPrefix() {
    let bytes = TIFFBuilder.build([Entry(0x013B, .ascii("someone")), Entry(0x8298, .ascii("someone, 2026"))])
    for count in 0..<bytes.count { _ = EXIFRights.extract(from: Array(bytes[..<count])) }
  }
}
