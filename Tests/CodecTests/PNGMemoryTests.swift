import Budget
import CPNG
import CPictures
import Raster
import TestPictures
import Testing

@testable import Codecs

@Suite struct PNGMemoryTests {
  /// Never less than what is counted, and hardly more.
  private func check(planned: Int, counted: Int, _ what: String, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(counted <= planned, "\(what)", sourceLocation: sourceLocation)
    #expect(planned <= counted + 64 << 10 + counted / 10, "\(what): \(counted)", sourceLocation: sourceLocation)
  }

  @Test(arguments: [(0, 1), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 8), (4, 8), (4, 16), (6, 8), (6, 16)])
  func whatDecodingHolds(type: Int32, bits: Int32) throws {
    let channels = [0: 1, 2: 3, 3: 3, 4: 2, 6: 4][Int(type)]!
    for width in [1, 2, 7, 8, 9, 100, 1001, 30_000, 100_000] {
      for interlaced in [false, true] {
        for hasKey in [false, true] where !hasKey || type == 0 || type == 2 {
          let picture = Picture(CPIC_GRADIENT, width, 9, channels: channels, bits: bits == 16 ? 16 : 8)
          let file = picture.png {
            $0.colour_type = type
            $0.bits = bits
            $0.interlaced = interlaced
            $0.has_key = hasKey
          }
          for inflating in [CPNG_INFLATE_BY_ZLIB, CPNG_INFLATE_BY_ISAL] {
            if inflating == CPNG_INFLATE_BY_ISAL && !cpng_has_isal() { continue }
            let decoder = try PNGDecoder(source: Bytes(file, atMost: 1 << 20), inflating: inflating)
            let strategy = decoder.planner.strategies(target: decoder.header.codedSize, threads: 1)[0]
            _ = try decoder.begin(target: decoder.header.codedSize, threads: 1)
            while try decoder.nextBand() != nil {}
            let what = "\(width) of \(type), \(bits) bits, interlaced \(interlaced)"
            if inflating == CPNG_INFLATE_BY_ZLIB {
              check(planned: strategy.held.totalBytes, counted: decoder.mostHeld, what)
            } else {
              // The library's pages are not the reader's, and libpng's buffer and zlib's window are smaller than planned.
              let planned = strategy.held.totalBytes - PNGPlanner.libraryBytes
              let slack = 128 << 10 + decoder.mostHeld / 10
              #expect(decoder.mostHeld <= planned && planned <= decoder.mostHeld + slack, "\(what), ISA-L")
            }
          }
        }
      }
    }
  }

  @Test func whatDecodingMayNotHold() throws {
    let decoder = try PNGDecoder(source: Bytes(Picture(CPIC_GRADIENT, 5000, 2, channels: 4).png()))
    var strategy = decoder.planner.strategies(target: decoder.header.codedSize, threads: 1)[0]
    strategy.held = [MemoryUse("too little", 60_000)]
    let resources = DecodingResources { () throws(DownsampleError) in throw DownsampleError(.inputOutput, "none") }
    let error = #expect(throws: DownsampleError.self) {
      _ = try decoder.begin(strategy, resources: resources)
      while try decoder.nextBand() != nil {}
    }
    #expect(error?.code == .overBudget && error?.message.contains("60000 are allowed") == true)
  }

  @Test func whatEncodingHolds() throws {
    for width in [1, 2, 100, 1001, 30_000, 100_000] {
      for color in [EncodedLayout.Color.gray, .rgb] {
        for (hasAlpha, type) in [(false, SampleType.uint8), (true, .uint8), (false, .uint16), (true, .uint16)] {
          let layout = EncodedLayout(
            size: PixelSize(width: width, height: 20), color: color, hasAlpha: hasAlpha, sampleType: type)
          let bytesPerRow = layout.planes[0].bytesPerRow
          for profile in [[], iccProfile(color == .gray ? CPIC_ICC_GRAY : CPIC_ICC_SRGB, atLeast: 300_000)] {
            let encoder = try PNGEncoder(
              layout: layout, settings: EncoderSettings(quality: 90, iccProfile: profile), sink: Collected())
            let row = [UInt8](repeating: 9, count: bytesPerRow)
            for _ in 0..<20 { try row.withUnsafeBytes { try encoder.write($0.baseAddress!, plane: 0) } }
            try encoder.finish()
            #expect(encoder.hasICCProfile == !profile.isEmpty)
            let planned = PNGEncoder.memory(
              layout: layout, settings: EncoderSettings(quality: 90, iccProfile: profile)
            ).totalBytes
            // zlib takes smaller windows for few bytes, and the profile is gone when rows come.
            if profile.isEmpty && bytesPerRow * 20 > 1 << 16 {
              check(planned: planned, counted: encoder.mostHeld, "\(layout)")
            } else {
              #expect(encoder.mostHeld <= planned, "\(layout)")
            }
          }
        }
      }
    }
  }

  // MARK: Metadata

  private func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] { PNGChunks.Chunk(type, data).bytes }
  private func bigEndian(_ value: UInt32) -> [UInt8] { PNGChunks.bigEndian(value) }

  /// A small picture's file with chunks put in behind its header.
  private func png(with chunks: [UInt8]) -> [UInt8] {
    var file = Picture(CPIC_GRADIENT, 8, 8, channels: 3).png()
    file.insert(contentsOf: chunks, at: 33)
    return file
  }

  private func decoded(_ file: [UInt8]) throws -> PNGDecoder {
    let decoder = try PNGDecoder(source: Bytes(file, atMost: 1 << 20))
    _ = try decoder.begin(target: decoder.header.codedSize, threads: 1)
    while try decoder.nextBand() != nil {}
    return decoder
  }

  private static let exif: [UInt8] = [
    0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0,
  ]

  @Test(arguments: ["iCCP", "eXIf", "tEXt", "zTXt", "iTXt", "sPLT", "cICP", "hIST", "prVt"])
  func largeChunksArePassedOver(type: String) throws {
    let large = chunk(type, [UInt8](repeating: 65, count: 9_000_000))
    let file = png(with: large + chunk("eXIf", Self.exif))
    let header = try decoded(file).header
    #expect(header.iccProfile.isEmpty && header.codedColor == nil)
    // Of two eXIf chunks the first counts, and of that one the beginning.
    #expect(header.orientation == (type == "eXIf" ? .up : .right))
  }

  @Test func manyChunksDoNotAddUp() throws {
    var chunks: [UInt8] = []
    for type in ["tEXt", "cICP", "eXIf", "iCCP", "prVt", "tIME"] {
      for _ in 0..<3000 { chunks += chunk(type, [UInt8](repeating: 65, count: 40)) }
    }
    let decoder = try decoded(png(with: chunks))
    #expect(decoder.mostHeld < 80_000)
  }

  @Test func theBeginningOfLongEXIFIsRead() throws {
    let long = Self.exif + [UInt8](repeating: 0, count: 300_000)
    #expect(try decoded(png(with: chunk("eXIf", long))).header.orientation == .right)
  }

  @Test func damagedMetadataIsLeftOut() throws {
    var damaged = chunk("eXIf", Self.exif)
    damaged[20] ^= 1
    #expect(try decoded(png(with: damaged)).header.orientation == .up)
    #expect(try decoded(png(with: damaged + chunk("eXIf", Self.exif))).header.orientation == .right)
    var color = chunk("cICP", [9, 16, 0, 1])
    color[8] ^= 1
    #expect(try decoded(png(with: color)).header.codedColor == nil)
    #expect(try decoded(png(with: color + chunk("cICP", [12, 13, 0, 1]))).header.codedColor?.primaries == 12)
  }

  /// A file that ends within a chunk that is passed over.
  @Test func everyPrefixIsRefused() throws {
    let file = png(with: chunk("eXIf", Self.exif) + chunk("tEXt", Array("a\0b".utf8)) + chunk("cICP", [12, 13, 0, 1]))
    // Every row is there without the checksums of the chunk and of zlib.
    let end = file.count - 12 - 8
    for count in 0..<end {
      let error = #expect(throws: DownsampleError.self) { _ = try decoded(Array(file[..<count])) }
      #expect(error?.code == .damagedData, "\(count) of \(file.count)")
    }
  }

  @Test func profilesOfUpToEightMegabytes() throws {
    let picture = Picture(CPIC_GRADIENT, 8, 8, channels: 3)
    let profile = iccProfile(CPIC_ICC_SRGB, atLeast: 8 << 20 - 1000)
    #expect(profile.count <= 8 << 20)
    let decoder = try decoded(picture.png(icc: profile))
    #expect(decoder.header.iccProfile == profile && decoder.mostHeld < 80_000)
  }

  /// A compressed profile that grows to more than it says, and one that says that it is too large: neither is inflated beyond
  /// what it says, and the most.
  @Test(arguments: [500, 30 << 20]) func profilesThatGrow(claimed: Int) throws {
    var profile = iccProfile(CPIC_ICC_SRGB, atLeast: 500)
    profile.replaceSubrange(0..<4, with: bigEndian(UInt32(claimed == 500 ? profile.count : claimed)))
    // A picture of one row, with a filter byte of 0 before it, is compressed as a profile is, whose first byte is 0.
    let carrier = Picture(900_000, 1, channels: 1) { x, _, _ in x + 1 < profile.count ? Int(profile[x + 1]) : 0 }
    let file = carrier.png { $0.filter = 0 }
    var data = Array("bomb\0\0".utf8)
    var at = 33
    while at < file.count {
      let length = file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      if file[at + 4..<at + 8].elementsEqual("IDAT".utf8) { data += file[at + 8..<at + 8 + length] }
      at += 12 + length
    }
    #expect(data.count < 20_000)
    let found = try decoded(png(with: chunk("iCCP", data))).header.iccProfile
    #expect(found.isEmpty || claimed == 500 && found == profile)
  }
}
