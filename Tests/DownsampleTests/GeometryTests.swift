import CPictures
import Codecs
import Raster
import TestPictures
import Testing

@Suite struct GeometryTests {
  static let sizes = [
    (1, 1), (2, 3), (1, 5000), (5000, 1), (7, 13), (127, 131), (640, 427), (1009, 13), (3, 1000), (300, 300),
  ]

  @Test(arguments: sizes)
  func theSizeRule(width: Int, height: Int) throws {
    let picture = Picture(CPIC_GRADIENT, width, height, channels: 1)
    let files = [picture.png { $0.exif.orientation = 6 }, picture.jpeg(), picture.jpeg { $0.exif.orientation = 8 }]
    for longEdge in [1, 2, 3, 16, 100, 101, 999, 5000, 65500] {
      for (index, file) in files.enumerated() {
        let expected =
          index == 1 ? expectedSize(width, height, max: longEdge) : expectedSize(height, width, max: longEdge)
        let format: OutputFormat = longEdge % 2 == 0 ? .png : .jpeg
        let made = try make(file, max: longEdge, format)
        #expect(made.size == expected, "\(width)x\(height) to \(longEdge), file \(index)")
      }
    }
  }

  @Test func heifKeepsToTheSizeRule() throws {
    for (width, height) in [(64, 64), (130, 66), (68, 202)] {
      let bytes = Picture(CPIC_GRADIENT, width, height).heif {
        $0.tile_width = width > 100 ? 64 : 0
        $0.orientation = 6
      }
      for longEdge in [1, 33, 64, 100, 300] {
        #expect(
          try make(bytes, max: longEdge).size == expectedSize(height, width, max: longEdge), "\(width) to \(longEdge)")
      }
    }
  }

  /// Fine detail, whole decoded and scaled in double precision, against ours; half a pixel aside the same must fail.
  private func expectNoShift(
    _ bytes: [UInt8], max longEdge: Int, mean bound: Double, largest: Double = .infinity, _ what: String
  ) throws {
    let made = try make(bytes, max: longEdge)
    let whole = RealPicture(try #require(DecodedFile(bytes)).picture)
    let (width, height) = (made.size.width, made.size.height)
    let ours = made.picture.channels == 3 && whole.channels == 1 ? whole.rgb : whole
    let difference = made.real.difference(from: ours.resampled(width: width, height: height))
    #expect(difference.mean < bound, "\(what): mean \(difference.mean), largest \(difference.largest)")
    #expect(difference.largest <= largest, "\(what): largest \(difference.largest)")
    let shifted = made.real.difference(from: ours.resampled(width: width, height: height, shift: 0.5))
    #expect(
      shifted.mean > 2 * bound, "\(what): half a pixel would go unseen, mean \(shifted.mean) against \(difference.mean)"
    )
  }

  @Test(arguments: [
    (403, "8/8", 0.3, 1.5), (202, "8/8", 0.3, 2), (100, "4/8", 1.2, 2), (52, "2/8", 1.6, 2), (26, "1/8", 1.8, 2),
    (20, "1/8", 1.8, 2),
  ])
  func jpegIsNotShifted(longEdge: Int, scale: String, gray: Double, colour: Double) throws {
    let picture = Picture(CPIC_PHOTO, 403, 301)
    let file = picture.converted(channels: 1).jpeg()
    let made = try make(file, max: longEdge)
    #expect(made.report.plan.strategy.contains(scale), "\(made.report.plan.strategy)")
    try expectNoShift(file, max: longEdge, mean: gray, "gray")
    try expectNoShift(picture.jpeg { cpic_jpeg_set_sampling(&$0, 444) }, max: longEdge, mean: colour, "4:4:4")
    try expectNoShift(picture.jpeg { $0.progressive = true }, max: longEdge, mean: colour, "progressive 4:2:0")
  }

  @Test func pngIsWithinOneCodeValue() throws {
    for (width, height, longEdge) in [(403, 301, 200), (403, 301, 403), (97, 203, 31), (410, 7, 60)] {
      for channels in [1, 3] {
        let bytes = Picture(CPIC_PHOTO, width, height, channels: channels).png()
        try expectNoShift(
          bytes, max: longEdge, mean: 0.5, largest: 1.5, "\(width)x\(height)x\(channels) to \(longEdge)")
      }
    }
  }

  /// From 8 source pixels on for one of the output, boxes are averaged first.
  @Test func largeRatiosOfPNG() throws {
    try expectNoShift(Picture(CPIC_PHOTO, 403, 301).png(), max: 41, mean: 1, "403 to 41")
    try expectNoShift(Picture(CPIC_PHOTO, 303, 401, channels: 1).png(), max: 11, mean: 1.5, "401 to 11")
  }

  @Test func heifIsNotShifted() throws {
    let picture = Picture(CPIC_PHOTO, 224, 162)
    for codec in [CPIC_HEVC, CPIC_AV1] {
      for tile: Int32 in [0, 64] {
        let bytes = picture.heif {
          $0.codec = codec
          $0.tile_width = tile
        }
        for longEdge in [224, 111, 40] {
          try expectNoShift(
            bytes, max: longEdge, mean: 2.5, "codec \(codec.rawValue), tiles of \(tile), to \(longEdge)")
        }
      }
    }
  }

  /// Planes that stay YCbCr all the way, against a picture scaled in RGB and then encoded alike.
  @Test(arguments: [444, 422, 420, 440, 411, 410])
  func jpegToJPEGIsNotShifted(subsampling: Int) throws {
    for (width, height) in [(200, 150), (203, 151)] {
      let bytes = Picture(CPIC_PHOTO, width, height).jpeg { cpic_jpeg_set_sampling(&$0, Int32(subsampling)) }
      let whole = RealPicture(try #require(DecodedFile(bytes)).picture)
      for longEdge in [203, 101, 49] {
        let made = try make(bytes, max: longEdge, .jpeg, quality: 98)
        let scaled = whole.resampled(width: made.size.width, height: made.size.height)
        let encoded = scaled.rounded.jpeg { $0.quality = 98 }
        let reference = RealPicture(try #require(DecodedFile(encoded)).picture)
        let difference = made.real.difference(from: reference).mean
        #expect(difference < 3, "\(width)x\(height) to \(longEdge): \(difference)")
        let lumaDifference = made.luma.difference(from: scaled.luma).mean
        #expect(lumaDifference < 1.5, "\(width)x\(height) to \(longEdge): \(lumaDifference)")
      }
    }
  }
}
