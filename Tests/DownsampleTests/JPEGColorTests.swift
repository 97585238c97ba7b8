import CPictures
import Codecs
import Raster
import TestPictures
import Testing

@testable import Downsample

/// How the components of a JPEG are taken, whatever its markers say.
@Suite struct JPEGColorTests {
  static let picture = Picture(CPIC_GRADIENT, 96, 80)

  private static func setting(transform: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    JPEGFile(bytes).changing(0xEE) { $0[11] = transform }.bytes
  }

  private static func setting(identifiers: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
    JPEGFile(bytes).changing(0xC0) { frame in for (i, id) in identifiers.enumerated() { frame[6 + 3 * i] = id } }
      .changing(0xDA) { scan in for (i, id) in identifiers.enumerated() { scan[1 + 2 * i] = id } }.bytes
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let model: ImageHeader.ColorModel
    let isRight: Bool
    let isOdd: Bool
    let bytes: @Sendable () -> [UInt8]

    init(
      _ name: String, _ model: ImageHeader.ColorModel, isRight: Bool = true, isOdd: Bool = false,
      _ bytes: @escaping @Sendable () -> [UInt8]
    ) {
      (testDescription, self.model, self.isRight, self.isOdd, self.bytes) = (name, model, isRight, isOdd, bytes)
    }
  }

  private static func encoded(_ space: cpic_jpeg_space, jfif: Int32, adobe: Int32, inverted: Bool = true) -> [UInt8] {
    let isInk = space == CPIC_JPEG_CMYK || space == CPIC_JPEG_YCCK
    return (isInk ? picture.cmyk : picture).jpeg {
      $0.space = space
      $0.jfif = jfif
      $0.adobe = adobe
      $0.inverted = inverted
      cpic_jpeg_set_sampling(&$0, 444)
    }
  }

  static let cases = [
    Case("YCbCr, Adobe 1", .ycbcr) { encoded(CPIC_JPEG_YCBCR, jfif: 0, adobe: 1) },
    Case("YCbCr, JFIF wins over Adobe 0", .ycbcr) {
      setting(transform: 0, encoded(CPIC_JPEG_YCBCR, jfif: 1, adobe: 1))
    },
    Case("RGB, Adobe 0", .rgb) { encoded(CPIC_JPEG_RGB, jfif: 0, adobe: 1) },
    Case("YCbCr that Adobe 0 calls RGB", .rgb, isRight: false) {
      setting(transform: 0, encoded(CPIC_JPEG_YCBCR, jfif: 0, adobe: 1))
    },
    Case("YCbCr, Adobe 7", .ycbcr, isOdd: true) { setting(transform: 7, encoded(CPIC_JPEG_YCBCR, jfif: 0, adobe: 1)) },
    Case("YCbCr, JFIF and Adobe 7", .ycbcr) { setting(transform: 7, encoded(CPIC_JPEG_YCBCR, jfif: 1, adobe: 1)) },
    Case("YCbCr numbered from 0", .ycbcr) {
      setting(identifiers: [0, 1, 2], encoded(CPIC_JPEG_YCBCR, jfif: 0, adobe: 0))
    },
    Case("YCbCr with odd identifiers", .ycbcr) {
      setting(identifiers: [34, 200, 3], encoded(CPIC_JPEG_YCBCR, jfif: 0, adobe: 0))
    },
    Case("RGB by its letters", .rgb) {
      setting(identifiers: Array("RGB".utf8), encoded(CPIC_JPEG_RGB, jfif: 0, adobe: 0))
    },
    Case("letters, but JFIF", .ycbcr) {
      setting(identifiers: Array("RGB".utf8), encoded(CPIC_JPEG_YCBCR, jfif: 1, adobe: 0))
    },
    Case("letters, but Adobe 1", .ycbcr) {
      setting(identifiers: Array("RGB".utf8), encoded(CPIC_JPEG_YCBCR, jfif: 0, adobe: 1))
    },
    Case("RGB numbered from 1, unmarked", .ycbcr, isRight: false) { encoded(CPIC_JPEG_RGB, jfif: 0, adobe: 0) },
    Case("CMYK, Adobe 0, inverted", .cmyk) { encoded(CPIC_JPEG_CMYK, jfif: 0, adobe: 1) },
    Case("CMYK, Adobe 0, not inverted", .cmyk, isRight: false) {
      encoded(CPIC_JPEG_CMYK, jfif: 0, adobe: 1, inverted: false)
    },
    Case("CMYK unmarked, not inverted", .cmyk) { encoded(CPIC_JPEG_CMYK, jfif: 0, adobe: 0, inverted: false) },
    Case("CMYK unmarked, inverted", .cmyk, isRight: false) { encoded(CPIC_JPEG_CMYK, jfif: 0, adobe: 0) },
    Case("CMYK, JFIF alone", .cmyk) { encoded(CPIC_JPEG_CMYK, jfif: 1, adobe: 0, inverted: false) },
    Case("YCCK, Adobe 2, inverted", .ycck) { encoded(CPIC_JPEG_YCCK, jfif: 0, adobe: 1) },
    Case("YCCK, JFIF and Adobe 2", .ycck) { encoded(CPIC_JPEG_YCCK, jfif: 1, adobe: 1) },
    Case("YCCK, Adobe 1", .ycck, isOdd: true) { setting(transform: 1, encoded(CPIC_JPEG_YCCK, jfif: 0, adobe: 1)) },
    Case("YCCK that Adobe 0 calls CMYK", .cmyk, isRight: false) {
      setting(transform: 0, encoded(CPIC_JPEG_YCCK, jfif: 0, adobe: 1))
    },
  ]

  @Test(arguments: cases) func markersDecide(_ which: Case) throws {
    let made = try make(which.bytes(), max: 48)
    #expect(made.report.input.header.colorModel == which.model)
    let odd = made.report.warnings.filter { $0.contains("Adobe") }
    #expect(odd.count == (which.isOdd ? 1 : 0) && made.report.warnings.count == odd.count, "\(made.report.warnings)")
    let difference = made.real.difference(from: RealPicture(Self.picture).resampled(width: 48, height: 40))
    #expect((difference.mean < 2.5) == which.isRight, "\(difference)")
  }

  @Test(arguments: [0, 1, 2, 9]) func grayWithTheAdobeMarker(transform: UInt8) throws {
    let gray = Self.picture.converted(channels: 1)
    let made = try make(Self.setting(transform: transform, gray.jpeg { $0.adobe = 1 }), max: 48)
    #expect(made.report.input.header.colorModel == .gray && made.report.warnings.isEmpty)
    #expect(made.real.difference(from: RealPicture(gray).resampled(width: 48, height: 40)).mean < 2.5)
  }

  @Test(arguments: [2, 5]) func otherNumbersOfComponents(count: Int) throws {
    let file = JPEGFile(Self.picture.converted(channels: 1).jpeg()).changing(0xC0) { frame in
      frame[5] = UInt8(count)
      for i in 1..<count { frame += [UInt8(i + 1), 0x11, 0] }
    }
    let error = #expect(throws: DownsampleError.self) { try make(file.bytes) }
    #expect(error?.code == .unsupported)
    #expect(error?.message == "this JPEG cannot be decoded: it has \(count) components; 1, 3 and 4 are known")
  }
}
