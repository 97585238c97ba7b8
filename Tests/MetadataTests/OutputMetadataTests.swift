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
}
