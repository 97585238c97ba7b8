import CPictures
import Raster
import TestPictures
import Testing

@testable import Codecs

/// What a PNG says of its colour, by the precedence of the specification.
@Suite struct PNGColorTests {
  private static let plain = PNGChunks(Picture(CPIC_GRADIENT, 8, 8, channels: 3).png())
  private static let profile = iccProfile(CPIC_ICC_DISPLAY_P3)

  private static let cicp = PNGChunks.Chunk("cICP", [12, 13, 0, 1])
  private static let icc = PNGChunks.Chunk("iCCP", Array("p3\0\0".utf8) + PNGChunks.stored(profile))
  private static let srgb = PNGChunks.Chunk("sRGB", [0])
  private static func gamma(_ value: UInt32) -> PNGChunks.Chunk { .init("gAMA", PNGChunks.bigEndian(value)) }
  private static func chromaticities(_ values: [UInt32]) -> PNGChunks.Chunk {
    .init("cHRM", values.flatMap(PNGChunks.bigEndian))
  }
  private static let adobe: [UInt32] = [31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000]
  private static let ofSRGB: [UInt32] = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000]

  private func header(_ chunks: [PNGChunks.Chunk]) throws -> ImageHeader {
    try PNGDecoder(source: Bytes(Self.plain.with(chunks))).header
  }

  @Test func onlyTheFirstInPrecedenceIsTold() throws {
    let all = [Self.gamma(100_000), Self.chromaticities(Self.adobe), Self.srgb, Self.icc, Self.cicp]
    for order in [all, all.reversed()] {
      let first = try header(order)
      #expect(first.codedColor == .init(primaries: 12, transfer: 13, matrix: 0, isFullRange: true))
      #expect(first.iccProfile.isEmpty && first.calibration == nil && first.notes.isEmpty)
    }
    let second = try header(Array(all.prefix(4)))
    #expect(second.iccProfile == Self.profile && second.codedColor == nil && second.calibration == nil)
    let third = try header(Array(all.prefix(3)))
    #expect(third.codedColor == .srgb && third.calibration == nil)
    let last = try header(Array(all.prefix(2)))
    #expect(last.codedColor == nil && last.calibration?.gamma == 1)
    #expect(last.calibration?.chromaticities?[2] == .init(x: 0.21, y: 0.71))
    #expect(last.calibration?.chromaticities?.first == .init(x: 0.3127, y: 0.329))
    #expect(try header([]).calibration == nil)
  }

  @Test(arguments: [
    [2, 13, 0, 1], [12, 2, 0, 1], [12, 3, 0, 1], [0, 13, 0, 1], [12, 13, 1, 1], [12, 13, 0, 2], [13, 13, 0, 1],
  ])
  func codesThatSayNothingFallThrough(codes: [UInt8]) throws {
    let found = try header([.init("cICP", codes), Self.srgb])
    #expect(found.codedColor == .srgb && found.notes.count == 1 && found.notes[0].contains("cICP"))
    let profile = try header([.init("cICP", codes), Self.icc])
    #expect(profile.iccProfile == Self.profile && profile.codedColor == nil)
  }

  @Test func narrowRangeIsSaid() throws {
    #expect(try header([.init("cICP", [1, 13, 0, 0])]).codedColor?.isFullRange == false)
  }

  @Test func whatIsNearSRGB() throws {
    #expect(try header([Self.gamma(45455)]).codedColor == .srgb)
    #expect(try header([Self.gamma(45455), Self.chromaticities(Self.ofSRGB)]).codedColor == .srgb)
    #expect(try header([Self.gamma(45000), Self.chromaticities(Self.ofSRGB.map { $0 + 50 })]).codedColor == .srgb)
    #expect(try header([Self.chromaticities(Self.ofSRGB)]).codedColor == .srgb)
    #expect(try header([Self.gamma(55556)]).calibration == .init(gamma: 0.55556))
    #expect(try header([Self.gamma(45455), Self.chromaticities(Self.adobe)]).calibration?.gamma == 0.45455)
    #expect(try header([Self.chromaticities(Self.adobe)]).calibration?.gamma == nil)
  }

  @Test func nonsenseIsIgnored() throws {
    for chunk in [
      Self.gamma(0), Self.gamma(1), Self.gamma(.max), Self.chromaticities([UInt32](repeating: 0, count: 8)),
      Self.chromaticities([UInt32](repeating: .max, count: 8)),
      Self.chromaticities([31270, 32900, 10000, 10000, 20000, 20000, 30000, 30000]),
    ] {
      let found = try header([chunk])
      #expect(found.calibration == nil && found.codedColor == nil && found.notes.count == 1, "\(chunk.data)")
    }
    for (type, length) in [("gAMA", 3), ("gAMA", 5), ("cHRM", 31), ("sRGB", 0), ("sRGB", 2), ("cICP", 5), ("mDCV", 23)]
    {
      let found = try header([.init(type, [UInt8](repeating: 1, count: length))])
      #expect(found.calibration == nil && found.codedColor == nil && found.luminance == nil)
    }
  }

  /// A gray profile is none for RGB: what comes after it counts.
  @Test func profilesThatDoNotFitFallThrough() throws {
    let gray = PNGChunks.Chunk("iCCP", Array("gray\0\0".utf8) + PNGChunks.stored(iccProfile(CPIC_ICC_GRAY)))
    let found = try header([gray, Self.srgb])
    #expect(found.iccProfile.isEmpty && found.codedColor == .srgb && found.notes.count == 1)
    var damaged = Self.icc
    damaged.checksum = 7
    let decoder = try PNGDecoder(source: Bytes(Self.plain.with([damaged, Self.srgb])))
    #expect(decoder.header.iccProfile.isEmpty && decoder.header.codedColor == .srgb)
    #expect(decoder.warnings.count == 1 && decoder.warnings[0].contains("iCCP"))
  }

  /// libpng holds as much as a profile claims to have before it sees that there is less.
  @Test func profilesThatClaimTooMuchDoNotTakeThePictures() throws {
    var profile = Self.profile
    profile.replaceSubrange(0..<4, with: PNGChunks.bigEndian(5_000_000))
    let lying = PNGChunks.Chunk("iCCP", Array("p3\0\0".utf8) + PNGChunks.stored(profile))
    let decoder = try PNGDecoder(source: Bytes(Self.plain.with([lying, Self.srgb])))
    #expect(decoder.header.iccProfile.isEmpty && decoder.header.codedColor == .srgb)
    _ = try decoder.begin(target: decoder.header.codedSize, threads: 1)
    while try decoder.nextBand() != nil {}
  }

  @Test func damagedColourIsLeftOut() throws {
    var damaged = Self.srgb
    damaged.checksum = 7
    let decoder = try PNGDecoder(source: Bytes(Self.plain.with([damaged, Self.gamma(100_000)])))
    #expect(decoder.header.calibration?.gamma == 1)
    #expect(decoder.warnings == ["there is a chunk sRGB with a wrong checksum, left out"])
  }

  @Test(arguments: [("mDCV", "cLLI"), ("mDCv", "cLLi")])
  func luminance(names: (String, String)) throws {
    let mastering = PNGChunks.Chunk(
      names.0, [UInt8](repeating: 1, count: 16) + PNGChunks.bigEndian(10_000_000) + PNGChunks.bigEndian(50))
    let content = PNGChunks.Chunk(names.1, PNGChunks.bigEndian(6_000_000) + PNGChunks.bigEndian(1))
    #expect(try header([mastering, content]).luminance == .init(maximumContent: 600, masteringMaximum: 1000))
    #expect(try header([content]).luminance == .init(maximumContent: 600))
    #expect(try header([.init(names.1, [UInt8](repeating: 0, count: 8))]).luminance == nil)
  }

  /// Video's range becomes the full one: 16 is black and 235 white, of 16 bits 256 times that. Alpha has the full one.
  @Test(arguments: [8, 16], [false, true])
  func narrowRangeIsWidened(bits: Int, interlaced: Bool) throws {
    let unit = bits == 16 ? 256 : 1
    let full = bits == 16 ? 65535 : 255
    let values = [0, 16 * unit, 235 * unit, full, 126 * unit]
    for channels in 1...4 {
      let picture = Picture(5, 1, channels: channels, bits: bits) { x, _, _ in values[x] }
      let file = PNGChunks(picture.png { $0.interlaced = interlaced }).with([.init("cICP", [1, 13, 0, 0])])
      let options = ReadingOptions(salvages: true)
      let decoder = try PNGDecoder(source: Bytes(file), options: options)
      _ = try decoder.begin(target: decoder.header.codedSize, threads: 1)
      let row = try #require(try decoder.nextBand()?.planes.first)
      let got = (0..<5 * channels).map { i in
        bits == 8
          ? Int(row.samples.load(fromByteOffset: i, as: UInt8.self))
          : Int(row.samples.load(fromByteOffset: 2 * i, as: UInt16.self))
      }
      let expected = [0, 0, full, full, (110 * full + 109) / 219]
      for x in 0..<5 {
        for channel in 0..<channels {
          let isAlpha = channels % 2 == 0 && channel == channels - 1
          #expect(got[x * channels + channel] == (isAlpha ? values[x] : expected[x]), "\(x), \(channel) of \(channels)")
        }
      }
    }
  }

  @Test func animationsAreSaid() throws {
    #expect(
      try header([.init("acTL", [0, 0, 0, 1, 0, 0, 0, 0])]).notes == [
        "the animation is not used: only the default picture"
      ])
  }
}
