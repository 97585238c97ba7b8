import CPictures
import TestPictures
import Testing

@testable import Codecs

@Suite struct ImageTypeTests {
  @Test func everyKnownTypeIsFoundByEachOfItsNames() {
    for type in ImageType.known {
      #expect(ImageType(type.identifier) == type)
      #expect(ImageType(type.identifier.uppercased()) == type)
      for name in type.filenameExtensions { #expect(ImageType(filenameExtension: name) == type, "\(name)") }
      for name in type.mediaTypes { #expect(ImageType(mimeType: name) == type, "\(name)") }
      #expect(type.isAbstract == (type.preferredFilenameExtension == nil))
      for parent in type.parents { #expect(ImageType(parent) != nil, "\(parent) above \(type)") }
    }
    #expect(Set(ImageType.known.map(\.identifier)).count == ImageType.known.count)
  }

  @Test func namesThatAreNone() {
    for name in ["", "public", "public.jpegs", "jpeg"] { #expect(ImageType(name) == nil, "\(name)") }
    for name in ["", ".jpg", "txt"] { #expect(ImageType(filenameExtension: name) == nil, "\(name)") }
    for name in ["", ";", "image", "image/", "/jpeg", "image/nothing", "text/html", "image / jpeg"] {
      #expect(ImageType(mimeType: name) == nil, "\(name)")
    }
  }

  @Test func mediaTypesHaveParametersAndAnyCase() {
    for name in ["image/jpeg", "IMAGE/JPEG", " image/jpeg ;q=0.5", "Image/Jpeg; charset=\"a;b\"", "image/jpg"] {
      #expect(ImageType(mimeType: name) == .jpeg, "\(name)")
    }
    #expect(ImageType(mimeType: "image/*") == .image)
    #expect(ImageType(mimeType: "*/*") == .item)
    #expect(ImageType.jpeg.preferredMIMEType == "image/jpeg")
    #expect(ImageType.image.preferredMIMEType == nil)
  }

  @Test func conformance() {
    for type in [ImageType.jpeg, .png, .heic, .avif, .gif, .dng] {
      for broader in [type, .image, .data, .content, .item] {
        #expect(type.conforms(to: broader), "\(type), \(broader)")
      }
      #expect(type.isSubtype(of: .image) && ImageType.image.isSupertype(of: type))
      #expect(!ImageType.image.conforms(to: type) && !type.isSubtype(of: type))
    }
    #expect(ImageType.heic.conforms(to: .heif) && ImageType.heic.conforms(to: .heifStandard))
    #expect(ImageType.avif.conforms(to: .heifStandard) && !ImageType.avif.conforms(to: .heif))
    #expect(!ImageType.pdf.conforms(to: .image) && ImageType.pdf.conforms(to: .data))
    #expect(ImageType.dng.conforms(to: .rawImage))
  }

  @Test func whatIsWrittenHasATypeOfItsOwn() {
    for format in OutputFormat.allCases {
      #expect(format.type.outputFormat == format)
      #expect(format.type.isDecodable)
      #expect(format.type.preferredFilenameExtension == format.fileExtension)
    }
    for type in ImageType.known {
      for name in type.filenameExtensions {
        guard let format = OutputFormat(fileExtension: name) else { continue }
        #expect(format.type.conforms(to: type), "\(name)")
      }
    }
    #expect(ImageType.image.outputFormat == nil && ImageType.gif.outputFormat == nil && !ImageType.gif.isDecodable)
  }

  private func box(_ brands: String...) -> [UInt8] {
    [0, 0, 0, UInt8(12 + brands.count * 4)] + Array("ftyp\(brands[0])".utf8) + [0, 0, 0, 0]
      + brands.dropFirst().flatMap { Array($0.utf8) }
  }

  @Test func byContent() {
    let picture = Picture(CPIC_GRADIENT, 64, 64)
    #expect(ImageType(contentOf: picture.jpeg()) == .jpeg)
    #expect(ImageType(contentOf: picture.png()) == .png)
    #expect(ImageType(contentOf: picture.heif()) == .heic)
    #expect(ImageType(contentOf: picture.heif { $0.codec = CPIC_AV1 }) == .avif)
    let brands: [([UInt8], ImageType)] = [
      (box("heic", "mif1"), .heic), (box("mif1", "heic"), .heic), (box("mif1", "miaf", "heix"), .heic),
      (box("avif", "mif1", "heic"), .avif), (box("mif1", "avif", "miaf"), .avif), (box("mif1"), .heif),
      (box("avis", "avif"), .avis), (box("msf1", "heic"), .heifs), (box("hevc", "heic"), .heics),
    ]
    for (bytes, type) in brands { #expect(ImageType(contentOf: bytes) == type) }
    let others: [(String, ImageType)] = [
      ("GIF89a", .gif), ("RIFF....WEBP", .webP), ("II*\0", .tiff), ("%PDF-1.7", .pdf), ("<svg ", .svg),
      ("qoif", .image), ("FUJIFILMCCD-RAW", ImageType("com.fuji.raw-image")!), ("FOVb", .rawImage),
      ("P6\n", ImageType("public.pbm")!), ("\0\0\0\u{C}jP  ", .jpeg2000),
    ]
    for (text, type) in others { #expect(ImageType(contentOf: Array(text.utf8)) == type, "\(text)") }
    for bytes in [[], Array("hello".utf8), box("isom"), box("qt  ")] { #expect(ImageType(contentOf: bytes) == nil) }
  }

  @Test func everyRecognisedKindHasAType() {
    let names = [
      "JPEG XL", "JPEG 2000", "OpenEXR", "PNM", "camera raw (CR3)", "camera raw (CR2)", "TIFF",
      "camera raw (DNG)", "camera raw", "SVG", "a PNG made for iOS by Xcode (CgBI)",
    ]
    for name in names + FileKind.signatures.map(\.name) {
      #expect(ImageType.byName[name] != nil, "\(name)")
    }
  }

  @Test func jpegAndPNGAreAlwaysWritten() {
    #expect(CodecRegistry.canEncode(.jpeg) && CodecRegistry.canEncode(.png))
  }
}
