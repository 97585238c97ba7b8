import CPNG
import CPictures
import Raster
import TestPictures
import Testing

@testable import Codecs

/// What is done with files that are cut short, broken or odd.
@Suite struct PNGDamageTests {
  private struct Outcome {
    var rows: [[UInt8]]
    var warnings: [String]
  }

  /// By zlib and by ISA-L, where there is one: the same is found.
  private func decode(_ file: [UInt8], salvages: Bool = false) throws -> Outcome {
    let byISAL = Result { try decode(file, salvages: salvages, inflating: CPNG_INFLATE_BY_ISAL) }
    let byZlib = Result { try decode(file, salvages: salvages, inflating: CPNG_INFLATE_BY_ZLIB) }
    switch (byISAL, byZlib) {
    case (.success(let one), .success(let other)):
      #expect(one.rows == other.rows && Self.withoutCauses(one.warnings) == Self.withoutCauses(other.warnings))
    case (.failure(let one as DownsampleError), .failure(let other as DownsampleError)):
      #expect(one.code == other.code && Self.withoutCauses([one.message]) == Self.withoutCauses([other.message]))
    default:
      Issue.record("\(byISAL) by ISA-L, \(byZlib) by zlib")
    }
    return try byISAL.get()
  }

  /// The inflaters have words of their own for what is wrong with the data.
  private static func withoutCauses(_ messages: [String]) -> [Substring] {
    messages.map { $0.prefix { $0 != "(" } }
  }

  private func decode(_ file: [UInt8], salvages: Bool, inflating: cpng_inflating) throws -> Outcome {
    let decoder = try PNGDecoder(
      source: Bytes(file, atMost: 1 << 20), options: ReadingOptions(salvages: salvages), inflating: inflating)
    let layout = try decoder.begin(target: decoder.header.codedSize, threads: 1)
    var rows: [[UInt8]] = []
    while let band = try decoder.nextBand() {
      let bytes = layout.planes[0].layout.bytesPerRow
      for y in 0..<band.planes[0].count {
        rows.append(
          Array(UnsafeRawBufferPointer(start: band.planes[0].samples + y * band.planes[0].stride, count: bytes)))
      }
    }
    return Outcome(rows: rows, warnings: decoder.warnings)
  }

  private func failure(_ file: [UInt8], salvages: Bool = false, sourceLocation: SourceLocation = #_sourceLocation)
    -> String
  {
    let error = #expect(throws: DownsampleError.self, sourceLocation: sourceLocation) {
      _ = try decode(file, salvages: salvages)
    }
    #expect(error?.code == .damagedData, sourceLocation: sourceLocation)
    return error?.message ?? ""
  }

  /// 100 rows of 50 bytes with a filter byte, stored as they are: where they lie in the file is known.
  private static let plain = Picture(50, 100, channels: 1) { x, y, _ in (x * 5 + y) % 256 }
  private static let file = plain.png {
    $0.compression = 0
    $0.filter = 0
  }
  /// Behind the signature, the header, the chunk's head, zlib's and the block's.
  private static func offset(ofRow row: Int) -> Int { 33 + 8 + 2 + 5 + row * 51 }

  @Test func filesThatAreCut() throws {
    #expect(failure(Array(Self.file[..<Self.offset(ofRow: 63)])).hasPrefix("the file ends after 63% of the rows;"))
    #expect(failure(Array(Self.file[..<(Self.offset(ofRow: 64) - 1)])).contains("after 63% of the rows"))
    #expect(failure(Array(Self.file[..<Self.offset(ofRow: 0)])).contains("before the first row"))
    #expect(failure(Array(Self.file[..<40])).contains("before the picture begins"))
    let found = try decode(Array(Self.file[..<Self.offset(ofRow: 63)]), salvages: true)
    #expect(found.warnings == ["the file ends after 63% of the rows: the rest is gray"])
    for y in 0..<100 {
      #expect(found.rows[y] == (0..<50).map { y < 63 ? UInt8(Self.plain[$0, y, 0]) : 128 }, "\(y)")
    }
    #expect(failure(Array(Self.file[..<Self.offset(ofRow: 0)]), salvages: true).contains("too little to salvage"))
  }

  @Test func brokenData() throws {
    // A filter that there is not; the checksum is right.
    var parts = PNGChunks(Self.file)
    let data = parts.index(of: "IDAT")
    parts.chunks[data].data[Self.offset(ofRow: 40) - 41] = 77
    #expect(failure(parts.file).hasPrefix("the data are damaged after 40% of the rows (bad adaptive filter value)"))
    #expect(try decode(parts.file, salvages: true).warnings.count == 1)
    // A block of zlib's that there is not.
    parts = PNGChunks(Self.file)
    parts.chunks[data].data[2] = 7
    #expect(failure(parts.file).contains("before the first row"))
  }

  @Test func wrongChecksums() throws {
    var parts = PNGChunks(Self.file)
    parts.chunks[parts.index(of: "IDAT")].checksum = 1
    #expect(failure(parts.file).hasPrefix("the data are damaged: the checksum of a chunk IDAT is wrong"))
    let salvaged = try decode(parts.file, salvages: true)
    #expect(salvaged.warnings.count == 1 && salvaged.warnings[0].contains("IDAT") && salvaged.rows.count == 100)
    #expect(salvaged.rows[99][0] == 99)

    parts = PNGChunks(Self.file)
    parts.chunks[0].checksum = 1
    #expect(failure(parts.file).contains("IHDR"))
    #expect(failure(parts.file, salvages: true).contains("IHDR"))

    parts = PNGChunks(Self.file)
    parts.chunks.insert(.init("tRNS", [0, 7], checksum: 1), at: 1)
    let found = try decode(parts.file)
    #expect(found.warnings == ["there is a chunk tRNS with a wrong checksum, left out"] && found.rows.count == 100)
  }

  @Test func harmlessOddities() throws {
    func warnings(_ change: (inout PNGChunks) -> Void) throws -> [String] {
      var parts = PNGChunks(Self.file)
      change(&parts)
      let found = try decode(parts.file)
      #expect(found.rows.count == 100)
      return found.warnings
    }
    #expect(try warnings { _ in }.isEmpty)
    #expect(try warnings { $0.chunks.removeLast() } == ["the file ends before its last chunk: every row is there"])
    #expect(try warnings { $0.chunks.append(.init("IDAT", [1, 2, 3])) }.isEmpty)
    let extra = ["the file holds more data than the picture has rows"]
    #expect(try warnings { $0.chunks[1].data += [1, 2, 3] } == extra)
    #expect(try warnings { $0.chunks.insert(.init("IDAT", [1, 2, 3]), at: 2) }.isEmpty)
    let rows = [UInt8](repeating: 0, count: 51 * 130)
    #expect(try warnings { $0.chunks[1].data = PNGChunks.stored(rows) } == extra)
    #expect(try decode(Self.file + [UInt8](repeating: 1, count: 500)).warnings.isEmpty)
    // What follows the last row's data is no chunk.
    var parts = PNGChunks(Self.file)
    let tail = Self.offset(ofRow: 100) - 41
    let rest = Array(parts.chunks[1].data[tail...])
    parts.chunks[1].data = Array(parts.chunks[1].data[..<tail])
    parts.chunks.removeLast()
    for salvages in [false, true] {
      let found = try decode(parts.file + [0xFF, 0xFF, 0xFF, 0xFF] + rest, salvages: salvages)
      #expect(found.warnings == ["the file ends before its last chunk: every row is there"])
      #expect(found.rows[99] == (0..<50).map { UInt8(Self.plain[$0, 99, 0]) })
    }
    for missing in 1...12 {
      #expect(try decode(Array(Self.file.dropLast(missing))).rows.count == 100)
    }
  }

  /// A picture or a clear refusal, never anything else, and what of it is salvaged is right as far as it goes.
  @Test(arguments: [0, 2, 4, 6], [false, true])
  func everyPrefix(type: Int32, interlaced: Bool) throws {
    let channels = [0: 1, 2: 3, 4: 2, 6: 4][Int(type)]!
    let picture = Picture(CPIC_NOISE, 13, 11, channels: channels)
    let file = picture.png {
      $0.compression = 6
      $0.interlaced = interlaced
      $0.idat_bytes = 100
    }
    let whole = try decode(file, salvages: true).rows
    var salvaged = 0
    for count in 8..<file.count {
      let prefix = Array(file[..<count])
      do {
        #expect(try decode(prefix).warnings.count == 1)
        // The end chunk, two checksums, and the end of a block of zlib's.
        #expect(count > file.count - 12 - 8 - 4)
      } catch let error as DownsampleError {
        #expect(error.code == .damagedData, "\(count): \(error)")
      }
      guard let found = try? decode(prefix, salvages: true) else { continue }
      salvaged += 1
      #expect(found.rows.count == 11 && found.warnings.count == 1, "\(count)")
      if !interlaced {
        let filling = [UInt8](repeating: channels % 2 == 0 ? 0 : 128, count: 13 * channels)
        #expect(zip(found.rows, whole).allSatisfy { $0 == $1 || $0 == filling }, "\(count)")
      }
    }
    #expect(salvaged > file.count / 3)
  }

  /// What is missing is taken from the pixels at the left and above that have come.
  @Test func interlacedPicturesAreSalvagedFromCoarsePasses() throws {
    let picture = Picture(64, 64, channels: 1) { x, y, _ in x + 3 * y }
    let file = picture.png {
      $0.interlaced = true
      $0.compression = 0
      $0.filter = 0
    }
    // Passes 1 to 6 are half of the pixels: 8 rows of 8, 8 of 8, 8 of 16, 16 of 16, 16 of 32, 32 of 32, and their filters.
    let sixPasses = 64 + 64 + 128 + 256 + 512 + 1024 + 8 + 8 + 8 + 16 + 16 + 32
    let found = try decode(Array(file[..<(48 + sixPasses)]), salvages: true)
    #expect(
      found.warnings == ["the file ends after 50% of the pixels, in pass 7 of 7: the rest is made of coarser passes"])
    for y in 0..<64 { #expect(found.rows[y] == (0..<64).map { UInt8($0 + 3 * (y & ~1)) }, "\(y)") }
    let first = try decode(Array(file[..<(48 + 72)]), salvages: true)
    for y in 0..<64 { #expect(first.rows[y] == (0..<64).map { UInt8(($0 & ~7) + 3 * (y & ~7)) }, "\(y)") }
    #expect(failure(Array(file[..<(48 + 72)])).contains("after 1% of the pixels, in pass 2 of 7"))
  }

  /// What an interlaced picture is held in is in the plan, and where that does not fit there is another way.
  @Test func theHeldPictureIsPlanned() throws {
    for (width, bits) in [(1, 8), (37, 16), (1000, 8)] {
      let file = Picture(CPIC_GRADIENT, width, 77, channels: 4, bits: bits).png { $0.interlaced = true }
      let decoder = try PNGDecoder(source: Bytes(file, atMost: 1 << 20), options: ReadingOptions(salvages: true))
      let strategies = decoder.planner.strategies(target: decoder.header.codedSize, threads: 1)
      #expect(strategies.count == 2 && strategies[0].layout.order == .topDown && strategies[1].layout.order == .adam7)
      _ = try decoder.begin(target: decoder.header.codedSize, threads: 1)
      while try decoder.nextBand() != nil {}
      #expect(decoder.mostHeld <= strategies[0].held.totalBytes)
      #expect(decoder.mostHeld + 100_000 > strategies[0].held.totalBytes)
    }
  }

  /// A header of 1,000,000 x 1,000,000 with a few rows takes no longer than the rows.
  @Test func hugeHeaders() throws {
    var parts = PNGChunks(Picture(1, 1, channels: 1) { _, _, _ in 0 }.png())
    parts.chunks[0].data.replaceSubrange(0..<8, with: PNGChunks.bigEndian(1_000_000) + PNGChunks.bigEndian(1_000_000))
    parts.chunks[1].data = PNGChunks.compressed([UInt8](repeating: 0, count: 1_000_001))
    #expect(failure(parts.file, salvages: true).contains("too little to salvage"))
  }

  /// An entry that the palette has not is black, in every way of decoding.
  @Test(arguments: [false, true], [false, true])
  func entriesBeyondThePalette(interlaced: Bool, hasAlpha: Bool) throws {
    let palette: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9]
    let picture = Picture(16, 8, channels: 3) { x, _, channel in Int(palette[x / 4 * 3 + channel]) }
    var parts = PNGChunks(
      picture.png(palette: palette) {
        $0.colour_type = 3
        $0.bits = 2
        $0.interlaced = interlaced
      })
    parts.chunks[parts.index(of: "PLTE")].data.removeLast(6)
    if hasAlpha { parts.chunks.insert(.init("tRNS", [7]), at: parts.index(of: "PLTE") + 1) }
    let rows = try decode(parts.file, salvages: true).rows
    let pixels = hasAlpha ? 4 : 3
    for (x, color) in [(0, [255, 0, 0, 7]), (5, [0, 255, 0, 255]), (9, [0, 0, 0, 255]), (15, [0, 0, 0, 255])] {
      #expect(Array(rows[3][x * pixels..<(x + 1) * pixels]) == color.prefix(pixels).map { UInt8($0) }, "\(x)")
    }
  }
}
