import CPictures
import Codecs
import Metadata
import Raster
import TestPictures
import Testing

@testable import Downsample

/// Metadata from file to file, read back without us.
@Suite struct MetadataTests {
  private static let position = Array("12,34.95N".utf8)
  /// 56.78 seconds, as a little-endian fraction.
  private static let seconds: [UInt8] = [0x2E, 0x16, 0, 0, 100, 0, 0, 0]
  private static let maker = Array("Made picture".utf8)
  private static let copyright = Array("Made by a program, free to use".utf8)

  /// A picture with all that a camera writes.
  private func camera(_ format: Codecs.OutputFormat) throws -> (bytes: [UInt8], thumbnail: [UInt8]) {
    let picture = Picture(CPIC_PHOTO, 96, 64)
    var thumbnail = Picture(CPIC_PHOTO, 24, 16).jpeg()
    let original = thumbnail
    var xmp = cpic_bytes()
    try #require(cpic_make_xmp(true, &xmp) == 0)
    defer { cpic_bytes_free(&xmp) }
    let bytes = thumbnail.withUnsafeMutableBufferPointer { thumbnail -> [UInt8] in
      var exif = cpic_exif()
      exif.orientation = 6
      exif.gps = true
      exif.maker = true
      exif.thumbnail = cpic_bytes(data: thumbnail.baseAddress, length: thumbnail.count)
      switch format {
      case .jpeg:
        return picture.jpeg {
          $0.exif = exif
          $0.xmp = xmp
          $0.iptc = true
        }
      case .png:
        return picture.png {
          $0.exif = exif
          $0.xmp = xmp
        }
      case .heic, .avif:
        return picture.heif {
          $0.exif = exif
          $0.xmp = xmp
        }
      }
    }
    return (bytes, original)
  }

  private func make(
    _ bytes: [UInt8], _ format: Codecs.OutputFormat, _ choice: MetadataChoice, stripsGPS: Bool = false, max: Int = 48
  ) throws -> (bytes: [UInt8], file: DecodedFile, report: Report) {
    let request = Request(
      maxPixelSize: max, format: format, metadata: choice, stripsGPS: stripsGPS, threads: 1, memory: .ample)
    let (made, report) = try makeBytes(MemorySource(bytes), request: request)
    return (made, try #require(DecodedFile(made)), report)
  }

  private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    part.count <= bytes.count && (0...bytes.count - part.count).contains { bytes[$0...].starts(with: part) }
  }

  private static let ways = [Codecs.OutputFormat.jpeg, .png, .heic].flatMap { from in
    [Codecs.OutputFormat.jpeg, .png, .heic].flatMap { to in [48, 4096].map { (from, to, $0) } }
  }

  /// Also where there is nothing to resize.
  @Test(arguments: ways)
  func betweenFormats(from: Codecs.OutputFormat, to: Codecs.OutputFormat, max: Int) throws {
    let (bytes, thumbnail) = try camera(from)
    #expect(contains(bytes, thumbnail) && contains(bytes, Self.seconds) && contains(bytes, Self.position))

    let none = try make(bytes, to, .none, max: max)
    #expect(none.file.exif.isEmpty && !none.file.info.has_xmp)
    #expect(!contains(none.bytes, Self.maker) && !contains(none.bytes, Self.position))

    let all = try make(bytes, to, .all, max: max)
    #expect(all.file.exif.withUnsafeBufferPointer { EXIFOrientation.find(in: $0) } == .up)
    #expect(contains(all.file.exif, Self.maker) && contains(all.file.exif, Self.seconds))
    #expect(contains(all.bytes, Self.position) && all.file.info.has_xmp)
    #expect(!contains(all.bytes, Array(thumbnail[..<64])))
    let hasIPTC = from == .jpeg
    #expect(all.report.warnings.contains { $0.contains("IPTC") } == (hasIPTC && to == .heic))

    let stripped = try make(bytes, to, .all, stripsGPS: true, max: max)
    #expect(contains(stripped.file.exif, Self.maker) && stripped.file.info.has_xmp)
    #expect(!contains(stripped.bytes, Self.seconds) && !contains(stripped.bytes, Self.position))

    let rights = try make(bytes, to, .rights, max: max)
    #expect(contains(rights.file.exif, Self.copyright) && !contains(rights.file.exif, Self.maker))
    #expect(!contains(rights.bytes, Self.seconds) && !contains(rights.bytes, Self.position))
    // Its XMP has none.
    #expect(!rights.file.info.has_xmp)
  }

  @Test func damagedEXIFIsLeftOutWithAWarning() throws {
    let bytes = Picture(CPIC_PHOTO, 96, 64).jpeg(exif: Array("II*\0".utf8) + [0xFF, 0xFF, 0, 0]) { _ in }
    let all = try make(bytes, .jpeg, .all)
    #expect(all.file.exif.isEmpty)
    #expect(all.report.warnings == ["the EXIF data were left out: they are damaged"])
    #expect(try make(bytes, .jpeg, .none).report.warnings.isEmpty)
  }

  @Test func colorSpaceOfTheRequest() {
    func request(_ color: OutputColor) -> Rendition { Rendition(color: color) }
    #expect(request(.srgb).exifColorSpace(isSRGB: false) == .srgb)
    #expect(request(.p3).exifColorSpace(isSRGB: false) == .uncalibrated)
    #expect(request(.keep).exifColorSpace(isSRGB: true) == .srgb)
    #expect(request(.keep).exifColorSpace(isSRGB: false) == .kept)
  }
}
