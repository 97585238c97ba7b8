import CPictures
import Codecs
import Raster
import TestPictures
import Testing

@testable import Downsample

@Suite struct JPEGInputTests {
  struct Variant: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let channels: Int
    let model: ImageHeader.ColorModel
    let subsampling: String?
    let arrangement: ImageHeader.Arrangement
    let set: @Sendable (inout cpic_jpeg_options) -> Void

    init(
      _ name: String, channels: Int = 3, _ model: ImageHeader.ColorModel = .ycbcr, _ subsampling: String? = "4:2:0",
      _ arrangement: ImageHeader.Arrangement = .sequential, _ set: @escaping @Sendable (inout cpic_jpeg_options) -> Void
    ) {
      testDescription = name
      self.channels = channels
      self.model = model
      self.subsampling = subsampling
      self.arrangement = arrangement
      self.set = set
    }
  }

  static let variants = [
    Variant("4:4:4", .ycbcr, "4:4:4") { cpic_jpeg_set_sampling(&$0, 444) },
    Variant("4:2:2", .ycbcr, "4:2:2") { cpic_jpeg_set_sampling(&$0, 422) },
    Variant("4:2:0") { _ in },
    Variant("4:4:0", .ycbcr, "4:4:0") { cpic_jpeg_set_sampling(&$0, 440) },
    Variant("4:1:1", .ycbcr, "4:1:1") { cpic_jpeg_set_sampling(&$0, 411) },
    Variant("4:1:0", .ycbcr, "4:1:0", .multiScan) {
      cpic_jpeg_set_sampling(&$0, 410)
      $0.multi_scan = true
    },
    Variant("gray", channels: 1, .gray, nil) { _ in },
    Variant("gray with factors of 2", channels: 1, .gray, nil) {
      $0.h.0 = 2
      $0.v.0 = 2
    },
    Variant("progressive", .ycbcr, "4:2:0", .progressive) { $0.progressive = true },
    Variant("progressive 4:4:4", .ycbcr, "4:4:4", .progressive) {
      $0.progressive = true
      cpic_jpeg_set_sampling(&$0, 444)
    },
    Variant("progressive gray", channels: 1, .gray, nil, .progressive) { $0.progressive = true },
    Variant("a scan for each component", .ycbcr, "4:2:0", .multiScan) { $0.multi_scan = true },
    Variant("arithmetic") { $0.arithmetic = true },
    Variant("arithmetic progressive", .ycbcr, "4:2:0", .progressive) {
      $0.arithmetic = true
      $0.progressive = true
    },
    Variant("restart intervals") { $0.restart_interval = 3 },
    Variant("optimal tables") { $0.optimise = true },
    Variant("quality 30") { $0.quality = 30 },
    Variant("RGB with the Adobe marker", .rgb, nil) { $0.space = CPIC_JPEG_RGB },
    Variant("RGB told by its letters", .rgb, nil) {
      $0.space = CPIC_JPEG_RGB
      $0.adobe = 0
      $0.letter_ids = true
    },
    Variant("progressive RGB", .rgb, nil, .progressive) {
      $0.space = CPIC_JPEG_RGB
      $0.progressive = true
    },
    Variant("YCbCr with neither JFIF nor Adobe") { $0.jfif = 0 },
    Variant("YCbCr with the Adobe marker") { $0.adobe = 1 },
    Variant("CMYK", channels: 4, .cmyk, nil) { _ in },
    Variant("CMYK not inverted", channels: 4, .cmyk, nil) {
      $0.inverted = false
      $0.adobe = 0
    },
    Variant("YCCK", channels: 4, .ycck, "4:2:0") { $0.space = CPIC_JPEG_YCCK },
    Variant("YCCK 4:4:4 progressive", channels: 4, .ycck, "4:4:4", .progressive) {
      $0.space = CPIC_JPEG_YCCK
      $0.progressive = true
      for i in 0..<4 {
        withUnsafeMutableBytes(of: &$0.h) { $0.storeBytes(of: Int32(1), toByteOffset: i * 4, as: Int32.self) }
      }
      for i in 0..<4 {
        withUnsafeMutableBytes(of: &$0.v) { $0.storeBytes(of: Int32(1), toByteOffset: i * 4, as: Int32.self) }
      }
    },
    Variant("junk and comments") {
      $0.comment_bytes = 60000
      $0.junk_segments = 300
      $0.junk_segment_bytes = 900
      $0.iptc = true
    },
  ]

  @Test(arguments: variants)
  func everyVariantIsDecoded(variant: Variant) throws {
    for (width, height) in [(96, 64), (101, 67), (17, 25), (3, 5)] {
      let picture = Picture(CPIC_PHOTO, width, height, channels: variant.channels == 1 ? 1 : 3)
      let bytes = (variant.channels == 4 ? picture.cmyk : picture).jpeg(variant.set)
      let stored = try #require(DecodedFile(bytes)).picture
      let reference = RealPicture(variant.channels == 4 ? stored.rgbOfInk : stored)
      for longEdge in width > 90 ? [101, 50, 24, 12] : [25, 6] {
        for format in OutputFormat.compared {
          let made = try make(bytes, max: longEdge, format, quality: 97)
          let header = made.report.input.header
          #expect(
            header.kind == "JPEG" && header.depth == 8 && header.codedSize == PixelSize(width: width, height: height))
          #expect(header.colorModel == variant.model)
          #expect(header.subsampling == variant.subsampling)
          #expect(header.arrangement == variant.arrangement)
          #expect(made.report.warnings.isEmpty)
          #expect(made.picture.channels == (variant.channels == 1 ? 1 : 3))
          guard width > 90 else { continue }
          let expected = reference.resampled(width: made.size.width, height: made.size.height)
          // Chroma of 4:2:0 keeps little of a small picture's detail, so that of a JPEG is left to `coloursAreRight`.
          let difference =
            format == .png ? made.real.difference(from: expected) : made.luma.difference(from: expected.luma)
          #expect(
            difference.mean < (longEdge == 12 ? 7 : 4.5), "\(width)x\(height) to \(longEdge) \(format): \(difference)")
        }
      }
    }
  }

  /// Smooth colour shows a wrong matrix, range, inversion or order of channels, whatever the subsampling.
  @Test(arguments: variants)
  func coloursAreRight(variant: Variant) throws {
    let picture = Picture(CPIC_GRADIENT, 96, 80, channels: variant.channels == 1 ? 1 : 3)
    let bytes = (variant.channels == 4 ? picture.cmyk : picture).jpeg(variant.set)
    let tolerance = variant.testDescription == "quality 30" ? 6.0 : 2.5
    for format in OutputFormat.compared {
      let made = try make(bytes, max: 48, format, quality: 95)
      let expected = RealPicture(picture).resampled(width: 48, height: 40)
      let difference = made.real.difference(from: expected)
      #expect(difference.mean < tolerance, "\(format): \(difference)")
    }
  }

  @Test(arguments: [false, true])
  func profilesGoThroughUnchanged(progressive: Bool) throws {
    let picture = Picture(CPIC_PHOTO, 60, 40)
    for kind in [CPIC_ICC_SRGB, CPIC_ICC_DISPLAY_P3, CPIC_ICC_ADOBE_LIKE] {
      for size in [0, 65519, 65520, 200_000] {
        let profile = iccProfile(kind, atLeast: size)
        for format in OutputFormat.compared {
          let made = try make(picture.jpeg(icc: profile) { $0.progressive = progressive }, max: 30, format)
          #expect(made.file.icc == profile, "\(kind.rawValue), \(size) bytes, to \(format)")
          #expect(made.report.output.hasICCProfile && made.report.warnings.isEmpty)
          #expect(made.report.input.header.iccProfile == profile)
        }
      }
    }
  }

  @Test func aGrayPictureKeepsItsGrayProfile() throws {
    let profile = iccProfile(CPIC_ICC_GRAY)
    for format in OutputFormat.compared {
      let made = try make(Picture(CPIC_PHOTO, 40, 30, channels: 1).jpeg(icc: profile), format)
      #expect(made.file.icc == profile && made.report.warnings.isEmpty)
    }
  }

  @Test func unfitProfilesAreDroppedWithAWarning() throws {
    let colour = Picture(CPIC_PHOTO, 40, 30)
    let gray = colour.converted(channels: 1)
    let whole = iccProfile(CPIC_ICC_SRGB)
    let files: [(String, [UInt8])] = [
      ("gray on colour", colour.jpeg(icc: iccProfile(CPIC_ICC_GRAY))),
      ("colour on gray", gray.jpeg(icc: whole)),
      ("rubbish", colour.jpeg(icc: [UInt8](repeating: 7, count: 500))),
      ("cut", colour.jpeg(icc: Array(whole.prefix(whole.count - 20)))),
      ("tiny", colour.jpeg(icc: [1, 2, 3])),
    ]
    for (name, bytes) in files {
      for format in OutputFormat.compared {
        let made = try make(bytes, format)
        #expect(made.file.icc.isEmpty && !made.report.output.hasICCProfile, "\(name)")
        #expect(
          made.report.warnings.count == 1 && made.report.warnings[0].contains("ICC"), "\(name): \(made.report.warnings)"
        )
      }
    }
  }

  @Test func aCMYKPictureHasNoProfileAfterwards() throws {
    let bytes = Picture(CPIC_PHOTO, 40, 30).cmyk.jpeg(icc: iccProfile(CPIC_ICC_SRGB))
    let made = try make(bytes)
    #expect(made.file.icc.isEmpty)
    #expect(made.report.warnings.count == 1, "\(made.report.warnings)")
  }

  @Test func metadataBesideThePictureIsLeftOut() throws {
    let bytes = Picture(CPIC_PHOTO, 40, 30).jpeg {
      $0.exif.orientation = 6
      $0.exif.gps = true
      $0.exif.maker = true
      $0.comment_bytes = 100
      $0.junk_segments = 2
      $0.junk_segment_bytes = 65533
    }
    for format in OutputFormat.compared {
      let made = try make(bytes, format)
      #expect(made.size == PixelSize(width: 30, height: 40))
      #expect(made.file.info.other_segments == 0 && made.file.info.orientation == 0)
    }
  }

  @Test func theOutputIsBaseline420() throws {
    let made = try make(Picture(CPIC_PHOTO, 40, 30).jpeg { $0.progressive = true }, .jpeg)
    let info = made.file.info
    #expect(!info.progressive && !info.arithmetic && info.jfif && !info.adobe)
    #expect(info.h.0 == 2 && info.v.0 == 2 && info.h.1 == 1 && info.v.1 == 1)
  }
}
