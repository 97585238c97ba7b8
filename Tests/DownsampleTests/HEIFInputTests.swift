import CPictures
import Codecs
import Raster
import TestPictures
import Testing

@testable import Downsample

@Suite struct HEIFInputTests {
  struct Variant: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var channels = 3
    let set: @Sendable (inout cpic_heif_options) -> Void

    init(_ name: String, channels: Int = 3, _ set: @escaping @Sendable (inout cpic_heif_options) -> Void) {
      testDescription = name
      self.channels = channels
      self.set = set
    }
  }

  static let variants: [Variant] = {
    var result: [Variant] = []
    for codec in [CPIC_HEVC, CPIC_AV1].map(\.rawValue) {
      let name = codec == CPIC_HEVC.rawValue ? "HEIC" : "AVIF"
      func add(_ what: String, channels: Int = 3, _ set: @escaping @Sendable (inout cpic_heif_options) -> Void) {
        result.append(
          Variant("\(name) \(what)", channels: channels) {
            $0.codec = cpic_heif_codec(codec)
            $0.quality = 95
            set(&$0)
          })
      }
      for (chroma, number) in [("4:2:0", CPIC_CHROMA_420), ("4:2:2", CPIC_CHROMA_422), ("4:4:4", CPIC_CHROMA_444)] {
        let raw = number.rawValue
        add(chroma) { $0.chroma = cpic_chroma(raw) }
      }
      for bits: Int32 in [10, 12] {
        add("of \(bits) bits") { $0.bits = bits }
        add("of \(bits) bits 4:4:4") {
          $0.bits = bits
          $0.chroma = CPIC_CHROMA_444
        }
      }
      add("limited range") { $0.full_range = false }
      add("limited range of 10 bits") {
        $0.full_range = false
        $0.bits = 10
      }
      add("gray", channels: 1) { _ in }
      add("gray of 10 bits", channels: 1) { $0.bits = 10 }
      add("gray of limited range", channels: 1) { $0.full_range = false }
      for matrix: Int32 in [1, 5, 9] {
        add("matrix \(matrix)") { $0.matrix = matrix }
        add("matrix \(matrix) of limited range") {
          $0.matrix = matrix
          $0.full_range = false
        }
      }
      add("matrix 0") {
        $0.matrix = 0
        $0.chroma = CPIC_CHROMA_444
      }
      add("no colour numbers") { $0.write_nclx = false }
      add("grid") { $0.tile_width = 64 }
      add("grid of 64x80 tiles 4:4:4") {
        $0.tile_width = 64
        $0.tile_height = 80
        $0.chroma = CPIC_CHROMA_444
      }
      add("grid 4:2:2") {
        $0.tile_width = 64
        $0.chroma = CPIC_CHROMA_422
      }
      add("grid of 10 bits") {
        $0.tile_width = 64
        $0.bits = 10
      }
      add("gray grid", channels: 1) { $0.tile_width = 64 }
      add("with thumbnail, EXIF and XMP") {
        $0.thumbnail = 32
        $0.exif.orientation = 6
        $0.exif.gps = true
      }
    }
    return result
  }()

  /// libheif itself shows gray of limited range as if it were full, so that is left to `coloursAreRight`.
  @Test(arguments: variants.filter { !$0.testDescription.hasSuffix("gray of limited range") })
  func everyVariantIsDecoded(variant: Variant) throws {
    for (width, height, longEdge) in [(99, 81, 99), (99, 81, 40), (98, 80, 13)] {
      let picture = Picture(CPIC_PHOTO, width, height, channels: variant.channels)
      let bytes = picture.heif(variant.set)
      let stored = RealPicture(try #require(DecodedFile(bytes)).picture)
      let made = try make(bytes, max: longEdge)
      let what = Comment(rawValue: "\(width)x\(height) to \(longEdge)")
      #expect(made.size == expectedSize(width, height, max: longEdge), what)
      #expect(made.report.input.header.size == PixelSize(width: width, height: height), what)
      let expected = stored.resampled(width: made.size.width, height: made.size.height)
      let difference = made.real.rgb.difference(from: expected.rgb)
      #expect(difference.mean < (longEdge == width ? 4 : 2.5), "\(what): \(difference)")
      #expect(made.real.luma.difference(from: expected.luma).mean < 1.6, what)
      let smooth = try make(bytes, max: longEdge, .jpeg, quality: 97)
      #expect(smooth.luma.difference(from: expected.luma).mean < 2, what)
    }
  }

  /// Against the picture that was encoded, not against libheif's way of making RGB.
  @Test(arguments: variants)
  func coloursAreRight(variant: Variant) throws {
    let picture = Picture(CPIC_GRADIENT, 128, 96, channels: variant.channels)
    let bytes = picture.heif(variant.set)
    for format in OutputFormat.compared {
      let made = try make(bytes, max: 64, format)
      let expected = RealPicture(picture).resampled(width: 64, height: 48)
      let difference = made.real.rgb.difference(from: expected.rgb)
      #expect(difference.mean < 2.5, "\(format): \(difference)")
    }
  }

  @Test func deepPicturesBecomeDeepPNGs() throws {
    for bits: Int32 in [8, 10, 12] {
      let bytes = Picture(CPIC_GRADIENT, 64, 64, bits: 16).heif {
        $0.bits = bits
        $0.codec = CPIC_AV1
      }
      #expect(try make(bytes).picture.bits == (bits == 8 ? 8 : 16))
      #expect(try make(bytes).report.input.header.depth == Int(bits))
      #expect(try make(bytes, .jpeg).picture.bits == 8)
    }
  }

  struct AlphaCase: Sendable, CustomTestStringConvertible {
    let codec: UInt32
    let channels: Int
    let bits: Int32
    let premultiplied: Bool
    let tile: Int32
    var testDescription: String {
      "\(codec == CPIC_HEVC.rawValue ? "HEIC" : "AVIF") \(channels) channels of \(bits) bits, premultiplied \(premultiplied), tile \(tile)"
    }
  }
  static let alphaCases = [CPIC_HEVC, CPIC_AV1].map(\.rawValue).flatMap { codec in
    [
      AlphaCase(codec: codec, channels: 4, bits: 8, premultiplied: false, tile: 0),
      AlphaCase(codec: codec, channels: 4, bits: 8, premultiplied: true, tile: 0),
      AlphaCase(codec: codec, channels: 4, bits: 10, premultiplied: false, tile: 0),
      AlphaCase(codec: codec, channels: 4, bits: 8, premultiplied: false, tile: 64),
      AlphaCase(codec: codec, channels: 2, bits: 8, premultiplied: false, tile: 0),
    ]
  }

  @Test(arguments: alphaCases)
  func alphaIsKept(alpha: AlphaCase) throws {
    let picture = Picture(CPIC_GRADIENT, 130, 98, channels: alpha.channels)
    let bytes = picture.heif {
      $0.codec = cpic_heif_codec(alpha.codec)
      $0.bits = alpha.bits
      $0.premultiplied = alpha.premultiplied
      $0.tile_width = alpha.tile
      $0.quality = 95
    }
    for longEdge in [130, 65, 21] {
      let made = try make(bytes, max: longEdge)
      #expect(made.picture.channels == alpha.channels && made.report.input.header.hasAlpha)
      guard made.picture.channels == alpha.channels else { continue }
      let expected = RealPicture(picture).premultiplied.resampled(width: made.size.width, height: made.size.height)
        .limitedByAlpha
      let difference = made.real.premultiplied.difference(from: expected)
      #expect(difference.mean < 2, "to \(longEdge): \(difference)")
      let laid = try make(bytes, max: longEdge, .jpeg, quality: 97)
      let laidDifference = laid.luma.difference(from: expected.overWhite.luma)
      #expect(laidDifference.mean < 2.5, "over white, to \(longEdge): \(laidDifference)")
    }
  }

  /// Colour under alpha 0 must not show.
  @Test(arguments: [CPIC_HEVC, CPIC_AV1].map(\.rawValue))
  func noHalos(codec: UInt32) throws {
    let picture = Picture(128, 128, channels: 4) { x, y, channel in
      let isInside = (x - 64) * (x - 64) + (y - 64) * (y - 64) < 45 * 45
      return [255, 0, 0, isInside ? 255 : 0][channel]
    }
    let bytes = picture.heif {
      $0.codec = cpic_heif_codec(codec)
      $0.quality = 98
      $0.chroma = CPIC_CHROMA_444
    }
    for longEdge in [128, 70, 20] {
      let made = try make(bytes, max: longEdge)
      for y in 0..<made.picture.height {
        for x in 0..<made.picture.width where made.picture[x, y, 3] > 60 {
          #expect(made.picture[x, y, 1] < 20 && made.picture[x, y, 0] > 235, "\(made.picture.pixel(x, y))")
        }
      }
    }
  }

  @Test(arguments: [CPIC_HEVC, CPIC_AV1].map(\.rawValue), [1, 3, 4, 6, 7])
  func cropAndOrientation(codec: UInt32, orientation: Int) throws {
    let picture = Picture(CPIC_PHOTO, 160, 128)
    for (left, top, right, bottom) in [(16, 8, 0, 0), (13, 7, 22, 15)] {
      for tile: Int32 in [0, 64] {
        let bytes = picture.heif {
          $0.codec = cpic_heif_codec(codec)
          $0.crop = (Int32(left), Int32(top), Int32(right), Int32(bottom))
          $0.orientation = Int32(orientation)
          $0.tile_width = tile
          $0.quality = 95
        }
        let (width, height) = (160 - left - right, 128 - top - bottom)
        let expected = picture.cropped(left, top, width, height).oriented(orientation)
        for longEdge in [160, 50] {
          let made = try make(bytes, max: longEdge)
          let size = expectedSize(expected.width, expected.height, max: longEdge)
          let what = Comment(rawValue: "crop \(left), \(top), \(right), \(bottom), tiles of \(tile), to \(longEdge)")
          #expect(made.size == size, what)
          let reference = RealPicture(expected).resampled(width: size.width, height: size.height)
          let luma = made.luma.difference(from: reference.luma)
          #expect(luma.mean < 4, "\(what): \(luma)")
          let shifted = RealPicture(expected).resampled(width: size.width, height: size.height, shift: 0.5).luma
          #expect(made.luma.difference(from: shifted).mean > 2 * luma.mean, what)
        }
      }
    }
  }

  @Test(arguments: [CPIC_HEVC, CPIC_AV1].map(\.rawValue), [1, 6])
  func overlays(codec: UInt32, orientation: Int) throws {
    let bytes = Picture(CPIC_PHOTO, 96, 64).heifOverlay(canvas: (128, 100), left: 20, top: -10) {
      $0.codec = cpic_heif_codec(codec)
      $0.orientation = Int32(orientation)
      $0.quality = 95
    }
    let stored = RealPicture(try #require(DecodedFile(bytes)).picture)
    for longEdge in [128, 50] {
      let made = try make(bytes, max: longEdge)
      let expected = stored.resampled(width: made.size.width, height: made.size.height)
      let difference = made.real.difference(from: expected)
      #expect(difference.mean < 2.5, "to \(longEdge): \(difference)")
    }
  }

  @Test func profilesGoThroughUnchanged() throws {
    let profile = iccProfile(CPIC_ICC_DISPLAY_P3)
    for codec in [CPIC_HEVC, CPIC_AV1] {
      for tile: Int32 in [0, 64] {
        let bytes = Picture(CPIC_PHOTO, 80, 64).heif(icc: profile) {
          $0.codec = codec
          $0.tile_width = tile
        }
        for format in OutputFormat.compared {
          let made = try make(bytes, max: 40, format)
          #expect(made.file.icc == profile && made.report.warnings.isEmpty, "\(made.report.warnings)")
        }
      }
    }
  }

  @Test func theReportNamesTheKind() throws {
    let picture = Picture(CPIC_PHOTO, 128, 96)
    for (codec, kind) in [(CPIC_HEVC, "HEIC"), (CPIC_AV1, "AVIF")] {
      let single = try make(picture.heif { $0.codec = codec }).report
      #expect(single.input.header.kind == kind && single.input.header.arrangement == .whole)
      let tiled = try make(
        picture.heif {
          $0.codec = codec
          $0.tile_width = 64
        }
      ).report
      #expect(tiled.input.header.kind == kind && tiled.input.header.arrangement == .tiled)
      #expect(tiled.input.header.tileSize == PixelSize(width: 64, height: 64))
      #expect(tiled.input.header.subsampling == "4:2:0" && tiled.plan.strategy.contains("64x64"))
    }
  }
}
