import CPictures
import Codecs
import Raster
import TestPictures
import Testing

@testable import Downsample

@Suite struct PNGInputTests {
  /// Colour type, and bits of a sample.
  static let kinds: [(Int32, Int32)] = [
    (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16), (6, 8),
    (6, 16),
  ]

  @Test(arguments: kinds, [false, true])
  func everyKindIsDecoded(kind: (Int32, Int32), interlaced: Bool) throws {
    let channels = [0: 1, 2: 3, 3: 3, 4: 2, 6: 4][Int(kind.0)]!
    for (width, height) in [(64, 48), (37, 29), (1, 1), (3, 1), (1, 6)] {
      let picture = Picture(CPIC_PHOTO, width, height, channels: channels, bits: kind.1 == 16 ? 16 : 8)
      let bytes = picture.png {
        $0.colour_type = kind.0
        $0.bits = kind.1
        $0.interlaced = interlaced
      }
      let stored = RealPicture(try #require(DecodedFile(bytes)).picture).premultiplied
      for longEdge in [64, 31, 9] {
        let (newWidth, newHeight) = (
          expectedSize(width, height, max: longEdge).width, expectedSize(width, height, max: longEdge).height
        )
        let expected = stored.resampled(width: newWidth, height: newHeight).limitedByAlpha
        let what = Comment(rawValue: "\(width)x\(height) to \(longEdge)")

        let made = try make(bytes, max: longEdge)
        let header = made.report.input.header
        #expect(header.depth == Int(kind.1) && header.hasAlpha == (channels % 2 == 0), what)
        #expect(header.arrangement == (interlaced ? .interlaced : .sequential), what)
        #expect(made.picture.bits == (kind.1 == 16 ? 16 : 8) && made.picture.channels == channels, what)
        let difference = made.real.premultiplied.difference(from: expected)
        #expect(difference.largest < 1.6, "\(what), PNG: \(difference)")

        let smooth = try make(bytes, max: longEdge, .jpeg, quality: 100)
        #expect(smooth.picture.bits == 8, what)
        let mean = smooth.luma.difference(from: expected.overWhite.luma).mean
        #expect(mean < (kind.0 == 3 ? 4.5 : 1.7), "\(what), JPEG: \(mean)")
      }
    }
  }

  @Test(arguments: [8, 16], [0, 2])
  func theColourKeyIsTransparent(bits: Int, type: Int32) throws {
    let channels = type == 0 ? 1 : 3
    let unit = bits == 16 ? 257 : 1
    // The right half is of the key's colour; in the left half one value is only next to it.
    let picture = Picture(40, 20, channels: channels, bits: bits) { x, _, _ in
      x >= 20 ? 100 * unit : x == 3 ? 100 * unit + 1 : 30 * unit
    }
    let bytes = picture.png {
      $0.has_key = true
      $0.key = (UInt16(100 * unit), UInt16(100 * unit), UInt16(100 * unit))
    }
    let made = try make(bytes)
    #expect(made.picture.channels == channels + 1 && made.picture.bits == bits)
    for x in 0..<40 {
      #expect(made.picture[x, 10, channels] == (x >= 20 ? 0 : 255 * unit), "\(x)")
      if x < 20 { #expect(abs(made.picture[x, 10, 0] - picture[x, 10, 0]) <= 1) }
    }
    let laid = try make(bytes, .jpeg)
    #expect(laid.picture[33, 10, 0] > 250 && abs(laid.picture[12, 10, 0] - 30) < 4)
  }

  @Test func paletteWithAlpha() throws {
    let palette: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9]
    let picture = Picture(40, 20, channels: 3) { x, _, channel in Int(palette[x / 10 * 3 + channel]) }
    let bytes = picture.png(palette: palette, paletteAlpha: [255, 128, 0]) {
      $0.colour_type = 3
      $0.bits = 2
    }
    let made = try make(bytes)
    #expect(made.report.input.header.colorModel == .palette)
    #expect(made.picture.pixel(5, 5) == [255, 0, 0, 255])
    #expect(made.picture.pixel(15, 5) == [0, 255, 0, 128])
    #expect(made.picture.pixel(25, 5)[3] == 0)
    #expect(made.picture.pixel(35, 5) == [9, 9, 9, 255])
    let laid = try make(bytes, .jpeg, quality: 100)
    for (x, colour) in [(4, [255, 0, 0]), (15, [127, 255, 127]), (25, [255, 255, 255]), (36, [9, 9, 9])] {
      #expect(
        zip(laid.picture.pixel(x, 10), colour).allSatisfy { abs($0 - $1) < 9 }, "\(x): \(laid.picture.pixel(x, 10))")
    }
  }

  /// Colour that cannot be seen must not be seen after scaling either.
  @Test(arguments: [8, 16], [false, true])
  func noHalos(bits: Int, interlaced: Bool) throws {
    let full = bits == 16 ? 65535 : 255
    let picture = Picture(120, 120, channels: 4, bits: bits) { x, y, channel in
      let isInside = (x - 60) * (x - 60) + (y - 60) * (y - 60) < 45 * 45
      return isInside ? [full, 0, 0, full][channel] : [0, full, 0, 0][channel]
    }
    let bytes = picture.png { $0.interlaced = interlaced }
    for longEdge in [120, 77, 30, 11] {
      let made = try make(bytes, max: longEdge)
      let laid = try make(bytes, max: longEdge, .jpeg, quality: 100)
      for y in 0..<made.picture.height {
        for x in 0..<made.picture.width {
          let pixel = made.picture.pixel(x, y)
          // Where alpha is least, its own rounding is most of the colour.
          if pixel[3] > full / 32 {
            #expect(pixel[1] <= full / 50 && pixel[0] >= full * 49 / 50, "\(pixel) at \(x), \(y)")
          }
          // Red over white: blue and green stay alike.
          let flat = laid.picture.pixel(x, y)
          #expect(abs(flat[1] - flat[2]) < 14, "\(flat) at \(x), \(y)")
        }
      }
    }
  }

  @Test func profilesGoThroughUnchanged() throws {
    let picture = Picture(CPIC_PHOTO, 60, 40)
    let profile = iccProfile(CPIC_ICC_DISPLAY_P3, atLeast: 150_000)
    for (channels, interlaced) in [(3, false), (3, true), (4, false)] {
      for format in OutputFormat.compared {
        let bytes = picture.converted(channels: channels).png(icc: profile) { $0.interlaced = interlaced }
        let made = try make(bytes, max: 30, format)
        #expect(made.file.icc == profile && made.report.warnings.isEmpty)
      }
    }
    let gray = try make(picture.converted(channels: 1).png(icc: iccProfile(CPIC_ICC_GRAY)))
    #expect(gray.file.icc == iccProfile(CPIC_ICC_GRAY))
  }

  @Test func textAndJunkAreSkipped() throws {
    let bytes = Picture(CPIC_PHOTO, 40, 30).png {
      $0.text = true
      $0.junk_chunks = 200
      $0.junk_chunk_bytes = 3000
      $0.idat_bytes = 100
      $0.gamma = 0.45455
    }
    let made = try make(bytes)
    #expect(made.file.info.other_segments == 0 && made.picture.width == 40)
  }

  // MARK: Exactness

  /// What is transparent: nothing, a key, or a palette's alpha for some of its entries.
  static let transparencies = [false, true]

  /// Noise of every kind, against the rows that another reader gives: the same at 1:1, and within one code value of them
  /// resized in double precision.
  @Test(arguments: kinds, transparencies)
  func everyKindIsExact(kind: (Int32, Int32), isTransparent: Bool) throws {
    let (type, bits) = kind
    if isTransparent && type >= 4 { return }
    let channels = [0: 1, 2: 3, 3: 3, 4: 2, 6: 4][Int(type)]!
    let paletteAlpha: [UInt8] = isTransparent && type == 3 ? (bits == 1 ? [100] : [0, 128, 255]) : []
    for interlaced in [false, true] {
      for (width, height) in [(41, 33), (8, 70), (1, 1), (5, 1)] {
        let noise = Picture(CPIC_NOISE, width, height, channels: channels, bits: bits == 16 ? 16 : 8)
        let bytes = noise.png(paletteAlpha: paletteAlpha) {
          $0.colour_type = type
          $0.bits = bits
          $0.interlaced = interlaced
          $0.has_key = isTransparent && type != 3
          // Of the middle pixel, all bits of it.
          let middle = (0..<3).map { channel -> UInt16 in
            let value = noise[width / 2, height / 2, min(channel, channels - 1)]
            let top = 1 << Int(bits) - 1
            return UInt16(bits >= 8 ? value : (value * top + 127) / 255)
          }
          $0.key = (middle[0], middle[1], middle[2])
        }
        let stored = try #require(DecodedFile(bytes)).picture
        let what = Comment(rawValue: "\(width)x\(height), interlaced \(interlaced)")
        if isTransparent && type != 3 { #expect(stored[width / 2, height / 2, stored.channels - 1] == 0, what) }
        let same = try make(bytes).picture
        #expect(same.channels == stored.channels && same.bits == stored.bits, what)
        // Colour times alpha has 16 bits, which is one short of both.
        #expect(Self.worstAtFullSize(same, stored) <= (stored.bits == 16 && stored.channels % 2 == 0 ? 1 : 0), what)
        let real = RealPicture(stored).premultiplied
        // From 8:1 on there are boxes before the filter, which is another one then.
        for longEdge in [40, 23, 16, 9, 6] where longEdge < max(width, height) {
          let size = expectedSize(width, height, max: longEdge)
          if size.width * 8 <= width || size.height * 8 <= height { continue }
          let expected = real.resampled(width: size.width, height: size.height).limitedByAlpha
          let made = try make(bytes, max: longEdge)
          let difference = made.real.premultiplied.difference(from: expected).largest
          #expect(difference <= 1, "\(what), to \(longEdge)")
        }
      }
    }
  }

  /// The largest difference at 1:1, of colour that can be seen. Where alpha is low the colour is what it is multiplied with it.
  private static func worstAtFullSize(_ made: Picture, _ stored: Picture) -> Int {
    var worst = 0
    let hasAlpha = stored.channels % 2 == 0
    let full = stored.bits == 16 ? 65535 : 255
    for y in 0..<stored.height {
      for x in 0..<stored.width {
        let (mine, theirs) = (made.pixel(x, y), stored.pixel(x, y))
        let alpha = hasAlpha ? theirs[theirs.count - 1] : full
        if hasAlpha { worst = max(worst, abs(mine[mine.count - 1] - alpha)) }
        for channel in 0..<(hasAlpha ? mine.count - 1 : mine.count) {
          let difference = abs(mine[channel] - theirs[channel]) * alpha
          worst = max(worst, (difference + full / 2) / full)
        }
      }
    }
    return worst
  }

  /// Keys of 16 bits that differ in the low byte alone.
  @Test(arguments: [false, true])
  func theLowByteOfAKeyMatters(interlaced: Bool) throws {
    let picture = Picture(16, 4, channels: 3, bits: 16) { x, _, _ in x < 8 ? 0x1234 : 0x1235 }
    let bytes = picture.png {
      $0.has_key = true
      $0.key = (0x1234, 0x1234, 0x1234)
      $0.interlaced = interlaced
    }
    let made = try make(bytes).picture
    #expect(made[3, 2, 3] == 0 && made[12, 2, 3] == 65535 && made[12, 2, 0] == 0x1235)
  }

  /// 16 bits become 8 by rounding: 0x3FE0 is 63.6, where its high byte is 63.
  @Test(arguments: [1, 2, 3, 4], [false, true])
  func depthIsRounded(channels: Int, interlaced: Bool) throws {
    for value in [0x3FE0, 0x00FF, 0x10FF, 0xFE80, 0xFFFF, 0] {
      let picture = Picture(32, 32, channels: channels, bits: 16) { _, _, channel in
        channels % 2 == 0 && channel == channels - 1 ? 65535 : value
      }
      let bytes = picture.png { $0.interlaced = interlaced }
      for longEdge in [32, 16] {
        let made = try make(bytes, max: longEdge, .jpeg, quality: 100).picture
        for channel in 0..<made.channels {
          #expect(made[7, 9, channel] == (value + 128) / 257, "\(value) to \(longEdge)")
        }
      }
    }
  }

  @Test func backgroundAndSignificantBitsAreIgnored() throws {
    let picture = Picture(CPIC_NOISE, 20, 10)
    var bytes = picture.png()
    // sBIT 5, 5, 5 and bKGD black, with their checksums.
    let chunks: [UInt8] = [
      0, 0, 0, 3, 0x73, 0x42, 0x49, 0x54, 5, 5, 5, 0x18, 0x26, 0xDE, 0x43,
      0, 0, 0, 6, 0x62, 0x4B, 0x47, 0x44, 0, 0, 0, 0, 0, 0, 0xF9, 0x43, 0xBB, 0x7F,
    ]
    bytes.insert(contentsOf: chunks, at: 33)
    #expect(try make(bytes).picture.largestDifference(from: picture) == 0)
  }
}
