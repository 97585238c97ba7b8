import Budget
import CPictures
import Raster
import TestPictures
import Testing

@testable import Codecs

@Suite struct HEIFMemoryTests {
  static let picture = Picture(CPIC_PHOTO, 400, 300)

  private static func resources(
    _ mayGoOn: @escaping () throws(DownsampleError) -> Void
  ) -> DecodingResources {
    DecodingResources(
      openTemporaryFile: { () throws(DownsampleError) -> Int32 in throw DownsampleError(.internalFault, "not asked for")
      },
      mayGoOn: mayGoOn)
  }

  @Test(arguments: [CPIC_HEVC, CPIC_AV1].map(\.rawValue))
  func eachStrategyOfAGridHoldsLess(codec: UInt32) throws {
    let file = Self.picture.heif {
      $0.codec = cpic_heif_codec(codec)
      $0.tile_width = 128
    }
    let decoder = try CodecRegistry.decoder(for: Bytes(file))
    let strategies = decoder.planner.strategies(target: PixelSize(width: 100, height: 75), threads: 9)
    // There are 4 columns of tiles: a fifth thread would find nothing to do.
    #expect(strategies.map(\.threads) == [4, 3, 2, 1])
    let bytes = strategies.map { $0.held.totalBytes + $0.passing.totalBytes }
    #expect(zip(bytes, bytes.dropFirst()).allSatisfy { $0 > $1 })
  }

  @Test(arguments: [CPIC_HEVC, CPIC_AV1].map(\.rawValue), [8, 10] as [Int32])
  func whatIsWholeIsNamed(codec: UInt32, bits: Int32) throws {
    let file = Self.picture.heif {
      $0.codec = cpic_heif_codec(codec)
      $0.bits = bits
    }
    let decoder = try CodecRegistry.decoder(for: Bytes(file))
    let strategies = decoder.planner.strategies(target: PixelSize(width: 100, height: 75), threads: 4)
    #expect(strategies.count == 1 && strategies[0].threads == 1)
    #expect(strategies[0].held.totalBytes >= 400 * 300 * 3 / 2 * (bits > 8 ? 2 : 1))
    #expect(strategies[0].passing.totalBytes > 0)
  }

  @Test(arguments: [0, 64] as [Int32]) func stopsWhenTold(tile: Int32) throws {
    let decoder = try CodecRegistry.decoder(for: Bytes(Self.picture.heif { $0.tile_width = tile }))
    let strategy = decoder.planner.strategies(target: decoder.header.codedSize, threads: 2)[0]
    let error = #expect(throws: DownsampleError.self) {
      _ = try decoder.begin(
        strategy,
        resources: Self.resources { () throws(DownsampleError) in throw DownsampleError(.deadlinePassed, "too late") })
    }
    #expect(error?.message == "too late")
  }

  /// libheif reads a picture whole, and copies it, to tell its parameter sets.
  @Test func codedDataThatDoNotFitAreNotOpened() throws {
    for codec in [CPIC_HEVC, CPIC_AV1] {
      let file = Picture(CPIC_NOISE, 400, 300).heif {
        $0.codec = codec
        $0.quality = 100
      }
      _ = try CodecRegistry.decoder(for: Bytes(file), options: ReadingOptions(available: 4 * file.count))
      let error = #expect(throws: DownsampleError.self) {
        try CodecRegistry.decoder(for: Bytes(file), options: ReadingOptions(available: 2 * file.count))
      }
      #expect(error?.code == .overBudget, "\(String(describing: error))")
    }
  }

  /// A grid's tiles can differ as they like: what one of them has more than the first is named too.
  @Test(arguments: [CPIC_HEVC, CPIC_AV1].map(\.rawValue))
  func theTileWithMostCodedDataIsNamed(codec: UInt32) throws {
    let file = Self.picture.heif {
      $0.codec = cpic_heif_codec(codec)
      $0.tile_width = 128
    }
    let added = 1 << 20
    let longer = try #require(Self.withLongerEnd(file, by: added))
    func bytes(_ file: [UInt8]) throws -> Int {
      let decoder = try CodecRegistry.decoder(for: Bytes(file))
      let strategy = decoder.planner.strategies(target: PixelSize(width: 100, height: 75), threads: 1)[0]
      return strategy.held.totalBytes + strategy.passing.totalBytes
    }
    // libheif holds them three times.
    #expect(try bytes(longer) >= bytes(file) + 3 * added)
  }

  /// The file with zeros at its end, which belong to the item whose coded data end there.
  private static func withLongerEnd(_ file: [UInt8], by added: Int) -> [UInt8]? {
    func number(_ at: Int) -> Int { file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    guard let iloc = (4..<file.count - 4).first(where: { Array(file[$0..<$0 + 4]) == Array("iloc".utf8) }) else {
      return nil
    }
    let end = iloc - 4 + number(iloc - 4)
    // An item's offset, the number of its extents, and the only one's offset from the item's (0) and length.
    guard let item = (iloc..<end - 13).first(where: { number($0) + number($0 + 10) == file.count }) else { return nil }
    var longer = file
    let length = number(item + 10) + added
    for i in 0..<4 { longer[item + 10 + i] = UInt8(length >> (24 - 8 * i) & 0xFF) }
    return longer + [UInt8](repeating: 0, count: added)
  }
}
