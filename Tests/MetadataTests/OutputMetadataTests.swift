import Raster
import Testing

@testable import Metadata

@Suite struct OutputMetadataTests {
  private let exif = TIFFBuilder.build([.init(0x010F, .ascii("A camera")), .init(0x8298, .ascii("someone"))])

  @Test func noneIsNone() {
    let output = OutputMetadata(ImageMetadata(exif: exif, xmp: [1], iptc: [1]), choice: .none)
    #expect(output.metadata.isEmpty && output.warnings.isEmpty)
  }

  @Test func damageIsSaid() {
    for choice in [MetadataChoice.rights, .all] {
      let output = OutputMetadata(ImageMetadata(exif: [1, 2], xmp: [3, 4], iptc: [5, 6]), choice: choice)
      #expect(output.metadata.isEmpty)
      #expect(
        output.warnings == [
          "the EXIF data were left out: they are damaged", "the XMP data were left out: they are damaged",
          "the IPTC data were left out: they are damaged",
        ])
    }
  }

  @Test func whatIsLongerThanTheLimitIsLeftOut() {
    let limit = OutputMetadata.largestPart
    let padded = exif + [UInt8](repeating: 0, count: limit - exif.count)
    #expect(OutputMetadata(ImageMetadata(exif: padded), choice: .all).metadata.exif == exif)
    let output = OutputMetadata(ImageMetadata(exif: padded + [0], xmp: padded + [0]), choice: .all)
    #expect(output.metadata.isEmpty && output.warnings.count == 2)
    #expect(output.warnings[0].contains("\(limit + 1) bytes, the limit is \(limit)"))
  }

  /// What the plan counts is never less than what is written.
  @Test func completingMakesNothingLonger() {
    let sized = TIFFBuilder.build([.init(0x0100, .long(1)), .init(0x0101, .short(1))])
    let xmp = """
      <r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/"
      tiff:ImageWidth="1" tiff:ImageLength="1" tiff:Orientation="6"/></r:RDF>
      """
    for side in [1, 640, 65535] {
      var output = OutputMetadata(ImageMetadata(exif: sized, xmp: Array(xmp.utf8)), choice: .all)
      let before = output.metadata.byteCount
      output.complete(size: PixelSize(width: side, height: 1), colorSpace: .kept)
      #expect(output.metadata.byteCount <= before)
      #expect(String(decoding: output.metadata.xmp, as: UTF8.self).contains("tiff:ImageWidth=\"\(side)\""))
      // A second time there is nothing to fill in.
      let made = output.metadata
      output.complete(size: PixelSize(width: 7, height: 7), colorSpace: .srgb)
      #expect(output.metadata == made)
    }
  }

  /// What is made to be read over and over takes no longer than its length.
  @Test(.timeLimit(.minutes(1))) func hostileData() {
    let count = 65535
    let fields: [[UInt8]] = [[0x69, 0x87], [0x25, 0x88]]
    for tag in fields {
      // As many pointers as there can be, each to a directory of its own.
      var bytes: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 0xFF, 0xFF]
      for i in 0..<count {
        let offset = 8 + 2 + count * 12 + 4 + i * 18
        bytes += tag + [4, 0, 1, 0, 0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: offset >> (8 * $0)) }
      }
      bytes += [0, 0, 0, 0]
      for _ in 0..<count { bytes += [1, 0, 0x0F, 0x01, 3, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0] }
      for stripsGPS in [false, true] {
        _ = OutputMetadata(ImageMetadata(exif: bytes), choice: .all, stripsGPS: stripsGPS)
      }
    }
    // Pictures that begin within the segments of others, and none that has a scan.
    let pictures = (0..<100_000).flatMap { _ -> [UInt8] in [0xFF, 0xE0, 0, 6, 0xFF, 0xD8] }
    let note = TIFFBuilder.build([
      .init(0x010F, .ascii("A camera")),
      .init(0x8769, .directory([.init(0x927C, .undefined([1, 2, 3, 4, 5] + pictures))])),
    ])
    #expect(OutputMetadata(ImageMetadata(exif: note), choice: .all).metadata.exif == note)
    // Names to be looked up among namespaces.
    let declared = (0..<20_000).map { " xmlns:a\($0)='b\($0)'" }.joined()
    let xmp = "<a\(declared)>" + String(repeating: "<c/>", count: 100_000) + "</a>"
    #expect(OutputMetadata(ImageMetadata(xmp: Array(xmp.utf8)), choice: .all).warnings.count == 1)
  }
}
