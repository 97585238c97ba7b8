import CPictures
import Codecs
import Raster
import TestPictures
import Testing

@testable import Downsample

/// What HEIC and AVIF files say of their colour, and beside their pixels.
@Suite struct HEIFFidelityTests {
  static let codecs = [CPIC_HEVC, CPIC_AV1].map(\.rawValue)
  static let tiles: [Int32] = [0, 64]

  private func header(_ bytes: [UInt8]) throws -> ImageHeader {
    try Downsampler.probe(MemorySource(bytes), memory: .ample)
  }

  /// Without a colr box the parameter sets tell, and that before anything is decoded.
  @Test(arguments: codecs, tiles)
  func colourOfTheBitstreamIsInTheHeader(codec: UInt32, tile: Int32) throws {
    for (numbers, isFullRange) in [([12, 13, 6], true), ([9, 16, 9], false), ([1, 13, 1], false)] as [([Int32], Bool)] {
      let bytes = Picture(CPIC_PHOTO, 96, 80).heif {
        $0.codec = cpic_heif_codec(codec)
        $0.tile_width = tile
        $0.stream_nclx_only = true
        ($0.primaries, $0.transfer, $0.matrix) = (numbers[0], numbers[1], numbers[2])
        $0.full_range = isFullRange
      }
      let info = try #require(DecodedFile(bytes)).info
      #expect(!info.has_nclx)
      #expect(
        try header(bytes).codedColor
          == .init(
            primaries: Int(numbers[0]), transfer: Int(numbers[1]), matrix: Int(numbers[2]), isFullRange: isFullRange))
    }
  }

  @Test func aProfileAndNumbersAreBothKept() throws {
    let profile = iccProfile(CPIC_ICC_DISPLAY_P3)
    for tile in Self.tiles {
      let bytes = Picture(CPIC_PHOTO, 96, 80).heif(icc: profile) {
        $0.primaries = 12
        $0.matrix = 1
        $0.tile_width = tile
      }
      let header = try header(bytes)
      #expect(header.iccProfile == profile)
      #expect(header.codedColor == .init(primaries: 12, transfer: 13, matrix: 1, isFullRange: true))
    }
  }

  @Test(arguments: codecs, tiles)
  func luminance(codec: UInt32, tile: Int32) throws {
    func luminance(_ content: Int32, _ mastering: Int32) throws -> ImageHeader.Luminance? {
      try header(
        Picture(CPIC_PHOTO, 96, 80).heif {
          $0.codec = cpic_heif_codec(codec)
          $0.tile_width = tile
          $0.content_luminance = content
          $0.mastering_luminance = mastering
        }
      ).luminance
    }
    #expect(try luminance(0, 0) == nil)
    #expect(try luminance(1000, 0) == .init(maximumContent: 1000))
    #expect(try luminance(0, 4000) == .init(masteringMaximum: 4000))
    #expect(try luminance(600, 1500) == .init(maximumContent: 600, masteringMaximum: 1500))
  }

  @Test(arguments: codecs)
  func gainMapsAreNamedAndLeftOut(codec: UInt32) throws {
    func made(_ map: cpic_gain_map) throws -> Made {
      try make(
        Picture(CPIC_PHOTO, 96, 80).heif {
          $0.codec = cpic_heif_codec(codec)
          $0.gain_map = map
        }, max: 48)
    }
    let plain = try made(CPIC_GAIN_MAP_NONE)
    #expect(plain.report.warnings.isEmpty)
    for (map, name) in [(CPIC_GAIN_MAP_APPLE, "Apple"), (CPIC_GAIN_MAP_ISO, "ISO 21496-1")] {
      let other = try made(map)
      #expect(other.report.warnings == ["the gain map (\(name)) is not used, only the base picture"])
      #expect(other.bytes == plain.bytes)
    }
  }

  /// libheif itself cannot crop the alpha of deep pictures.
  @Test(arguments: [10, 12] as [Int32], [false, true])
  func deepAlphaOfOddSides(bits: Int32, premultiplied: Bool) throws {
    for codec in [CPIC_HEVC, CPIC_AV1] {
      let picture = Picture(CPIC_GRADIENT, 97, 81, channels: 4, bits: 16)
      let bytes = picture.heif {
        $0.codec = codec
        $0.bits = bits
        $0.quality = 95
        $0.premultiplied = premultiplied
      }
      for longEdge in [97, 40] {
        let made = try make(bytes, max: longEdge)
        #expect(made.report.input.header.hasAlpha && made.picture.bits == 16)
        let expected = RealPicture(picture).premultiplied.resampled(width: made.size.width, height: made.size.height)
          .limitedByAlpha
        let difference = made.real.premultiplied.difference(from: expected)
        #expect(difference.mean < 2, "\(codec) of \(bits) bits to \(longEdge): \(difference)")
      }
    }
  }

  @Test(arguments: codecs, tiles)
  func metadataAreHandedOver(codec: UInt32, tile: Int32) throws {
    var xmp = cpic_bytes()
    #expect(cpic_make_xmp(true, &xmp) == 0)
    defer { cpic_bytes_free(&xmp) }
    let bytes = Picture(CPIC_PHOTO, 96, 80).heif {
      $0.codec = cpic_heif_codec(codec)
      $0.tile_width = tile
      $0.exif.orientation = 6
      $0.exif.maker = true
      $0.xmp = xmp
    }
    let decoder = try CodecRegistry.decoder(for: MemorySource(bytes), options: ReadingOptions(metadataCopies: 1))
    let metadata = try decoder.takeMetadata()
    let exif = try #require(DecodedFile(bytes)).exif
    #expect(!exif.isEmpty && metadata.exif == exif)
    #expect(metadata.xmp == Array(UnsafeBufferPointer(start: xmp.data, count: xmp.length)))
    #expect(metadata.iptc.isEmpty)
    #expect(try decoder.takeMetadata().isEmpty)
    #expect(try CodecRegistry.decoder(for: MemorySource(bytes)).takeMetadata().isEmpty)
    #expect(decoder.header.orientation == .up)
  }

  private final class Collected: ByteSink {
    var bytes: [UInt8] = []
    func write(_ part: UnsafeRawBufferPointer) { bytes += part }
  }

  @Test(arguments: [64, 600])
  func metadataAreWritten(side: Int) throws {
    var exif = cpic_bytes()
    var description = cpic_exif()
    description.maker = true
    #expect(cpic_make_exif(&description, &exif) == 0)
    defer { cpic_bytes_free(&exif) }
    let tiff = Array(UnsafeBufferPointer(start: exif.data, count: exif.length))
    let layout = EncodedLayout(
      size: PixelSize(width: side, height: side), color: .gray, hasAlpha: false, sampleType: .uint8)
    for format in heifFormats {
      let sink = Collected()
      let settings = EncoderSettings(
        quality: 60, iccProfile: [], metadata: .init(exif: tiff, xmp: Array("<x:xmpmeta/>".utf8), iptc: [1]))
      let encoder = try CodecRegistry.encoder(for: format, layout: layout, settings: settings, sink: sink)
      for _ in 0..<side { try encoder.write([UInt8](repeating: 90, count: side), plane: 0) }
      try encoder.finish()
      #expect(encoder.warnings.count == 1 && encoder.warnings[0].contains("IPTC"))
      let file = try #require(DecodedFile(sink.bytes))
      #expect(file.exif == tiff && file.info.has_xmp && file.info.has_nclx)
      #expect(file.info.primaries == 1 && file.info.transfer == 13 && file.info.matrix == 6 && file.info.full_range)
      let decoder = try CodecRegistry.decoder(
        for: MemorySource(sink.bytes), options: ReadingOptions(metadataCopies: 1))
      #expect(try decoder.takeMetadata() == .init(exif: tiff, xmp: Array("<x:xmpmeta/>".utf8)))
      let plain = CodecRegistry.encoderMemory(
        for: .file(format), layout: layout, settings: EncoderSettings(quality: 60, iccProfile: [])
      ).totalBytes
      let named = CodecRegistry.encoderMemory(for: .file(format), layout: layout, settings: settings).totalBytes
      #expect(named >= plain + 3 * tiff.count)
    }
  }
}
