import CPNG
import CPictures
import Raster
import TestPictures
import Testing

@testable import Codecs

/// Inflating by ISA-L gives what zlib gives. Where the library is missing, both are zlib.
@Suite struct PNGInflaterTests {
  private struct Outcome: Equatable {
    var rows: [[UInt8]] = []
    var warnings: [String] = []
    var failure: String?
  }

  private func decode(
    _ file: [UInt8], _ inflating: cpng_inflating, salvages: Bool = false, atMost: Int = 1 << 20
  ) -> (Outcome, held: Int) {
    var outcome = Outcome()
    do {
      let decoder = try PNGDecoder(
        source: Bytes(file, atMost: atMost), options: ReadingOptions(salvages: salvages), inflating: inflating)
      let layout = try decoder.begin(target: decoder.header.codedSize, threads: 1)
      let bytes = layout.planes[0].layout.bytesPerRow
      while let band = try decoder.nextBand() {
        outcome.rows.append(Array(UnsafeRawBufferPointer(start: band.planes[0].samples, count: bytes)))
      }
      outcome.warnings = decoder.warnings
      return (outcome, decoder.mostHeld)
    } catch {
      outcome.failure = "\(error)"
      return (outcome, 0)
    }
  }

  private func checkSame(_ file: [UInt8], _ what: String, sourceLocation: SourceLocation = #_sourceLocation) {
    for atMost in [7, 1 << 20] {
      let one = decode(file, CPNG_INFLATE_BY_ISAL, atMost: atMost).0
      let other = decode(file, CPNG_INFLATE_BY_ZLIB, atMost: atMost).0
      #expect(one == other && one.failure == nil, "\(what)", sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: [(0, 1), (0, 8), (0, 16), (2, 8), (2, 16), (3, 2), (3, 8), (4, 16), (6, 8)], [false, true])
  func everyKindOfPicture(kind: (Int32, Int32), interlaced: Bool) {
    let (type, bits) = kind
    let channels = [0: 1, 2: 3, 3: 3, 4: 2, 6: 4][Int(type)]!
    // A row of a byte, some, and more than a block of what is handed to libpng.
    for width in [1, 77, 40_000] {
      for source in [CPIC_NOISE, CPIC_GRADIENT] where type != 3 || source == CPIC_GRADIENT {
        let picture = Picture(source, width, 9, channels: channels, bits: bits == 16 ? 16 : 8)
        for idat in [1, 100, 100_000] where idat > 1 || width < 100 {
          let file = picture.png {
            $0.colour_type = type
            $0.bits = bits
            $0.interlaced = interlaced
            $0.idat_bytes = Int32(idat)
          }
          checkSame(file, "\(width) wide, IDAT of \(idat)")
        }
      }
    }
  }

  private static let parts = PNGChunks(Picture(CPIC_NOISE, 300, 200, channels: 3).png { $0.compression = 6 })

  /// Chunks without data, other chunks between those with data, a stream in single bytes.
  @Test func dataInPieces() {
    var parts = Self.parts
    let data = parts.chunks.filter { $0.type == "IDAT" }.flatMap(\.data)
    parts.chunks.removeAll { $0.type == "IDAT" }
    var pieces: [PNGChunks.Chunk] = []
    var at = 0
    var size = 0
    while at < data.count {
      let end = min(data.count, at + size)
      pieces.append(.init("IDAT", Array(data[at..<end])))
      if size == 3 { pieces.append(.init("tEXt", Array("a\0b".utf8))) }
      (at, size) = (end, at < 3000 ? (size + 1) % 5 : 20_000)
    }
    pieces += [.init("IDAT", []), .init("IDAT", [])]
    parts.chunks.insert(contentsOf: pieces, at: 1)
    checkSame(parts.file, "pieces")
  }

  /// What zlib finds wrong in the first two bytes.
  @Test func headersOfStreams() {
    for (first, second) in [(0x88, 0x1C), (0x78, 0x9D), (0x79, 0x9B), (0x78, 0xBB), (0x18, 0x19)] {
      var parts = Self.parts
      let data = parts.index(of: "IDAT")
      parts.chunks[data].data.replaceSubrange(0..<2, with: [UInt8(first), UInt8(second)])
      let one = decode(parts.file, CPNG_INFLATE_BY_ISAL).0
      // A window of 512 bytes is too small here, which is no harm to ISA-L.
      if first != 0x18 { #expect(one.failure?.contains("before the first row") == true, "\(first), \(second)") }
    }
  }

  /// A stream that goes on for 200 MB behind the picture's rows is left there.
  @Test func dataBehindThePicture() throws {
    let carrier = PNGChunks(Picture(20_000, 10_000, channels: 1) { _, _, _ in 0 }.png { $0.filter = 0 })
    var parts = carrier
    parts.chunks[0].data.replaceSubrange(4..<8, with: PNGChunks.bigEndian(3))
    let found = decode(parts.file, CPNG_INFLATE_BY_ISAL)
    #expect(found.0.rows.count == 3 && found.0.failure == nil)
    #expect(found.0.warnings == ["the file holds more data than the picture has rows"])
    #expect(found.held < 400_000)
  }

  /// Rows before the damage are as they should be, and as many as zlib gives.
  @Test func damageAnywhere() {
    let file = Self.parts.file
    let whole = decode(file, CPNG_INFLATE_BY_ZLIB).0.rows
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var damaged = file
      damaged[Int.random(in: 60..<file.count, using: &random)] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
      for salvages in [false, true] {
        let one = decode(damaged, CPNG_INFLATE_BY_ISAL, salvages: salvages).0
        let other = decode(damaged, CPNG_INFLATE_BY_ZLIB, salvages: salvages).0
        #expect((one.failure == nil) == (other.failure == nil) && one.rows == other.rows)
        #expect(one.rows.count <= whole.count)
      }
    }
  }

  @Test func pipesThatEnd() {
    let file = Self.parts.file
    for count in stride(from: 100, to: file.count, by: 3001) {
      let one = decode(Array(file[..<count]), CPNG_INFLATE_BY_ISAL, salvages: true).0
      let other = decode(Array(file[..<count]), CPNG_INFLATE_BY_ZLIB, salvages: true).0
      #expect(one == other, "\(count)")
    }
  }
}
