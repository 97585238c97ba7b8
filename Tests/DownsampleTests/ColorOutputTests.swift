import CPictures
import Codecs
import Foundation
import Raster
import TestPictures
import Testing

@testable import Downsample

@Suite struct ColorOutputTests {
  private func run(
    _ bytes: [UInt8], _ format: Codecs.OutputFormat = .png, max maxPixelSize: Int = 2048, color: OutputColor = .keep,
    depth: SampleDepth? = nil, background: BackgroundColor = .white
  ) throws -> Made {
    let request = Request(
      maxPixelSize: maxPixelSize, format: format, quality: 95, depth: depth, color: color, background: background,
      memory: .ample)
    let (made, report) = try makeBytes(MemorySource(bytes), request: request)
    let file = try #require(DecodedFile(made), "the output cannot be read")
    return Made(bytes: made, file: file, report: report)
  }

  // MARK: What colour means

  private func header(_ icc: [UInt8] = [], _ numbers: ImageHeader.CodedColor? = nil) -> ImageHeader {
    var header = ImageHeader(
      kind: "PNG", codedSize: PixelSize(width: 8, height: 8), depth: 8, colorModel: .rgb, arrangement: .sequential)
    header.iccProfile = icc
    header.codedColor = numbers
    return header
  }

  private func numbers(_ primaries: Int, _ transfer: Int) -> ImageHeader.CodedColor {
    ImageHeader.CodedColor(primaries: primaries, transfer: transfer, matrix: 0, isFullRange: true)
  }

  @Test func precedence() {
    let profile = iccProfile(CPIC_ICC_ADOBE_LIKE)
    #expect(SourceColor(header(), .rgb).space == .srgb(isStated: false))
    #expect(SourceColor(header([], .srgb), .rgb).space == .srgb(isStated: true))
    #expect(SourceColor(header(profile, numbers(12, 13)), .rgb).space == .profile(profile))
    #expect(SourceColor(header([], numbers(12, 13)), .rgb).space == .described(.displayP3))
    // One that is broken leaves the word to the numbers.
    let broken = SourceColor(header(Array(profile.dropLast(100)), numbers(12, 13)), .rgb)
    #expect(broken.space == .described(.displayP3) && broken.warnings.count == 1)
    // No profile says how bright PQ is.
    #expect(SourceColor(header(profile, numbers(9, 16)), .rgb).space == .highDynamicRange(.pq, .bt2020))
    #expect(SourceColor(header([], numbers(2, 18)), .rgb).space == .highDynamicRange(.hlg, .bt2020))
    #expect(SourceColor(header([], numbers(12, 16)), .rgb).space == .highDynamicRange(.pq, .p3))
    // Gray has no primaries.
    #expect(SourceColor(header([], numbers(9, 13)), .gray).space == .srgb(isStated: true))
  }

  @Test func numbersOfH273() {
    for transfer in [1, 2, 6, 7, 13, 14, 15] {
      #expect(SourceColor(header([], numbers(1, transfer)), .rgb).space == .srgb(isStated: true), "\(transfer)")
      #expect(
        SourceColor(header([], numbers(9, transfer)), .rgb).space
          == .described(RGBSpace(primaries: .bt2020, curve: .srgb)))
    }
    #expect(SourceColor(header([], numbers(2, 2)), .rgb).space == .srgb(isStated: false))
    for (transfer, gamma) in [(4, 2.2), (5, 2.8), (8, 1)] {
      #expect(
        SourceColor(header([], numbers(1, transfer)), .rgb).space
          == .described(RGBSpace(primaries: .bt709, curve: .gamma(gamma))))
    }
    for primaries in [1, 4, 5, 6, 7, 8, 9, 11, 12, 22] {
      let color = SourceColor(header([], numbers(primaries, 8)), .rgb)
      guard case .described(let space) = color.space else {
        Issue.record("\(primaries)")
        continue
      }
      #expect(space.iccProfile(named: "")?.isEmpty == false && color.warnings.isEmpty)
    }
    #expect(SourceColor(header([], numbers(77, 99)), .rgb).warnings.count == 2)
  }

  @Test func gammaAndPrimaries() {
    func color(_ gamma: Double?, _ points: Primaries?) -> SourceColor {
      var header = header()
      header.calibration = .init(
        gamma: gamma,
        chromaticities: points.map { p in [p.white, p.red, p.green, p.blue].map { .init(x: $0.x, y: $0.y) } })
      return SourceColor(header, .rgb)
    }
    #expect(color(0.45455, nil).space == .srgb(isStated: true))
    #expect(color(0.45455, .bt709).space == .srgb(isStated: true))
    #expect(color(nil, .bt709).space == .srgb(isStated: true))
    #expect(color(1, nil).space == .described(RGBSpace(primaries: .bt709, curve: .gamma(1))))
    #expect(color(nil, .p3).space == .described(.displayP3))
    #expect(color(0.5, .bt2020).space == .described(RGBSpace(primaries: .bt2020, curve: .gamma(2))))
    for gamma in [0, -1, .nan, .infinity] {
      let odd = color(gamma, nil)
      #expect(odd.space == .srgb(isStated: true) && odd.warnings.count == 1)
    }
    let flat = Primaries(red: .init(0.3, 0.3), green: .init(0.3, 0.3), blue: .init(0.3, 0.3))
    #expect(color(0.45455, flat).warnings.count == 1)
  }

  // MARK: Kept

  @Test(arguments: [Codecs.OutputFormat.jpeg, .png, .heic]) func profilesAreKeptByteForByte(
    _ format: Codecs.OutputFormat
  ) throws {
    for kind in [CPIC_ICC_SRGB, CPIC_ICC_DISPLAY_P3, CPIC_ICC_ADOBE_LIKE] {
      let profile = iccProfile(kind, atLeast: 150_000)
      let made = try run(Picture(CPIC_PHOTO, 96, 64).jpeg(icc: profile), format, max: 64)
      #expect(made.file.icc == profile && made.report.warnings.isEmpty)
    }
  }

  @Test func brokenProfilesAreLeftOut() throws {
    let picture = Picture(CPIC_PHOTO, 64, 48)
    let plain = try run(picture.jpeg())
    let profile = iccProfile(CPIC_ICC_ADOBE_LIKE)
    for broken in [
      iccProfile(CPIC_ICC_GRAY), Array(profile.dropLast(60)), [UInt8](repeating: 0, count: 40),
      [UInt8](repeating: 7, count: 4000),
    ] {
      for color in OutputColor.allCases where color != .p3 {
        let made = try run(picture.jpeg(icc: broken), color: color)
        #expect(made.file.icc.isEmpty && made.report.warnings.count == 1, "\(made.report.warnings)")
        #expect(made.picture.largestDifference(from: plain.picture) == 0)
      }
    }
  }

  @Test func numbersBecomeAProfile() throws {
    for format in Codecs.OutputFormat.compared {
      let wide = try run(
        Picture(CPIC_PHOTO, 64, 48).heif {
          $0.primaries = 12
          $0.transfer = 13
        }, format)
      #expect(ICCProfile.describes(.displayP3, wide.file.icc))
      let plain = try run(Picture(CPIC_PHOTO, 64, 48).heif(), format)
      #expect(plain.file.icc.isEmpty)
    }
  }

  // MARK: Converted

  @Test func grayStaysGray() throws {
    let ramp = Picture(256, 16, channels: 1) { x, _, _ in x }
    for color in [OutputColor.srgb, .p3] {
      let made = try run(ramp.png(icc: iccProfile(CPIC_ICC_GRAY)), color: color)
      #expect(made.picture.channels == 1 && made.file.icc.isEmpty && made.report.warnings.isEmpty)
      for x in 0..<256 {
        let exact = ToneCurve.srgb.code(of: pow(Double(x) / 255, 2.2)) * 255
        #expect(abs(Double(made.picture[x, 8, 0]) - exact) <= 1, "\(x)")
      }
    }
    let kept = try run(ramp.png(icc: iccProfile(CPIC_ICC_GRAY)), .jpeg)
    #expect(kept.picture.channels == 1 && kept.file.icc == iccProfile(CPIC_ICC_GRAY))
  }

  @Test func thereAndBack() throws {
    // Colours that sRGB has, so that nothing is cut off.
    let picture = Picture(CPIC_PHOTO, 96, 64)
    let wide = try run(picture.png(), color: .p3)
    #expect(ICCProfile.describes(.displayP3, wide.file.icc))
    #expect(wide.picture.largestDifference(from: picture)! > 10)
    let back = try run(wide.bytes, color: .srgb)
    #expect(back.file.icc.isEmpty)
    #expect(RealPicture(back.picture).difference(from: RealPicture(picture)).mean < 0.6)
    // Already there: nothing changes.
    let again = try run(wide.bytes, color: .p3)
    #expect(again.file.icc == wide.file.icc && again.picture.largestDifference(from: wide.picture) == 0)
    let same = try run(picture.jpeg(icc: iccProfile(CPIC_ICC_SRGB)), color: .srgb)
    #expect(same.file.icc.isEmpty)
    #expect(same.picture.largestDifference(from: try run(picture.jpeg()).picture) == 0)
  }

  /// No conversion, no detour: what is sRGB already goes the way of the default.
  @Test func srgbOfAnUntaggedPhotoIsTheDefault() throws {
    let photo = Picture(CPIC_PHOTO, 200, 150).jpeg()
    #expect(try run(photo, .jpeg, max: 100, color: .srgb).bytes == run(photo, .jpeg, max: 100).bytes)
  }

  @Test func alphaPassesThroughConversions() throws {
    let picture = Picture(CPIC_PHOTO, 64, 64, channels: 4)
    let plain = try run(picture.png())
    let made = try run(picture.png(icc: iccProfile(CPIC_ICC_DISPLAY_P3)), color: .srgb)
    #expect(made.picture.channels == 4)
    for x in 0..<64 { #expect(made.picture[x, 20, 3] == plain.picture[x, 20, 3]) }
  }

  @Test func inkWithoutAProfile() throws {
    let ink = Picture(CPIC_PHOTO, 64, 48).cmyk
    let plain = try run(ink.jpeg())
    let wide = try run(ink.jpeg(), color: .p3)
    #expect(plain.file.icc.isEmpty && ICCProfile.describes(.displayP3, wide.file.icc))
    #expect(wide.picture.largestDifference(from: plain.picture)! > 5)
    let deep = try run(ink.jpeg(), depth: .sixteen)
    #expect(deep.picture.bits == 16 && deep.picture.converted(channels: 3).largestDifference(from: plain.picture) == 0)
  }

  // MARK: High dynamic range

  @Test(arguments: [Int32(16), 18], [0, 64]) func highDynamicRangeOfHEIF(transfer: Int32, tile: Int32) throws {
    for codec in [CPIC_HEVC, CPIC_AV1] {
      let bytes = Picture(CPIC_PHOTO, 80, 64).heif {
        $0.codec = codec
        $0.bits = 10
        $0.transfer = transfer
        $0.primaries = 9
        $0.matrix = 9
        $0.tile_width = tile
      }
      for format in Codecs.OutputFormat.compared {
        let made = try run(bytes, format)
        let name = transfer == 16 ? "PQ" : "HLG"
        #expect(made.report.warnings.contains { $0.contains("tone-mapped from \(name)") && $0.contains("sRGB") })
        #expect(made.file.icc.isEmpty && made.size == PixelSize(width: 80, height: 64))
      }
      let wide = try run(bytes, color: .p3)
      #expect(ICCProfile.describes(.displayP3, wide.file.icc))
    }
  }

  @Test func highDynamicRangeOfPNG() throws {
    for bits in [8, 16] {
      let ramp = Picture(256, 8, channels: 3, bits: bits) { x, _, _ in x * (bits == 8 ? 1 : 257) }
      let made = try run(
        ramp.png {
          $0.has_cicp = true
          $0.cicp = (9, 16, 0, 1)
        }, .png, depth: .eight)
      #expect(made.picture.bits == 8 && made.report.warnings.count == 1)
      for x in 1..<256 { #expect(made.picture[x, 4, 0] >= made.picture[x - 1, 4, 0]) }
      // 100 cd/m2 lie at 0.508 and are a little below half of white's light; 1,000 and more are white.
      #expect(made.picture[0, 4, 1] == 0 && (180...190).contains(made.picture[130, 4, 1]))
      #expect(made.picture[192, 4, 2] >= 254)
    }
  }

  /// What lies under a transparent picture is not part of it: it keeps its colour.
  @Test func backgroundUnderHighDynamicRange() throws {
    let clear = Picture(16, 16, channels: 4, bits: 16) { _, _, channel in channel == 3 ? 0 : 40000 }
    let made = try run(
      clear.png {
        $0.has_cicp = true
        $0.cicp = (9, 16, 0, 1)
      }, .jpeg, background: try BackgroundColor(css: "rgb(200 100 50)"))
    for (value, expected) in zip(made.picture.pixel(8, 8), [200, 100, 50]) { #expect(abs(value - expected) <= 3) }
  }

  // MARK: Depth

  @Test func depthIsRounded() throws {
    let words = Picture(256, 256, channels: 1, bits: 16) { x, y, _ in y * 256 + x }
    let kept = try run(words.png())
    #expect(kept.picture.bits == 16 && kept.picture.largestDifference(from: words) == 0)
    let made = try run(words.png(), depth: .eight)
    #expect(made.picture.bits == 8)
    for y in stride(from: 0, to: 256, by: 3) {
      for x in 0..<256 where abs(Double(y * 256 + x) / 257 - Double(made.picture[x, y, 0])) > 0.501 {
        Issue.record("\(y * 256 + x) became \(made.picture[x, y, 0])")
      }
    }
    for channels in 1...4 {
      let bytes = Picture(CPIC_PHOTO, 40, 30, channels: channels)
      let deep = try run(bytes.png(), depth: .sixteen)
      #expect(deep.picture.bits == 16)
      #expect(
        deep.picture.converted(channels: channels).largestDifference(from: try run(bytes.png()).picture)! <= 1)
    }
  }

  /// Not made in 8 bits and widened.
  @Test(arguments: [1, 2, 3, 4]) func eightBitsAreAveragedInSixteen(channels: Int) throws {
    let bytes = Picture(CPIC_PHOTO, 80, 60, channels: channels)
    for file in [bytes.png(), bytes.heif { $0.quality = 100 }] {
      let deep = try run(file, max: 40, depth: .sixteen)
      let between = (0..<40).filter { deep.picture[$0, 20, 0] % 257 != 0 }
      #expect(deep.picture.bits == 16 && between.count > 20, "\(between.count)")
      let plain = try run(file, max: 40).picture
      #expect(deep.picture.converted(channels: channels).largestDifference(from: plain)! <= 2)
    }
  }

  /// Luma and colour difference are not rounded to 8 bits before they are converted.
  @Test func ycbcrIsConvertedUnrounded() throws {
    let jpeg = Picture(CPIC_PHOTO, 192, 128).jpeg(icc: iccProfile(CPIC_ICC_ADOBE_LIKE)) {
      $0.quality = 100
      cpic_jpeg_set_sampling(&$0, 444)
    }
    let stored = try #require(DecodedFile(jpeg)).picture
    let deep = Picture(192, 128, channels: 3, bits: 16) { x, y, c in stored[x, y, c] * 257 }
    let exact = try run(deep.png(icc: iccProfile(CPIC_ICC_ADOBE_LIKE)), max: 64, color: .srgb)
    let made = try run(jpeg, max: 64, color: .srgb)
    let difference = RealPicture(made.picture).difference(from: RealPicture(exact.picture))
    #expect(difference.mean < 0.45, "\(difference.mean)")
  }

  @Test func depthThatAFormatLacks() {
    for format in [Codecs.OutputFormat.jpeg, .heic, .avif] {
      let error = #expect(throws: DownsampleError.self) {
        try run(Picture(CPIC_PHOTO, 8, 8).png(), format, depth: .sixteen)
      }
      #expect(error?.code == .usage && error?.message.contains("--depth 16") == true)
    }
  }

  @Test func sixteenBitsAreConvertedInSixteen() throws {
    let ramp = Picture(4096, 1, channels: 3, bits: 16) { x, _, _ in x * 16 }
    let made = try run(ramp.png(icc: iccProfile(CPIC_ICC_ADOBE_LIKE)), max: 4096, color: .srgb)
    #expect(made.picture.bits == 16)
    for x in 0..<4096 {
      let exact = ToneCurve.srgb.code(of: pow(Double(x * 16) / 65535, 2.2)) * 65535
      #expect(abs(Double(made.picture[x, 0, 1]) - exact) < 120, "\(x)")
    }
    #expect(Set((0..<4096).map { made.picture[$0, 0, 1] }).count > 3500)
  }

  // MARK: Background

  @Test func backgroundInTheSpaceOfTheOutput() throws {
    let clear = Picture(32, 32, channels: 4) { _, _, channel in channel == 3 ? 0 : 128 }
    let red = try BackgroundColor(css: "red")
    func expect(_ made: Made, _ expected: [Int]) {
      for (value, expected) in zip(made.picture.pixel(16, 16), expected) {
        #expect(abs(value - expected) <= 4, "\(made.picture.pixel(16, 16)), not \(expected)")
      }
    }
    expect(try run(clear.png(), .jpeg), [255, 255, 255])
    expect(try run(clear.png(), .jpeg, background: red), [254, 0, 0])
    // sRGB's red in Display P3.
    expect(try run(clear.png(icc: iccProfile(CPIC_ICC_DISPLAY_P3)), .jpeg, background: red), [234, 51, 35])
    expect(try run(clear.png(), .jpeg, color: .p3, background: red), [234, 51, 35])
    expect(
      try run(clear.png(icc: iccProfile(CPIC_ICC_DISPLAY_P3)), .jpeg, color: .srgb, background: red), [254, 0, 0])
    // A format that holds alpha has no use for it.
    #expect(try run(clear.png(), background: red).picture.pixel(16, 16)[3] == 0)
    let gray = Picture(16, 16, channels: 2) { _, _, channel in channel == 1 ? 0 : 10 }
    let flat = try run(gray.png(), .jpeg, background: try BackgroundColor(css: "#808080"))
    #expect(flat.picture.channels == 1 && abs(flat.picture[8, 8, 0] - 128) <= 1)
  }
}
