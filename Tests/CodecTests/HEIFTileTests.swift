import CHEIF
import CPictures
import Foundation
import Raster
import Synchronization
import TestPictures
import Testing

@testable import Codecs

/// Bytes that say how far they were read.
private final class WatchedBytes: ByteSource {
  private let bytes: [UInt8]
  private let read = Mutex((farthest: 0, count: 0))

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var byteCount: Int? { bytes.count }
  var farthest: Int { read.withLock { $0.farthest } }
  var readCount: Int { read.withLock { $0.count } }

  func makeSeekable() {}
  func peek(into buffer: UnsafeMutableRawBufferPointer) -> Int { read(into: buffer, at: 0) }
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    throw DownsampleError(.internalFault, "only read by position")
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let count = max(0, min(buffer.count, bytes.count - offset))
    read.withLock {
      $0.farthest = max($0.farthest, offset + count)
      $0.count += 1
    }
    if count > 0 {
      bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
    }
    return count
  }
}

/// Bytes that cannot be read any more after some reads.
private final class FailingBytes: ByteSource {
  private let bytes: WatchedBytes
  private let failsFrom: Int
  private let failed = Mutex(false)

  init(_ bytes: [UInt8], failsFrom: Int) {
    self.bytes = WatchedBytes(bytes)
    self.failsFrom = failsFrom
  }

  var byteCount: Int? { bytes.byteCount }
  var hasFailed: Bool { failed.withLock { $0 } }

  func makeSeekable() {}
  func peek(into buffer: UnsafeMutableRawBufferPointer) -> Int { bytes.peek(into: buffer) }
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    try bytes.read(into: buffer)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int {
    // One is the peek.
    if bytes.readCount > failsFrom {
      failed.withLock { $0 = true }
      throw DownsampleError(.inputOutput, "no more")
    }
    return bytes.read(into: buffer, at: offset)
  }
}

@Suite struct HEIFTileTests {
  /// 6 columns and 5 rows of tiles, of which the last ones are narrower and lower than the others.
  private static let tiled = Picture(CPIC_PHOTO, 363, 303).heif { $0.tile_width = 64 }
  private static let columns = 6

  private struct Decoded: Equatable {
    var bands: [[UInt8]] = []
    var error: DownsampleError.Code?
    var message: String?
    var warnings: [String] = []
    var tilesByLibavcodec = 0
  }

  private static func append(_ band: DecodedBand, _ layout: DecodedLayout, to decoded: inout Decoded) {
    var bytes: [UInt8] = []
    for (plane, rows) in zip(layout.planes, band.planes) {
      for row in 0..<rows.count {
        bytes += UnsafeRawBufferPointer(start: rows.samples + row * rows.stride, count: plane.layout.bytesPerRow)
      }
    }
    decoded.bands.append(bytes)
  }

  /// - Parameter pause: seconds that each band is looked at.
  private static func decode(
    _ file: [UInt8], threads: Int, salvages: Bool = false, pause: Double = 0, keepsMetadata: Bool = false,
    usesLibavcodec: Bool? = nil
  ) -> Decoded {
    var decoded = Decoded()
    do {
      var options = ReadingOptions(available: 1 << 30)
      options.salvages = salvages
      options.metadataCopies = keepsMetadata ? 1 : 0
      options.usesLibavcodec = usesLibavcodec
      let decoder = try CodecRegistry.decoder(for: Bytes(file), options: options)
      let layout = try decoder.begin(target: decoder.header.codedSize, threads: threads)
      while let band = try decoder.nextBand() {
        if pause > 0 { Thread.sleep(forTimeInterval: pause) }
        append(band, layout, to: &decoded)
        _ = try decoder.takeMetadata()
      }
      decoded.warnings = decoder.warnings
      decoded.tilesByLibavcodec = (decoder as? HEIFDecoder)?.tilesByLibavcodec ?? 0
    } catch let error as DownsampleError {
      (decoded.error, decoded.message) = (error.code, error.message)
    } catch {
      decoded.message = "\(error)"
    }
    return decoded
  }

  /// Where the tiles' data lie: of a file that libheif wrote, in reading order.
  private static func extents(_ file: [UInt8]) throws -> [Range<Int>] {
    func number(_ at: Int, _ bytes: Int) -> Int { file[at..<at + bytes].reduce(0) { $0 << 8 | Int($1) } }
    let iloc = try #require((4..<file.count - 4).first { Array(file[$0..<$0 + 4]) == Array("iloc".utf8) })
    try #require(number(iloc + 8, 2) & 0xFFF0 == 0x4440 && number(iloc + 4, 1) < 2)
    let method = number(iloc + 4, 1) == 1 ? 2 : 0
    var found: [Range<Int>] = []
    var at = iloc + 12
    for _ in 0..<number(iloc + 10, 2) {
      let isInFile = method == 0 || number(at + 2, 2) == 0
      at += 4 + method
      let extents = number(at + 4, 2)
      if isInFile, extents == 1 {
        let first = number(at, 4) + number(at + 6, 4)
        found.append(first..<first + number(at + 10, 4))
      }
      at += 6 + 8 * extents
    }
    return found.sorted { $0.lowerBound < $1.lowerBound }
  }

  /// The file with tiles whose first unit claims more bytes than there are.
  private static func broken(_ tiles: [Int]) throws -> [UInt8] {
    let extents = try Self.extents(tiled)
    try #require(extents.count == 30)
    var file = tiled
    for tile in tiles { file[extents[tile].lowerBound] = 0x7F }
    return file
  }

  @Test(arguments: [CPIC_HEVC, CPIC_AV1].map(\.rawValue), [3, 4]) func anyNumberOfThreadsGivesTheSame(
    codec: UInt32, channels: Int
  ) throws {
    let file = Picture(CPIC_PHOTO, 363, 303).converted(channels: channels).heif {
      $0.codec = cpic_heif_codec(codec)
      $0.tile_width = 64
    }
    let one = Self.decode(file, threads: 1)
    #expect(one.message == nil && one.bands.count == 5)
    for threads in [2, 3, 4, 7] {
      #expect(Self.decode(file, threads: threads) == one, "\(threads) threads")
      #expect(Self.decode(file, threads: threads, pause: 0.01) == one, "\(threads) threads, looked at for long")
    }
  }

  /// More coded data than libheif may keep: it is made to forget them while others decode, and metadata are taken.
  @Test func libheifForgetsWhileOthersDecode() throws {
    let file = Picture(CPIC_NOISE, 1024, 768).heif {
      $0.tile_width = 128
      $0.quality = 100
    }
    #expect(file.count > 5 << 18)
    let one = Self.decode(file, threads: 1)
    #expect(one.message == nil && one.bands.count == 6)
    for threads in [2, 4] { #expect(Self.decode(file, threads: threads, keepsMetadata: true) == one) }
  }

  @Test(arguments: [1, 2, 4]) func theFirstTileThatFailsIsTheOneReported(threads: Int) throws {
    for tiles in [[0], [0, 1, 2], [5, 6], [7], [29], [15, 16, 17, 18, 19, 20, 21, 22], [11, 29]] {
      let decoded = Self.decode(try Self.broken(tiles), threads: threads)
      #expect(decoded.error == .damagedData)
      #expect(decoded.message?.contains("tile \(tiles[0] + 1) of 30") == true, "\(decoded.message ?? "decoded")")
      // Rows before it came.
      let rows = tiles[0] / Self.columns
      #expect(decoded.bands.count == rows)
      #expect(decoded.bands == Array(Self.decode(Self.tiled, threads: 1).bands.prefix(rows)))
    }
  }

  @Test(arguments: [1, 2, 4]) func lostTilesAreCounted(threads: Int) throws {
    let file = try Self.broken([0, 7, 8, 29])
    let decoded = Self.decode(file, threads: threads, salvages: true)
    #expect(decoded == Self.decode(file, threads: 1, salvages: true))
    #expect(decoded.bands.count == 5)
    #expect(decoded.warnings == ["4 of 30 tiles are missing or damaged: gray is in their place"])
    let none = Self.decode(try Self.broken(Array(0..<30)), threads: threads, salvages: true)
    #expect(none.error == .damagedData && none.bands.count == 5)
  }

  @Test func theNextRowIsDecodedWhileOneIsLookedAt() throws {
    let extents = try Self.extents(Self.tiled)
    let source = WatchedBytes(Self.tiled)
    let decoder = try CodecRegistry.decoder(for: source)
    let strategy = decoder.planner.strategies(target: decoder.header.codedSize, threads: 2)[0]
    #expect(!strategy.isStreamed && strategy.held.contains { $0.name == "two rows of tiles" })
    _ = try decoder.begin(target: decoder.header.codedSize, threads: 2)
    let second = extents[2 * Self.columns - 1]
    for _ in 0..<500 where source.farthest < second.upperBound { Thread.sleep(forTimeInterval: 0.01) }
    #expect(source.farthest >= second.upperBound)
    // But no further: the third has no place yet. What is read is read in pieces of 8 KB.
    Thread.sleep(forTimeInterval: 0.05)
    #expect(source.farthest < extents[2 * Self.columns].upperBound + 8192)
    let one = decoder.planner.strategies(target: decoder.header.codedSize, threads: 1)[0]
    #expect(one.held.contains { $0.name == "row of tiles" })
  }

  @Test(arguments: [0, 1, 3]) func closingInTheMiddleEndsTheThreads(bands: Int) throws {
    for _ in 0..<10 {
      let source = WatchedBytes(Self.tiled)
      do {
        let decoder = try CodecRegistry.decoder(for: source)
        _ = try decoder.begin(target: decoder.header.codedSize, threads: 4)
        for _ in 0..<bands { _ = try decoder.nextBand() }
      }
      let count = source.readCount
      Thread.sleep(forTimeInterval: 0.01)
      #expect(source.readCount == count)
    }
  }

  /// A deadline that passes, or a cancellation, between two rows.
  @Test(arguments: [1, 2, 4]) func stopsInTheMiddle(threads: Int) throws {
    let isOver = Mutex(false)
    let decoder = try CodecRegistry.decoder(for: Bytes(Self.tiled))
    let strategy = decoder.planner.strategies(target: decoder.header.codedSize, threads: threads)[0]
    _ = try decoder.begin(
      strategy,
      resources: DecodingResources(
        openTemporaryFile: { () throws(DownsampleError) -> Int32 in
          throw DownsampleError(.internalFault, "not asked for")
        },
        mayGoOn: { () throws(DownsampleError) in
          if isOver.withLock({ $0 }) { throw DownsampleError(.deadlinePassed, "too late") }
        }))
    _ = try decoder.nextBand()
    isOver.withLock { $0 = true }
    let error = #expect(throws: DownsampleError.self) { while try decoder.nextBand() != nil {} }
    #expect(error?.message == "too late")
  }

  /// A source that fails at any of its reads: its error comes out, and libheif, which asserts that some of its reads succeed,
  /// does not end the process. The large profile keeps the boxes from being read in one piece.
  @Test(arguments: [1, 2]) func sourceThatFails(threads: Int) throws {
    let icc = iccProfile(CPIC_ICC_SRGB, atLeast: 30_000)
    for file in [
      Picture(CPIC_PHOTO, 363, 303).heif(icc: icc) { $0.tile_width = 64 }, Picture(CPIC_PHOTO, 200, 100).heif(icc: icc),
      Picture(CPIC_PHOTO, 200, 100).heifOverlay(canvas: (240, 120), left: 8, top: 4),
    ] {
      var reads = 0
      while true {
        let source = FailingBytes(file, failsFrom: reads)
        do {
          let decoder = try CodecRegistry.decoder(for: source)
          _ = try decoder.begin(target: decoder.header.codedSize, threads: threads)
          while try decoder.nextBand() != nil {}
        } catch {
          #expect((error as? DownsampleError)?.message == "no more", "after \(reads) reads")
          reads += 1
          continue
        }
        #expect(!source.hasFailed)
        break
      }
      #expect(reads >= 2)
    }
  }

  // MARK: libavcodec

  /// Where libavcodec was there when this was built, and is now.
  private static var hasLibavcodec: Bool { cheif_finds_avcodec() }

  /// The same bytes, whichever decodes; of 10 bits, of other subsamplings and of alpha libde265 decodes all.
  @Test(.enabled(if: hasLibavcodec), arguments: [1, 2, 4]) func libavcodecGivesTheSame(threads: Int) throws {
    let plain = Self.decode(Self.tiled, threads: 1, usesLibavcodec: false)
    var other = Self.decode(Self.tiled, threads: threads, usesLibavcodec: true)
    #expect(plain.tilesByLibavcodec == 0 && other.tilesByLibavcodec == 30)
    other.tilesByLibavcodec = 0
    #expect(other == plain)
    for file in [
      Picture(CPIC_PHOTO, 363, 303).heif { ($0.tile_width, $0.bits) = (64, 10) },
      Picture(CPIC_PHOTO, 363, 303).heif { ($0.tile_width, $0.chroma) = (64, CPIC_CHROMA_444) },
      Picture(CPIC_PHOTO, 363, 303).heif { ($0.tile_width, $0.codec) = (64, CPIC_AV1) },
    ] {
      let plain = Self.decode(file, threads: 1, usesLibavcodec: false)
      #expect(plain.error == nil && Self.decode(file, threads: threads, usesLibavcodec: true) == plain)
    }
  }

  /// What libavcodec refuses libde265 decides, and with --salvage it is not asked.
  @Test(.enabled(if: hasLibavcodec)) func libde265IsTheJudge() throws {
    for tiles in [[0], [7], [3, 20]] {
      let file = try Self.broken(tiles)
      let plain = Self.decode(file, threads: 1, usesLibavcodec: false)
      #expect(plain.error == .damagedData)
      for threads in [1, 2] {
        let other = Self.decode(file, threads: threads, usesLibavcodec: true)
        #expect(other.error == plain.error && other.message == plain.message && other.bands == plain.bands)
      }
      let salvaged = Self.decode(file, threads: 2, salvages: true, usesLibavcodec: true)
      #expect(salvaged.tilesByLibavcodec == 0 && salvaged.error == nil)
    }
  }

  /// Small pictures are not worth loading it; large ones are where there is room, and the plan has a way without it.
  @Test(.enabled(if: hasLibavcodec)) func libavcodecIsPlanned() throws {
    func ways(usesLibavcodec: Bool?) throws -> [DecodingStrategy] {
      var options = ReadingOptions(available: 1 << 30)
      options.usesLibavcodec = usesLibavcodec
      let decoder = try CodecRegistry.decoder(for: Bytes(Self.tiled), options: options)
      return decoder.planner.strategies(target: decoder.header.codedSize, threads: 2)
    }
    let without = try ways(usesLibavcodec: nil)
    let with = try ways(usesLibavcodec: true)
    #expect(without.map(\.threads) == [2, 1] && with.map(\.threads) == [2, 2, 1, 1])
    #expect(with.map { $0.name.hasSuffix("by libavcodec") } == [true, false, true, false])
    #expect(with[0].held.totalBytes > with[1].held.totalBytes + 8 << 20)
  }
}
