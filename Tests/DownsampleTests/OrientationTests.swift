import CPictures
import Codecs
import Raster
import TestPictures
import Testing

@Suite struct OrientationTests {
  /// A way to write a picture with an orientation.
  struct Format: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var channels = 3
    let encode: @Sendable (_ picture: Picture, _ orientation: Int) -> [UInt8]
  }

  private static func jpeg(
    _ name: String, channels: Int = 3, _ set: @escaping @Sendable (inout cpic_jpeg_options) -> Void
  ) -> Format {
    Format(testDescription: "JPEG \(name)", channels: channels) { picture, orientation in
      picture.jpeg {
        set(&$0)
        $0.exif.orientation = Int32(orientation)
      }
    }
  }

  private static func png(
    _ name: String, channels: Int = 3, bits: Int = 8, palette: [UInt8] = [],
    _ set: @escaping @Sendable (inout cpic_png_options) -> Void = { _ in }
  ) -> Format {
    Format(testDescription: "PNG \(name)", channels: channels) { picture, orientation in
      picture.converted(channels: channels, bits: bits).png(palette: palette) {
        set(&$0)
        $0.exif.orientation = Int32(orientation)
      }
    }
  }

  private static func heif(
    _ name: String, channels: Int = 3, _ set: @escaping @Sendable (inout cpic_heif_options) -> Void
  ) -> Format {
    Format(testDescription: name, channels: channels) { picture, orientation in
      // The crop is given here: libheif's own one, of odd sides in HEVC, would come after the rotation.
      picture.converted(channels: channels).padded.heif {
        set(&$0)
        $0.crop = (0, 0, Int32(picture.width % 2), Int32(picture.height % 2))
        $0.orientation = Int32(orientation)
      }
    }
  }

  static let jpegs = [
    jpeg("4:2:0") { _ in }, jpeg("4:4:4") { cpic_jpeg_set_sampling(&$0, 444) },
    jpeg("4:2:2") { cpic_jpeg_set_sampling(&$0, 422) }, jpeg("4:4:0") { cpic_jpeg_set_sampling(&$0, 440) },
    jpeg("gray", channels: 1) { _ in }, jpeg("progressive") { $0.progressive = true },
    jpeg("RGB") { $0.space = CPIC_JPEG_RGB },
    jpeg("big-endian EXIF") { $0.exif.big_endian = true },
    Format(testDescription: "JPEG CMYK") { picture, orientation in
      picture.cmyk.jpeg { $0.exif.orientation = Int32(orientation) }
    },
  ]
  static let pngs = [
    png("RGB"), png("gray", channels: 1), png("RGBA", channels: 4), png("gray and alpha", channels: 2),
    png("RGB of 16 bits", bits: 16), png("interlaced") { $0.interlaced = true },
    png("interlaced RGBA of 16 bits", channels: 4, bits: 16) { $0.interlaced = true },
    png("palette", palette: cornerPalette) { $0.colour_type = 3 },
  ]
  static let heifs = [
    heif("HEIC") { _ in }, heif("HEIC 4:4:4") { $0.chroma = CPIC_CHROMA_444 },
    heif("HEIC gray", channels: 1) { _ in }, heif("HEIC tiles") { $0.tile_width = 64 },
    heif("HEIC alpha", channels: 4) { _ in }, heif("AVIF") { $0.codec = CPIC_AV1 },
    heif("AVIF of 10 bits, tiles") {
      $0.codec = CPIC_AV1
      $0.bits = 10
      $0.tile_width = 64
    },
  ]

  private static let cornerPalette: [UInt8] = (0..<4).flatMap { quadrant in
    (0..<3).map { UInt8(cpic_corner_colour(Int32(quadrant), 3, Int32($0))) }
  }

  private func corner(_ quadrant: Int, channels: Int) -> [Int] {
    (0..<min(channels, 3)).map { Int(cpic_corner_colour(Int32(quadrant), Int32(channels), Int32($0))) }
  }

  /// Which stored quadrant is displayed top left, top right, bottom left, bottom right: from the EXIF standard's own words,
  /// "the 0th row is at the visual ... side, the 0th column at the visual ... side".
  private static let displayedQuadrants = [
    1: [0, 1, 2, 3], 2: [1, 0, 3, 2], 3: [3, 2, 1, 0], 4: [2, 3, 0, 1], 5: [0, 2, 1, 3], 6: [2, 0, 3, 1],
    7: [3, 1, 2, 0],
    8: [1, 3, 0, 2],
  ]

  @Test(arguments: jpegs + pngs + heifs)
  func cornersAreWhereTheyBelong(format: Format) throws {
    for (width, height) in [(96, 64), (97, 67)] {
      let channels = format.channels < 3 ? 1 : 3
      let picture = Picture(CPIC_CORNERS, width, height, channels: channels)
      for orientation in 1...8 {
        let bytes = format.encode(picture, orientation)
        for output in OutputFormat.compared {
          for longEdge in [200, 41] {
            let made = try make(bytes, max: longEdge, output)
            let swaps = orientation >= 5
            let size = expectedSize(swaps ? height : width, swaps ? width : height, max: longEdge)
            let what = Comment(rawValue: "\(width)x\(height), orientation \(orientation), to \(output) of \(longEdge)")
            #expect(made.size == size, what)
            #expect(made.report.input.header.orientation.rawValue == orientation, what)
            guard made.size == size else { continue }
            for (place, quadrant) in Self.displayedQuadrants[orientation]!.enumerated() {
              let expected = corner(quadrant, channels: made.picture.channels < 3 ? 1 : 3)
              let (right, bottom) = (place % 2 == 1, place / 2 == 1)
              for (inset, tolerance) in [(0, 14), (4, 8), (9, 8)] {
                let x = right ? size.width - 1 - inset : inset
                let y = bottom ? size.height - 1 - inset : inset
                let unit = made.picture.bits == 16 ? 257 : 1
                let pixel = made.picture.pixel(x, y).map { $0 / unit }
                let isRight = zip(pixel, expected).allSatisfy { abs($0 - $1) <= tolerance }
                #expect(isRight, "\(what): \(pixel) at \(x), \(y), not \(expected)")
              }
            }
          }
        }
      }
    }
  }

  @Test(arguments: [(1, 8), (3, 8), (1, 16), (3, 16)])
  func aLosslessPictureIsTurnedToThePixel(channels: Int, bits: Int) throws {
    for (width, height) in [(62, 40), (61, 41), (1, 9), (9, 1), (1, 1)] {
      let picture = Picture(CPIC_NOISE, width, height, channels: channels, bits: bits)
      for orientation in 1...8 {
        for interlaced in [false, true] {
          let bytes = picture.png {
            $0.exif.orientation = Int32(orientation)
            $0.interlaced = interlaced
          }
          let made = try make(bytes)
          #expect(
            made.picture.largestDifference(from: picture.oriented(orientation)) == 0,
            "\(width)x\(height), \(orientation)")
        }
      }
    }
  }

  /// The scaled pictures of 4:2:0, whose chroma pairs are counted from another side when turned, as JPEG; else PNG.
  @Test(arguments: jpegs + pngs.dropLast())
  func turningAndScalingAreIndependent(format: Format) throws {
    for (width, height, longEdge) in [(81, 59, 34), (81, 59, 200), (210, 151, 23)] {
      let picture = Picture(CPIC_PHOTO, width, height, channels: format.channels < 3 ? 1 : 3)
      let upright = try make(format.encode(picture, 1), max: longEdge)
      let smooth = try make(format.encode(picture, 1), max: longEdge, .jpeg, quality: 100)
      for orientation in 2...8 {
        let bytes = format.encode(picture, orientation)
        let turned = try make(bytes, max: longEdge)
        let unit = turned.picture.bits == 16 ? 257 : 1
        let difference = try #require(turned.picture.largestDifference(from: upright.picture.oriented(orientation)))
        #expect(difference <= unit, "\(width)x\(height) to \(longEdge), orientation \(orientation)")

        // Pairs of chroma samples are counted from the displayed left and top, so where a side is odd they are other pairs.
        let asJPEG = try make(bytes, max: longEdge, .jpeg, quality: 100)
        let expected = smooth.picture.oriented(orientation)
        let what = Comment(rawValue: "\(width)x\(height) to \(longEdge), orientation \(orientation)")
        #expect(asJPEG.real.difference(from: RealPicture(expected)).mean < 3.5, what)
        #expect(asJPEG.luma.difference(from: RealPicture(expected).luma).mean < 0.8, what)
      }
    }
  }

  @Test(arguments: [CPIC_HEVC, CPIC_AV1].map(\.rawValue), [0, 64])
  func heifScaledAndTurned(codec: UInt32, tile: Int) throws {
    let picture = Picture(CPIC_PHOTO, 150, 102)
    func file(_ orientation: Int) -> [UInt8] {
      picture.heif {
        $0.codec = cpic_heif_codec(codec)
        $0.tile_width = Int32(tile)
        $0.orientation = Int32(orientation)
      }
    }
    for longEdge in [200, 70] {
      let upright = try make(file(1), max: longEdge)
      for orientation in 2...8 {
        let turned = try make(file(orientation), max: longEdge)
        let difference = try #require(turned.picture.largestDifference(from: upright.picture.oriented(orientation)))
        #expect(difference <= 1, "to \(longEdge), orientation \(orientation)")
      }
    }
  }

  @Test(arguments: [1, 3, 6, 7])
  func inHEIFTheEXIFOrientationDoesNotCount(orientation: Int) throws {
    let picture = Picture(CPIC_CORNERS, 96, 64)
    for exif in 1...8 {
      let bytes = picture.heif {
        $0.orientation = Int32(orientation)
        $0.exif.orientation = Int32(exif)
      }
      let made = try make(bytes)
      let expected = RealPicture(picture.oriented(orientation))
      #expect(made.real.difference(from: expected).mean < 5, "EXIF \(exif)")
      #expect(made.report.input.header.orientation.rawValue == orientation)
    }
  }

  @Test func anInvalidOrientationIsNone() throws {
    let picture = Picture(CPIC_CORNERS, 32, 16)
    for number: UInt8 in [0, 9, 77] {
      let exif: [UInt8] = [
        0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, number, 0, 0, 0, 0, 0, 0, 0,
      ]
      let made = try make(picture.jpeg(exif: exif))
      #expect(made.report.input.header.orientation == .up)
      #expect(made.size == PixelSize(width: 32, height: 16))
    }
  }
}
