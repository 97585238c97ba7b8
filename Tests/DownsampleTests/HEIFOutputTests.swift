import CPictures
import Codecs
import Foundation
import Raster
import TestPictures
import Testing

@testable import Downsample

let heifFormats: [OutputFormat] = [.heic, .avif]

/// HEIC and AVIF as outputs, read back by the decoding side.
@Suite struct HEIFOutputTests {
  /// Makes a picture of `format` of `bytes`, and a PNG of that.
  private func roundTrip(
    _ bytes: [UInt8], _ format: OutputFormat, max maxPixelSize: Int = 4096, quality: Int = 95,
    chroma: ChromaSubsampling = .quarter
  ) throws -> (file: [UInt8], header: ImageHeader, made: Made) {
    let request = Request(
      maxPixelSize: maxPixelSize, format: format, quality: quality, chroma: chroma, threads: 1, memory: .ample)
    let file = try makeBytes(MemorySource(bytes), request: request).bytes
    return (file, try Downsampler.probe(MemorySource(file), memory: .ample), try make(file, max: 4096, .png))
  }

  /// Colours that change slowly, so that chroma may be halved.
  private static func smooth(_ width: Int, _ height: Int, channels: Int = 3) -> Picture {
    Picture(width, height, channels: channels) { x, y, channel in
      switch channel {
      case 0: return 40 + x * 180 / max(width, 96)
      case 1: return channels == 2 ? 60 + y * 190 / max(height, 96) : 30 + y * 200 / max(height, 96)
      case 2: return 128
      default: return 60 + y * 190 / max(height, 96)
      }
    }
  }

  @Test(
    arguments: [0, 1],
    [[1, 1], [1, 9], [33, 2], [64, 64], [63, 65], [512, 512], [513, 512], [700, 3], [515, 521]])
  func everySizeComesBack(which: Int, size: [Int]) throws {
    let format = heifFormats[which]
    for channels in [1, 2, 3, 4] {
      let picture = Self.smooth(size[0], size[1], channels: channels)
      let (_, header, made) = try roundTrip(picture.png(), format)
      #expect(header.size == PixelSize(width: size[0], height: size[1]))
      #expect(header.hasAlpha == (channels % 2 == 0))
      #expect(header.colorModel == (channels < 3 ? .gray : .ycbcr))
      let difference = made.real.difference(from: RealPicture(picture))
      #expect(difference.mean < 2, "\(format) \(size), \(channels) channels: \(difference)")
    }
  }

  @Test(arguments: [0, 1])
  func aLargePictureIsAGrid(which: Int) throws {
    let format = heifFormats[which]
    let picture = Self.smooth(2049, 1537)
    let (_, header, made) = try roundTrip(picture.jpeg(), format)
    #expect(header.arrangement == .tiled)
    #expect(header.tileSize == PixelSize(width: 416, height: 400))
    #expect(header.size == PixelSize(width: 2049, height: 1537))
    // AVIF's readers refuse odd grids of halved chroma.
    #expect(header.subsampling == (format == .avif ? "4:4:4" : "4:2:0"))
    #expect(made.real.difference(from: RealPicture(picture)).mean < 2)
  }

  @Test(arguments: [0, 1], [0, 1, 2])
  func chromaIsWhatWasAskedFor(which: Int, kind: Int) throws {
    let format = heifFormats[which]
    let chroma = ChromaSubsampling.allCases[kind]
    let picture = Self.smooth(600, 400)
    for bytes in [picture.png(), picture.jpeg()] {
      let (_, header, made) = try roundTrip(bytes, format, chroma: chroma)
      #expect(header.subsampling == ["420": "4:2:0", "422": "4:2:2", "444": "4:4:4"][chroma.rawValue])
      #expect(made.real.difference(from: RealPicture(picture)).mean < 2)
    }
  }

  @Test func jpegTakesTheChromaToo() throws {
    for chroma in ChromaSubsampling.allCases {
      let request = Request(format: .jpeg, chroma: chroma, memory: .ample)
      let bytes = try makeBytes(MemorySource(Self.smooth(40, 30).png()), request: request).bytes
      let header = try Downsampler.probe(MemorySource(bytes), memory: .ample)
      #expect(header.subsampling == ["420": "4:2:0", "422": "4:2:2", "444": "4:4:4"][chroma.rawValue])
    }
  }

  @Test(arguments: [0, 1])
  func theSameBytesEveryTime(which: Int) throws {
    let format = heifFormats[which]
    let bytes = Picture(CPIC_PHOTO, 600, 530).jpeg()
    let first = try roundTrip(bytes, format, quality: 60).file
    #expect(try roundTrip(bytes, format, quality: 60).file == first)
  }

  @Test(arguments: [0, 1])
  func atLeastAsGoodAsTheJPEG(which: Int) throws {
    let format = heifFormats[which]
    let picture = Picture(CPIC_PHOTO, 800, 600)
    let jpeg = try make(picture.png(), .jpeg, quality: 85)
    let own = try roundTrip(picture.png(), format, quality: 85).made
    let real = RealPicture(picture)
    let (ours, theirs) = (own.luma.difference(from: real.luma).mean, jpeg.luma.difference(from: real.luma).mean)
    #expect(ours < theirs * 1.3 + 0.2, "\(ours) \(theirs)")
  }

  @Test(arguments: [0, 1], 1...8)
  func orientations(which: Int, orientation: Int) throws {
    let format = heifFormats[which]
    let picture = Self.smooth(620, 410)
    let bytes = picture.oriented(Self.inverse[orientation - 1]).jpeg { $0.exif.orientation = Int32(orientation) }
    let made = try roundTrip(bytes, format).made
    #expect(made.real.difference(from: RealPicture(picture)).mean < 2.5)
  }

  /// What, put before it, undoes each EXIF orientation.
  private static let inverse = [1, 2, 3, 4, 5, 8, 7, 6]

  @Test(arguments: [0, 1])
  func theSinksErrorIsPassedOn(which: Int) throws {
    let format = heifFormats[which]
    final class Full: ByteSink {
      func write(_ bytes: UnsafeRawBufferPointer) throws(DownsampleError) {
        throw DownsampleError(.inputOutput, "no space")
      }
    }
    let layout = EncodedLayout(
      size: PixelSize(width: 64, height: 64), color: .gray, hasAlpha: false, sampleType: .uint8)
    let encoder = try CodecRegistry.encoder(
      for: format, layout: layout, settings: EncoderSettings(quality: 80, iccProfile: []), sink: Full())
    let row = [UInt8](repeating: 7, count: 64)
    for _ in 0..<64 { try encoder.write(row, plane: 0) }
    do {
      try encoder.finish()
      Issue.record("the sink's error is lost")
    } catch {
      #expect(error.code == .inputOutput)
    }
  }

  @Test func moreQualityEffortAndSizeAreNeverLessMemory() {
    func bytes(_ format: OutputFormat, _ side: Int, _ quality: Int, _ effort: Int) -> Int {
      CodecRegistry.encoderMemory(
        for: .file(format),
        layout: EncodedLayout(
          size: PixelSize(width: side, height: side), color: .rgb, hasAlpha: true, sampleType: .uint8),
        settings: EncoderSettings(quality: quality, iccProfile: [], effort: effort)
      ).totalBytes
    }
    for format in heifFormats {
      for quality in 2...100 { #expect(bytes(format, 900, quality, 2) >= bytes(format, 900, quality - 1, 2)) }
      for effort in 2...9 { #expect(bytes(format, 900, 85, effort) >= bytes(format, 900, 85, effort - 1)) }
      #expect(bytes(format, 4096, 85, 2) > bytes(format, 1024, 85, 2))
    }
  }
}
