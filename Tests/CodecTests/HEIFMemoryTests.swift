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
      _ = try CodecRegistry.decoder(for: Bytes(file), available: 4 * file.count)
      let error = #expect(throws: DownsampleError.self) {
        try CodecRegistry.decoder(for: Bytes(file), available: 2 * file.count)
      }
      #expect(error?.code == .overBudget, "\(String(describing: error))")
    }
  }
}
