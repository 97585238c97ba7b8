import CPictures
import Metadata
import Raster
import TestPictures
import Testing

@testable import Codecs

/// What the segments before the picture say.
@Suite struct JPEGSegmentTests {
  static let picture = Picture(CPIC_PHOTO, 64, 48)
  static let plain = JPEGFile(picture.jpeg())
  static let profile = iccProfile(CPIC_ICC_DISPLAY_P3, atLeast: 3000)

  private static func parts(_ count: Int) -> [ArraySlice<UInt8>] {
    let size = (profile.count + count - 1) / count
    return (0..<count).map { profile[$0 * size..<min(profile.count, ($0 + 1) * size)] }
  }

  private func decoder(_ segments: [JPEGFile.Segment], keepsMetadata: Bool = false) throws -> JPEGDecoder {
    try JPEGDecoder(
      source: Bytes(Self.plain.adding(segments).bytes), options: ReadingOptions(metadataCopies: keepsMetadata ? 1 : 0))
  }

  // MARK: ICC

  @Test func profilesInAnyOrder() throws {
    let parts = Self.parts(4)
    let segments = (1...4).map { JPEGFile.Segment.icc($0, of: 4, parts[$0 - 1]) }
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [0, 0, 1, 2, 3, 3], [0, 1, 2, 3, 0, 1, 2, 3]] {
      let header = try decoder(order.map { segments[$0] }).header
      #expect(header.iccProfile == Self.profile && header.notes.isEmpty, "\(order): \(header.notes)")
    }
    let empty = try decoder(segments[..<3] + [.icc(4, of: 5, parts[3]), .icc(5, of: 5, [])]).header
    #expect(empty.iccProfile.isEmpty)
    let padded = try decoder((1...4).map { .icc($0, of: 5, parts[$0 - 1]) } + [.icc(5, of: 5, [])]).header
    #expect(padded.iccProfile == Self.profile && padded.notes.isEmpty)
  }

  @Test func profilesThatAreNotWhole() throws {
    let parts = Self.parts(4)
    func segment(_ number: Int, of count: Int = 4) -> JPEGFile.Segment {
      .icc(number, of: count, parts[(number + 3) % 4])
    }
    let large = (1...140).map { JPEGFile.Segment.icc($0, of: 140, [UInt8](repeating: 1, count: 65000)) }
    let cases: [(String, [JPEGFile.Segment])] = [
      ("segment 3 of 4 is missing", [segment(1), segment(2), segment(4)]),
      ("segment 1 of 4 is missing", [segment(4)]),
      (
        "segment 2 of 4 is there twice, with different contents",
        [segment(1), segment(2), .icc(2, of: 4, parts[1].reversed()), segment(3), segment(4)]
      ),
      (
        "segment 2 of 4 is there twice, with different contents",
        [segment(1), segment(2), .icc(2, of: 4, parts[1].dropLast()), segment(3), segment(4)]
      ),
      ("its segments are numbered wrongly", [segment(1), segment(2), segment(3), segment(4, of: 5)]),
      ("its segments are numbered wrongly", [segment(5)]),
      ("its segments are numbered wrongly", [segment(0)]),
      ("its segments are numbered wrongly", [.icc(0, of: 0, parts[0])]),
      ("it is empty", [.icc(1, of: 1, [])]),
      ("it is larger than 8 MB", large),
    ]
    for (cause, segments) in cases {
      let header = try decoder(segments).header
      #expect(header.iccProfile.isEmpty)
      #expect(header.notes == ["the ICC profile was left out: \(cause)"])
    }
  }

  @Test func otherAPP2SegmentsAreNoProfile() throws {
    for body in [[], Array("ICC_PROFILE\0".utf8), Array("FPXR\0\0".utf8), Array("ICC".utf8)] {
      let header = try decoder([.init(0xE2, body)]).header
      #expect(header.iccProfile.isEmpty && header.notes.isEmpty)
    }
  }

  // MARK: More than one picture

  private static let ultraHDR = "the gain map (Ultra HDR) is not used: the picture is made from its SDR base"

  @Test func gainMapsAreNamed() throws {
    let padding = String(repeating: " ", count: 700)
    // On the borders of what is looked through at once, too.
    for shift in 0..<40 {
      let xmp = padding.dropLast(shift * 5) + "<rdf:Description hdrgm:Version=\"1.0\"/>" + padding
      for keeps in [false, true] {
        #expect(try decoder([.xmp(String(xmp))], keepsMetadata: keeps).header.notes == [Self.ultraHDR])
      }
    }
    #expect(try decoder([.xmp("<Container:Item Item:Semantic=\"GainMap\"/>")]).header.notes == [Self.ultraHDR])
    #expect(try decoder([.xmp("<Container:Item Item:Semantic=\"Primary\"/>")]).header.notes.isEmpty)
    let iso = JPEGFile.Segment(0xE2, Array("urn:iso:std:iso:ts:21496:-1\0".utf8) + [0, 0, 0, 0])
    #expect(
      try decoder([iso]).header.notes
        == ["the gain map (ISO 21496-1) is not used: the picture is made from its SDR base"])
    let two = JPEGFile.Segment.pictures([(0x030000, 0), (0, 100)], bigEndian: true)
    #expect(try decoder([iso, .xmp("hdrgm:Version"), two]).header.notes == [Self.ultraHDR])
  }

  @Test(arguments: [false, true]) func secondPictures(bigEndian: Bool) throws {
    func notes(_ pictures: [(type: UInt32, offset: UInt32)], _ second: [JPEGFile.Segment] = []) throws -> [String] {
      let index = JPEGFile.Segment.pictures(pictures, bigEndian: bigEndian)
      let first = Self.plain.adding([.init(0xE5, [1, 2, 3]), index]).bytes
      // Offsets count from the index's own beginning: after two bytes, a segment of 7, and the index's 8 bytes before it.
      let start = 2 + 7 + 8
      let offset = UInt32(first.count - start)
      let placed = JPEGFile.Segment.pictures(
        pictures.map { ($0.type, $0.offset == 1 ? offset : $0.offset) }, bigEndian: bigEndian)
      let others = pictures.count > 1 ? Self.plain.adding(second).bytes : []
      let whole = Self.plain.adding([.init(0xE5, [1, 2, 3]), placed]).bytes + others
      let decoder = try JPEGDecoder(source: Bytes(whole, atMost: 5000))
      _ = try decoder.begin(target: decoder.header.codedSize, threads: 1)
      while try decoder.nextBand() != nil {}
      #expect(decoder.warnings.isEmpty, "\(decoder.warnings)")
      return decoder.header.notes
    }
    let mpo = ["a second picture (MPO) is not used"]
    #expect(try notes([(0x030000, 0)]).isEmpty)
    #expect(try notes([(0x030000, 0), (0x020002, 1)]) == mpo)
    #expect(try notes([(0x030000, 0), (0, 1), (0, 1)]) == mpo)
    #expect(try notes([(0x030000, 0), (0x010001, 1), (0x010002, 1)]).isEmpty)
    #expect(try notes([(0x030000, 0), (0x010001, 1), (0x020002, 1)]) == mpo)
    #expect(try notes([(0x030000, 0), (0, .max)]) == mpo)
    let apple = "<rdf:Description HDRGainMap:HDRGainMapVersion=\"65536\"/>"
    #expect(
      try notes([(0x030000, 0), (0, 1)], [.xmp(apple)])
        == ["the gain map (Apple) is not used: the picture is made from its SDR base"])
    #expect(try notes([(0x030000, 0), (0, 1)], [.xmp("<a hdrgm:Version=\"1.0\"/>")]) == [Self.ultraHDR])
  }

  /// Whatever an index says, it is read within its bounds.
  @Test func brokenIndexes() throws {
    let whole = JPEGFile.Segment.pictures([(0x030000, 0), (0, 100)], bigEndian: false)
    var generator = Noise(5)
    for round in 0..<600 {
      var body = whole.body
      if round < body.count {
        body = Array(body[..<round])
      } else {
        for _ in 0..<3 {
          body[Int.random(in: 4..<body.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
      }
      _ = try decoder([.init(0xE2, body)]).header
    }
  }

  // MARK: Metadata

  private static let tiff = Array("II*\0".utf8) + [8, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  private static let captions: [UInt8] = [0x1C, 2, 120, 0, 5] + Array("hello".utf8)

  @Test func metadataAreHandedOverOnce() throws {
    let resources =
      photoshopResource(0x03ED, name: "odd", [1, 2, 3]) + photoshopResource(0x0404, Self.captions)
      + photoshopResource(0x0404, [9])
    for cut in [0, 1, 5, 20, 40, resources.count] {
      let segments: [JPEGFile.Segment] = [
        .exif(Self.tiff), .exif([1, 2, 3]), .xmp("<x/>"), .xmp("<second/>"), .photoshop(resources[..<cut]),
        .photoshop(resources[cut...]), .init(0xED, [1, 2]),
      ]
      let decoder = try decoder(segments, keepsMetadata: true)
      #expect(decoder.header.notes.isEmpty)
      let metadata = try decoder.takeMetadata()
      #expect(metadata == ImageMetadata(exif: Self.tiff, xmp: Array("<x/>".utf8), iptc: Self.captions))
      #expect(try decoder.takeMetadata().isEmpty)
      let other = try self.decoder(segments)
      #expect(try other.takeMetadata().isEmpty)
    }
  }

  @Test func metadataAfterTheBeginningAreGone() throws {
    let decoder = try decoder([.xmp("<x/>")], keepsMetadata: true)
    _ = try decoder.begin(target: decoder.header.codedSize, threads: 1)
    #expect(try decoder.takeMetadata().isEmpty)
  }

  @Test func whatIsLeftOutOfMetadataIsSaid() throws {
    let extended = JPEGFile.Segment(0xE1, Array("http://ns.adobe.com/xmp/extension/\0".utf8) + [1, 2, 3])
    #expect(try decoder([extended]).header.notes.isEmpty)
    #expect(
      try decoder([extended], keepsMetadata: true).header.notes
        == ["the extended XMP was left out: only the main packet is kept"])
    let large = [UInt8](repeating: 0, count: 65000)
    let many =
      [JPEGFile.Segment.photoshop(photoshopResource(0x0404, Self.captions))] + (0..<20).map { _ in .photoshop(large) }
    #expect(try decoder(many).header.notes.isEmpty)
    let decoder = try decoder(many, keepsMetadata: true)
    #expect(decoder.header.notes == ["Photoshop's resources are larger than 1 MB: IPTC among them may be left out"])
    #expect(try decoder.takeMetadata().iptc == Self.captions)
  }

  @Test func brokenPhotoshopResources() {
    let whole = photoshopResource(0x03ED, name: "name", [1, 2, 3]) + photoshopResource(0x0404, Self.captions)
    for count in 0...whole.count {
      Array(whole[..<count]).withUnsafeBufferPointer {
        let iptc = PhotoshopResources.iptc(in: $0)
        #expect(iptc == (count == whole.count ? Self.captions : []), "\(count)")
      }
    }
    var generator = Noise(9)
    for _ in 0..<2000 {
      var bytes = whole
      bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      bytes.withUnsafeBufferPointer { _ = PhotoshopResources.iptc(in: $0) }
    }
  }
}
