import CJPEG
import CPictures
import Metadata
import Raster
import TestPictures
import Testing

@testable import Codecs

@Suite struct JPEGEncoderTests {
  private func encode(
    _ settings: EncoderSettings, _ size: PixelSize = PixelSize(width: 83, height: 61),
    color: EncodedLayout.Color = .ycbcr420
  ) throws -> (bytes: [UInt8], encoder: JPEGEncoder) {
    let sink = Collected()
    let layout = EncodedLayout(size: size, color: color, hasAlpha: false, sampleType: .uint8)
    let encoder = try JPEGEncoder(layout: layout, settings: settings, sink: sink)
    var generator = Noise(3)
    var level = 0
    for y in 0..<size.height {
      for (index, plane) in layout.planes.enumerated() where y < plane.height {
        level = (level + y) % 200
        let row = (0..<plane.bytesPerRow).map { UInt8((level + $0 + Int.random(in: 0...9, using: &generator)) % 256) }
        try row.withUnsafeBytes { try encoder.write($0.baseAddress!, plane: index) }
      }
    }
    try encoder.finish()
    return (sink.bytes, encoder)
  }

  /// Coefficients of a whole picture are a large allocation, which a limit on the process may refuse.
  @Test func noMemoryIsNoFaultOfOurs() {
    var error = cjpeg_error()
    error.status = CJPEG_NO_MEMORY
    #expect(JPEGEncoder.failure(error).code == .overBudget)
    error.status = CJPEG_FAULT
    #expect(JPEGEncoder.failure(error).code == .internalFault)
  }

  @Test(arguments: [EncodedLayout.Color.gray, .rgb, .ycbcr420])
  func scansAndTablesChangeNoPixel(color: EncodedLayout.Color) throws {
    for chroma in color == .ycbcr420 ? [ChromaSubsampling.quarter] : ChromaSubsampling.allCases {
      for (width, height) in [(83, 61), (1, 1), (640, 200)] {
        let size = PixelSize(width: width, height: height)
        func file(progressive: Bool, effort: Int) throws -> (DecodedFile, Int) {
          let settings = EncoderSettings(
            quality: 85, iccProfile: [], isProgressive: progressive, chroma: chroma, effort: effort)
          let bytes = try encode(settings, size, color: color).bytes
          return (try #require(DecodedFile(bytes)), bytes.count)
        }
        let (plain, plainBytes) = try file(progressive: false, effort: 4)
        #expect(!plain.info.progressive && plain.info.scans == 1)
        let (optimal, optimalBytes) = try file(progressive: false, effort: 5)
        #expect(!optimal.info.progressive && optimal.info.scans == 1 && optimalBytes < plainBytes)
        let (progressive, _) = try file(progressive: true, effort: 2)
        #expect(progressive.info.progressive && progressive.info.scans == (color == .gray ? 6 : 10))
        for other in [optimal, progressive] {
          #expect(other.info.warnings == 0 && other.info.jfif && !other.info.adobe)
          #expect(other.picture.largestDifference(from: plain.picture) == 0)
        }
      }
    }
  }

  @Test func whatIsHeldWholeIsCounted() {
    func bytes(_ color: EncodedLayout.Color, _ chroma: ChromaSubsampling, progressive: Bool, effort: Int = 2) -> Int {
      let layout = EncodedLayout(
        size: PixelSize(width: 2048, height: 1536), color: color, hasAlpha: false, sampleType: .uint8)
      let settings = EncoderSettings(
        quality: 85, iccProfile: [], isProgressive: progressive, chroma: chroma, effort: effort)
      return JPEGEncoder.memory(layout: layout, settings: settings).map(\.bytes).reduce(0, +)
    }
    let pixels = 2048 * 1536
    for (color, chroma, perPixel) in [
      (EncodedLayout.Color.ycbcr420, ChromaSubsampling.quarter, 3), (.rgb, .quarter, 3), (.rgb, .half, 4),
      (.rgb, .full, 6),
      (.gray, .quarter, 2),
    ] {
      let plain = bytes(color, chroma, progressive: false)
      for held in [bytes(color, chroma, progressive: true), bytes(color, chroma, progressive: false, effort: 5)] {
        #expect(held - plain >= pixels * perPixel && held - plain < pixels * perPixel + 512 << 10)
      }
      #expect(bytes(color, chroma, progressive: false, effort: 4) == plain)
    }
  }

  private static let metadata = ImageMetadata(
    exif: Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 0, 0, 0, 0, 0], xmp: Array("<x:xmpmeta/>".utf8),
    iptc: [0x1C, 2, 120, 0, 3] + Array("odd".utf8) + [0x1C])

  @Test func metadataGoRoundUnchanged() throws {
    for size in [0, 65519, 65520, 200_000] {
      let profile = iccProfile(CPIC_ICC_DISPLAY_P3, atLeast: size)
      let (bytes, encoder) = try encode(EncoderSettings(quality: 85, iccProfile: profile, metadata: Self.metadata))
      #expect(encoder.warnings.isEmpty && encoder.hasICCProfile)
      let decoder = try JPEGDecoder(source: Bytes(bytes), options: ReadingOptions(metadataCopies: 1))
      #expect(decoder.header.notes.isEmpty && decoder.header.iccProfile == profile)
      #expect(try decoder.takeMetadata() == Self.metadata)
      let file = try #require(DecodedFile(bytes))
      #expect(
        file.exif == Self.metadata.exif && file.info.has_xmp && file.info.other_segments == 1 && file.icc == profile)
      // JFIF first, as it wants; EXIF right after it.
      #expect(JPEGFile(bytes).segments.prefix(4).map(\.marker) == [0xE0, 0xE1, 0xE1, 0xED])
    }
  }

  @Test func whatIsTooLargeIsLeftOutAndSaid() throws {
    func settings(_ excess: Int) -> EncoderSettings {
      func filled(_ most: Int) -> [UInt8] { [UInt8](repeating: 65, count: most + excess) }
      return EncoderSettings(
        quality: 85, iccProfile: filled(255 * 65519),
        metadata: ImageMetadata(exif: filled(65527), xmp: filled(65502), iptc: filled(65506)))
    }
    let most = try encode(settings(0))
    #expect(most.encoder.warnings.isEmpty && most.encoder.hasICCProfile)
    let file = try #require(DecodedFile(most.bytes))
    #expect(file.exif.count == 65527 && file.info.has_xmp && file.icc.count == 255 * 65519)
    let more = try encode(settings(1))
    #expect(!more.encoder.hasICCProfile)
    #expect(
      more.encoder.warnings == [
        "the ICC profile was left out: it has 16707346 bytes, a JPEG holds 16707345",
        "EXIF was left out: it has 65528 bytes, a JPEG holds 65527",
        "XMP was left out: it has 65503 bytes, a JPEG holds 65502",
        "IPTC was left out: it has 65507 bytes, a JPEG holds 65506",
      ])
    let left = try #require(DecodedFile(more.bytes))
    #expect(left.exif.isEmpty && !left.info.has_xmp && left.icc.isEmpty && left.info.other_segments == 0)
  }

  /// Pixels are square; of what size is not known.
  @Test func theJFIFMarkerIsRight() throws {
    for color in [EncodedLayout.Color.gray, .rgb, .ycbcr420] {
      let file = JPEGFile(try encode(EncoderSettings(quality: 85, iccProfile: []), color: color).bytes)
      #expect(file.segments[0].marker == 0xE0)
      #expect(file.segments[0].body == Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
    }
  }
}
