import Raster
import Testing

@testable import Metadata

/// The bytes of a small JPEG as previews are found: the beginning, a segment, a scan, the end.
let preview: [UInt8] =
  [0xFF, 0xD8, 0xFF, 0xDB, 0, 4, 7, 7, 0xFF, 0xDA, 0, 2] + [UInt8](repeating: 0x77, count: 300) + [0xFF, 0xD9]

@Suite struct EXIFEditorTests {
  /// What a directory of edited data holds, read without the editor.
  private struct Read {
    var tiff: TIFFReader<[UInt8]>
    var entries: [Int: TIFFReader<[UInt8]>.Entry]

    init?(_ bytes: [UInt8], in path: [Int] = []) {
      guard let tiff = TIFFReader(bytes) else { return nil }
      self.tiff = tiff
      entries = [:]
      var offset = tiff.firstDirectory
      for tag in path + [0] {
        guard let (list, table) = tiff.directory(at: offset) else { return nil }
        guard tiff.long(at: table.upperBound - 4) == 0, list.map(\.tag) == list.map(\.tag).sorted() else { return nil }
        entries = Dictionary(uniqueKeysWithValues: list.map { ($0.tag, $0) })
        if tag != 0 {
          guard let entry = entries[tag], let next = tiff.number(entry) else { return nil }
          offset = next
        }
      }
    }

    func number(_ tag: Int) -> Int? { entries[tag].flatMap(tiff.number) }
    func bytes(_ tag: Int) -> [UInt8]? { entries[tag]?.value.map { Array(tiff.bytes[$0]) } }
  }

  private typealias Entry = TIFFBuilder.Entry

  private static let position: [UInt8] = Array("51 N, 13 E".utf8)
  private static let makerNote = (0..<200).map { UInt8($0 % 97) }

  private func camera(
    isBigEndian: Bool = false, makerNote: [UInt8]? = Self.makerNote, thumbnail: [UInt8] = preview,
    isThumbnailFirst: Bool = false
  ) -> [UInt8] {
    var exif = [
      Entry(0x829A, .rationals(1)), Entry(0x9101, .undefined([1, 2, 3, 0])), Entry(0x9102, .rationals(1)),
      Entry(0x9214, .bytes(type: 3, [0, 1, 0, 1, 0, 1, 0, 1])),
    ]
    if let makerNote { exif.append(Entry(0x927C, .undefined(makerNote))) }
    exif += [
      Entry(0xA001, .short(2)), Entry(0xA002, .long(4000)), Entry(0xA003, .short(3000)),
      Entry(
        0xA005,
        .directory([
          Entry(1, .ascii("R03")), Entry(0x1001, .short(4000)), Entry(0x1002, .long(3000)),
        ])),
      Entry(0xA431, .ascii("serial 1234")),
    ]
    return TIFFBuilder.build(
      [
        Entry(0x0100, .long(4000)), Entry(0x0101, .short(3000)), Entry(0x0102, .bytes(type: 3, [8, 0, 8, 0, 8, 0])),
        Entry(0x010F, .ascii("A camera")), Entry(0x0112, .short(6)), Entry(0x0213, .short(2)),
        Entry(0x8298, .ascii("someone")), Entry(0x8769, .directory(exif)),
        Entry(
          0x8825,
          .directory([
            Entry(0, .bytes(type: 1, [2, 3, 0, 0])), Entry(2, .rationals(3)), Entry(0x1C, .undefined(Self.position)),
          ])),
      ], isBigEndian: isBigEndian, thumbnail: thumbnail, isThumbnailFirst: isThumbnailFirst)
  }

  private func edit(
    _ bytes: [UInt8], stripsGPS: Bool = false, colorSpace: EXIFColorSpace = .kept
  ) throws -> [UInt8] {
    var result = try #require(EXIFEditor.edit(bytes, stripsGPS: stripsGPS))
    #expect(!result.hasDamage)
    result.complete(width: 640, height: 480, colorSpace: colorSpace)
    return result.bytes
  }

  private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    part.count <= bytes.count && (0...bytes.count - part.count).contains { bytes[$0...].starts(with: part) }
  }

  @Test(arguments: [false, true], [false, true])
  func allButWhatIsStale(isBigEndian: Bool, isThumbnailFirst: Bool) throws {
    let bytes = camera(isBigEndian: isBigEndian, isThumbnailFirst: isThumbnailFirst)
    let edited = try edit(bytes)
    let main = try #require(Read(edited))
    #expect(main.entries.keys.sorted() == [0x0100, 0x0101, 0x010F, 0x0112, 0x0213, 0x8298, 0x8769, 0x8825])
    #expect(main.number(0x0100) == 640 && main.number(0x0101) == 480)
    #expect(main.number(0x0112) == 1 && main.number(0x0213) == 1)
    #expect(main.bytes(0x010F) == Array("A camera\0".utf8))
    let exif = try #require(Read(edited, in: [0x8769]))
    #expect(
      exif.entries.keys.sorted() == [0x829A, 0x9101, 0x927C, 0xA001, 0xA002, 0xA003, 0xA005, 0xA431])
    #expect(exif.number(0xA002) == 640 && exif.number(0xA003) == 480 && exif.number(0xA001) == 2)
    let interoperability = try #require(Read(edited, in: [0x8769, 0xA005]))
    #expect(interoperability.number(0x1001) == 640 && interoperability.number(0x1002) == 480)
    #expect(Read(edited, in: [0x8825])?.bytes(0x1C) == Self.position)
    #expect(contains(bytes, preview) && !contains(edited, Array(preview[..<40])))
    // At the end it is cut off, elsewhere nothing moves.
    #expect(edited.count <= bytes.count - (isThumbnailFirst ? 0 : preview.count))
  }

  @Test func makerNotesStayWhereTheyAre() throws {
    let bytes = camera(isThumbnailFirst: true)
    let before = try #require(TIFFReader(bytes))
    let place = try #require((0..<bytes.count).first { bytes[$0...].starts(with: Self.makerNote) })
    let after = try #require(Read(try edit(bytes), in: [0x8769]))
    #expect(after.entries[0x927C]?.value == place..<place + Self.makerNote.count)
    #expect(after.bytes(0x927C) == Self.makerNote)
    #expect(before.isLittleEndian)
  }

  @Test func previewsWithinMakerNotesAreCleared() throws {
    let note = Self.makerNote + preview + Self.makerNote
    let after = try #require(Read(try edit(camera(makerNote: note, thumbnail: [])), in: [0x8769]))
    let zeros = [UInt8](repeating: 0, count: preview.count)
    #expect(after.bytes(0x927C) == Self.makerNote + zeros + Self.makerNote)
    // And those that are nothing else go as a whole.
    let exif = try #require(Read(try edit(camera(makerNote: preview)), in: [0x8769]))
    #expect(exif.entries[0x927C] == nil)
  }

  @Test(arguments: [false, true])
  func withoutPosition(isBigEndian: Bool) throws {
    let bytes = camera(isBigEndian: isBigEndian)
    #expect(contains(bytes, Self.position))
    let edited = try edit(bytes, stripsGPS: true)
    let main = try #require(Read(edited))
    #expect(main.entries[0x8825] == nil && main.number(0x0112) == 1)
    let exif = try #require(Read(edited, in: [0x8769]))
    #expect(exif.entries[0x927C] == nil)
    #expect(exif.bytes(0xA431) == Array("serial 1234\0".utf8))
    for part in [Self.position, Self.makerNote, Array(preview[..<40])] { #expect(!contains(edited, part)) }
  }

  /// Everything that no directory names goes with the position, whatever it is.
  @Test func nothingHiddenIsLeft() throws {
    let secret = Array("between the values".utf8)
    var bytes = camera(thumbnail: [])
    bytes += secret
    #expect(!contains(try edit(bytes, stripsGPS: true), secret))
    // Position tags where they do not belong.
    let odd = TIFFBuilder.build([
      Entry(2, .rationals(3)), Entry(0x010F, .ascii("A camera")),
      Entry(
        0x8769,
        .directory([Entry(0x1C, .undefined(Self.position)), Entry(0x8825, .directory([Entry(2, .rationals(3))]))])),
    ])
    let edited = try edit(odd, stripsGPS: true)
    #expect(Read(edited)?.entries.keys.sorted() == [0x010F])
    #expect(!contains(edited, Self.position) && !contains(edited, [0x5A, 0x5A, 0x5A]))
  }

  @Test func positionsInOddPlacesGo() throws {
    let rationals: [UInt8] = [0x5A, 0x5A, 0x5A]
    let interoperability = Entry(
      0xA005, .directory([Entry(1, .ascii("R98")), Entry(2, .rationals(3)), Entry(4, .rationals(3))]))
    for entry in [
      Entry(0x8769, .directory([interoperability])), Entry(0x8482, .rationals(6)), Entry(0x85D8, .rationals(16)),
    ] {
      let bytes = TIFFBuilder.build([Entry(0x010F, .ascii("A camera")), entry])
      #expect(contains(try edit(bytes), rationals))
      let edited = try edit(bytes, stripsGPS: true)
      #expect(!contains(edited, rationals))
      #expect(Read(edited)?.bytes(0x010F) == Array("A camera\0".utf8))
    }
    // Another value that lies over the position's.
    var bytes = TIFFBuilder.build([
      Entry(0x010E, .ascii("a description")), Entry(0x010F, .ascii("A camera")),
      Entry(0x8825, .directory([Entry(2, .rationals(3))])),
    ])
    let start = bytes.count - 24
    bytes.replaceSubrange(10 + 8..<10 + 12, with: [UInt8(start), 0, 0, 0])
    let result = try #require(EXIFEditor.edit(bytes, stripsGPS: true))
    #expect(result.hasDamage && !contains(result.bytes, rationals))
    #expect(Read(result.bytes)?.entries.keys.sorted() == [0x010F])
  }

  @Test func colorSpaceIsTheOutputs() throws {
    let bytes = camera()
    for (space, number, index) in [
      (EXIFColorSpace.kept, 2, "R03"), (.srgb, 1, "R98"), (.uncalibrated, 0xFFFF, "\0\0\0"),
    ] {
      let edited = try edit(bytes, colorSpace: space)
      #expect(Read(edited, in: [0x8769])?.number(0xA001) == number)
      #expect(Read(edited, in: [0x8769, 0xA005])?.bytes(1) == Array("\(index)\0".utf8))
    }
  }

  @Test func numbersOfOtherTypesAreLeftOut() throws {
    let bytes = TIFFBuilder.build([
      Entry(0x0100, .rationals(1)), Entry(0x0101, .bytes(type: 3, [1, 0, 2, 0])), Entry(0x010F, .ascii("A camera")),
      Entry(0x0112, .ascii("6")),
    ])
    #expect(Read(try edit(bytes))?.entries.keys.sorted() == [0x010F])
  }

  @Test func whatIsEmptyIsNotWritten() throws {
    #expect(try edit(TIFFBuilder.build([Entry(0x0103, .short(6))])).isEmpty)
    #expect(try edit(TIFFBuilder.build([])).isEmpty)
    let onlyPosition = TIFFBuilder.build([Entry(0x8825, .directory([Entry(2, .rationals(3))]))])
    #expect(try edit(onlyPosition, stripsGPS: true).isEmpty)
    // A directory of which nothing is left goes with what points to it.
    let bytes = TIFFBuilder.build([
      Entry(0x010F, .ascii("A camera")), Entry(0x8769, .directory([Entry(0x9102, .rationals(1))])),
    ])
    #expect(Read(try edit(bytes))?.entries.keys.sorted() == [0x010F])
  }

  @Test func brokenFirstDirectory() {
    let bytes = camera()
    #expect(EXIFEditor.edit([], stripsGPS: false) == nil)
    #expect(EXIFEditor.edit(Array(bytes[..<8]), stripsGPS: false) == nil)
    #expect(EXIFEditor.edit(Array(bytes[..<60]), stripsGPS: false) == nil)
    for offset in [0, 4, bytes.count, 0x7FFF_FFFF, 0xFFFF_FFFF] {
      var broken = bytes
      for i in 0..<4 { broken[4 + i] = UInt8(truncatingIfNeeded: offset >> (8 * i)) }
      #expect(EXIFEditor.edit(broken, stripsGPS: false) == nil)
    }
  }

  /// What lies outside or in circles is left out, and the rest is kept.
  @Test func brokenEntries() throws {
    let good = Entry(0x010F, .ascii("A camera"))
    for bad in [
      Entry(0x8769, .long(8)), Entry(0x8769, .long(12)), Entry(0x8769, .long(0xFFFF_FFF0)), Entry(0x8769, .ascii("?")),
      Entry(0x8298, .bytes(type: 99, [1, 2, 3, 4])),
    ] {
      let result = try #require(EXIFEditor.edit(TIFFBuilder.build([good, bad]), stripsGPS: false))
      #expect(result.hasDamage)
      #expect(Read(result.bytes)?.entries.keys.sorted() == [0x010F])
    }
    // A count that overflows, an offset outside, a value over the directory.
    for fields: [UInt8] in [
      [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], [5, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF], [8, 0, 0, 0, 12, 0, 0, 0],
    ] {
      var bytes = TIFFBuilder.build([good, Entry(0x8298, .ascii("someone"))])
      bytes.replaceSubrange(8 + 2 + 12 + 4..<8 + 2 + 12 + 12, with: fields)
      let result = try #require(EXIFEditor.edit(bytes, stripsGPS: false))
      #expect(result.hasDamage)
      #expect(Read(result.bytes)?.entries.keys.sorted() == [0x010F])
    }
  }

  @Test func everyPrefix() {
    let bytes = camera()
    for count in 0..<bytes.count {
      for stripsGPS in [false, true] {
        let result = EXIFEditor.edit(Array(bytes[..<count]), stripsGPS: stripsGPS)
        #expect(result.map { $0.bytes.count <= count } ?? true)
      }
    }
  }

  /// Whatever comes in, what goes out is well formed: editing it again finds no fault and changes nothing.
  @Test func mutations() {
    var random = SeededNumbers(state: 4711)
    let originals = [camera(), camera(isBigEndian: true, isThumbnailFirst: true), camera(makerNote: nil)]
    for _ in 0..<4000 {
      var bytes = originals.randomElement(using: &random)!
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let i = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[i] = .random(in: 0...255, using: &random)
        case 1:
          bytes[min(i, Int.random(in: 0..<200, using: &random))] = [0, 1, 8, 0x80, 0xFF].randomElement(using: &random)!
        case 2: bytes[i] ^= 1 << UInt8.random(in: 0...7, using: &random)
        default:
          let from = Int.random(in: 0..<bytes.count, using: &random)
          for k in 0..<min(12, bytes.count - max(i, from)) { bytes[i + k] = bytes[from + k] }
        }
      }
      let stripsGPS = Bool.random(using: &random)
      guard let once = EXIFEditor.edit(bytes, stripsGPS: stripsGPS), !once.bytes.isEmpty else { continue }
      let twice = EXIFEditor.edit(once.bytes, stripsGPS: stripsGPS)
      #expect(twice?.bytes == once.bytes && twice?.hasDamage == false)
    }
  }
}

/// Splitmix64, so that a failure comes again.
struct SeededNumbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
