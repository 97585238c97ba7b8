import CPictures
import TestPictures
import Testing

@testable import Codecs

@Suite struct FileKindTests {
  private func box(_ major: String, _ compatible: [String] = []) -> [UInt8] {
    [0, 0, 0, UInt8(16 + compatible.count * 4)] + Array("ftyp\(major)".utf8) + [0, 0, 0, 0]
      + compatible.flatMap { Array($0.utf8) }
  }

  @Test func madeFilesAreKnown() {
    let picture = Picture(CPIC_GRADIENT, 64, 64)
    #expect(FileKind(prefix: picture.jpeg()) == .jpeg)
    #expect(FileKind(prefix: picture.png()) == .png)
    #expect(FileKind(prefix: picture.heif()) == .heif)
    #expect(FileKind(prefix: picture.heif { $0.codec = CPIC_AV1 }) == .heif)
  }

  @Test func brands() {
    for brand in ["heic", "heix", "hevc", "heim", "mif1", "msf1", "avif", "avis", "miaf"] {
      #expect(FileKind(prefix: box(brand)) == .heif, "\(brand)")
      #expect(FileKind(prefix: box("XXXX", ["isom", brand])) == .heif, "\(brand) among the compatible ones")
    }
    // A brand beyond the box's end is not one of its own.
    #expect(FileKind(prefix: box("isom") + Array("heic".utf8)) != .heif)
    for brand in ["isom", "mp42", "qt  ", "M4A "] {
      guard case .unsupported = FileKind(prefix: box(brand)) else {
        Issue.record("\(brand) is \(FileKind(prefix: box(brand)))")
        continue
      }
    }
  }

  @Test func everyPrefixOfASignatureIsHandled() {
    let files = [
      box("heic", ["mif1"]), box("isom"), Array("II*\0".utf8) + [8, 0, 0, 0, 255, 255],
      Array("MM\0*".utf8) + [255, 255, 255, 255],
      Array("RIFF....WEBP".utf8), [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], Array("BM".utf8),
      Array("<svg".utf8),
    ]
    for file in files {
      for count in 0...file.count { _ = FileKind(prefix: Array(file[..<count])) }
    }
    #expect(FileKind(prefix: []) == .unknown("the file is empty"))
  }

  @Test func textThatLooksLikeASignature() {
    for text in ["BMW", "P", "PK", "GIF", "II", "MM", "%P"] {
      guard case .unknown = FileKind(prefix: Array(text.utf8)) else {
        Issue.record("\(text) is \(FileKind(prefix: Array(text.utf8)))")
        continue
      }
    }
  }
}
