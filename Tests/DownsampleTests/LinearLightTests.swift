import CPictures
import Codecs
import Foundation
import Raster
import TestPictures
import Testing

@testable import Downsample

@Suite struct LinearLightTests {
  private func make(
    _ bytes: [UInt8], max: Int, _ format: Codecs.OutputFormat = .png, isLinear: Bool = true,
    kernel: ResamplingKernel = .box
  ) throws -> (picture: Picture, report: Report) {
    let request = Request(
      maxPixelSize: max, format: format, quality: 100, isLinear: isLinear, kernel: kernel, memory: .ample)
    let (made, report) = try makeBytes(MemorySource(bytes), request: request)
    return (try #require(DecodedFile(made)).picture, report)
  }

  private func linear(_ coded: Double) -> Double {
    coded <= 0.04045 ? coded / 12.92 : pow((coded + 0.055) / 1.055, 2.4)
  }

  private func coded(_ linear: Double) -> Double {
    linear <= 0.0031308 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055
  }

  /// Half of the pixels white: half of the light, which is 188 in sRGB; the mean of the codes is 128.
  @Test func checkerboard() throws {
    for channels in 1...4 {
      for bits in [8, 16] {
        let full = bits == 8 ? 255 : 65535
        let board = Picture(64, 48, channels: channels, bits: bits) { x, y, channel in
          channels % 2 == 0 && channel == channels - 1 ? full : (x + y) % 2 * full
        }
        for isInterlaced in [false, true] {
          let file = board.png { $0.interlaced = isInterlaced }
          for (isLinear, value) in [(true, 187.516), (false, 127.5)] {
            let made = try make(file, max: 32, isLinear: isLinear).picture
            #expect(abs(Double(made[7, 9, 0]) / Double(full) * 255 - value) <= 0.51, "\(channels) of \(bits) bits")
          }
          #expect(abs(Double(try make(file, max: 32, .jpeg).picture[7, 9, 0]) - 187.5) <= 1.5)
        }
      }
    }
    let gray = Picture(64, 48, channels: 1) { x, y, _ in (x + y) % 2 * 255 }
    let color = Picture(64, 48, channels: 3) { x, y, _ in (x + y) % 2 * 255 }
    let files = [
      gray.jpeg { $0.quality = 100 }, color.jpeg { $0.quality = 100 },
      color.jpeg {
        $0.quality = 100
        cpic_jpeg_set_sampling(&$0, 444)
      },
    ]
    for file in files + [
      color.heif { $0.lossless = true },
      gray.heif {
        $0.lossless = true
        $0.full_range = false
      },
    ] {
      for format in Codecs.OutputFormat.compared {
        #expect(abs(Double(try make(file, max: 32, format).picture[7, 9, 0]) - 187.5) <= 2.5)
      }
    }
  }

  /// Against light averaged in double precision.
  @Test(arguments: [(3, 8), (1, 16), (3, 16)]) func isTheMeanOfLight(channels: Int, bits: Int) throws {
    let full = bits == 8 ? 255.0 : 65535
    let picture = Picture(CPIC_PHOTO, 96, 60, channels: channels, bits: bits)
    let made = try make(picture.png(), max: 32).picture
    var worst = 0.0
    for y in 0..<20 {
      for x in 0..<32 {
        for c in 0..<channels {
          var sum = 0.0
          for i in 0..<9 { sum += linear(Double(picture[x * 3 + i % 3, y * 3 + i / 3, c]) / full) }
          worst = max(worst, abs(Double(made[x, y, c]) - coded(sum / 9) * full))
        }
      }
    }
    #expect(worst < (bits == 8 ? 0.6 : 8))
  }

  /// Colour of transparent pixels counts for nothing, edges of alpha are averaged as light, premultiplied or not.
  @Test func alpha() throws {
    let picture = Picture(60, 40, channels: 4) { x, y, channel in
      (x + y) % 2 == 0 ? [200, 60, 20, 255][channel] : [0, 255, 90, 0][channel]
    }
    let made = try make(picture.png(), max: 30).picture
    #expect((0..<3).allSatisfy { abs(made[5, 6, $0] - [200, 60, 20][$0]) <= 1 } && abs(made[5, 6, 3] - 128) <= 1)
    // Over white, half of its light.
    let flat = try make(picture.png(), max: 30, .jpeg).picture
    let expected = [200, 60, 20].map { coded((linear(Double($0) / 255) + 1) / 2) * 255 }
    for c in 0..<3 { #expect(abs(Double(flat[5, 6, c]) - expected[c]) < 4) }
    let premultiplied = picture.heif {
      $0.lossless = true
      $0.chroma = CPIC_CHROMA_444
      $0.premultiplied = true
    }
    let again = try make(premultiplied, max: 30).picture
    #expect((0..<3).allSatisfy { abs(again[5, 6, $0] - [200, 60, 20][$0]) <= 4 })
  }

  /// The curve is the profile's: of gamma 2.2 here, whose half of the light is 186.
  @Test func profilesCurve() throws {
    for (channels, kind) in [(1, CPIC_ICC_GRAY), (3, CPIC_ICC_ADOBE_LIKE)] {
      let file = Picture(64, 48, channels: channels) { x, y, _ in (x + y) % 2 * 255 }.png(icc: iccProfile(kind))
      #expect(abs(try make(file, max: 32).picture[7, 9, 0] - Int((pow(0.5, 1 / 2.2) * 255).rounded())) <= 1)
    }
  }

  @Test func flatStaysFlat() throws {
    for value in [0, 1, 2, 3, 20, 128, 254, 255] {
      let picture = Picture(50, 40, channels: 3) { _, _, _ in value }
      for file in [
        picture.png(),
        picture.heif {
          $0.lossless = true
          $0.chroma = CPIC_CHROMA_444
        },
      ] {
        let made = try make(file, max: 21, kernel: .lanczos3).picture
        #expect(abs(made[3, 4, 0] - value) <= (file.starts(with: [0x89]) ? 0 : 1))
      }
    }
  }

  @Test func whereItCannotBe() throws {
    let cmyk = Picture(CPIC_PHOTO, 64, 48).cmyk.jpeg()
    let (linear, plain) = (try make(cmyk, max: 32), try make(cmyk, max: 32, isLinear: false))
    #expect(linear.report.warnings.contains { $0.contains("linear light") })
    #expect((0..<32).allSatisfy { linear.picture.pixel($0, 5) == plain.picture.pixel($0, 5) })
    // Nothing is averaged.
    let kept = Picture(CPIC_PHOTO, 64, 48).png()
    let same = try make(kept, max: 64)
    #expect((0..<64).allSatisfy { same.picture.pixel($0, 5) == Picture(CPIC_PHOTO, 64, 48).pixel($0, 5) })
    #expect(same.report.warnings.isEmpty)
  }

  /// libjpeg's smaller pictures are means of codes.
  @Test func jpegIsDecodedWhole() throws {
    let file = Picture(CPIC_PHOTO, 640, 480).jpeg()
    func strategy(_ isLinear: Bool, _ max: Int) throws -> String {
      try make(file, max: max, isLinear: isLinear).report.plan.strategy
    }
    #expect(try strategy(false, 160).contains("4/8") && strategy(true, 160).contains("8/8"))
    #expect(try strategy(false, 20).contains("1/8") && strategy(true, 20).contains("8/8"))
  }
}
