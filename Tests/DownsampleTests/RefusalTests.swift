import CPictures
import Codecs
import Foundation
import Raster
import TestPictures
import Testing

@testable import Downsample

@Suite struct RefusalTests {
  let folder = TemporaryFolder()

  /// Runs to a file of the folder. Nil when the picture was made; the file is then removed.
  private func failure(of bytes: [UInt8], max: Int = 16, _ format: OutputFormat = .png) -> DownsampleError? {
    let request = Request(maxPixelSize: max, format: format, threads: 2, memory: .ample)
    do {
      try Downsampler.run(.bytes(bytes), request: request, to: .path(folder("out")))
    } catch {
      #expect(folder.names.isEmpty, "a refusal left \(folder.names)")
      return error
    }
    #expect(folder.names == ["out"])
    unlink(folder.text("out"))
    return nil
  }

  private func expectSentence(_ error: DownsampleError) {
    #expect(
      !error.message.isEmpty && !error.message.hasSuffix(".") && !error.message.contains("\n"), "\(error.message)")
    #expect(!error.message.contains(folder.path), "\(error.message)")
  }

  @Test func notAnImage() throws {
    var generator = Noise(seed: 7)
    let rubbish = (0..<5000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    let files: [(String, [UInt8])] = [
      ("empty", []), ("one byte", [0xFF]), ("text", Array("hello, this is not a picture\n".utf8)),
      ("zeros", [UInt8](repeating: 0, count: 5000)), ("rubbish", [0x42] + rubbish),
      ("XML", Array("<?xml version=\"1.0\"?><a/>".utf8)),
      ("a JPEG's first two bytes", [0xFF, 0xD8]), ("a JPEG's first three bytes", [0xFF, 0xD8, 0xFF]),
      ("BM in a text", Array("BMW is a make of cars, and not a kind of picture".utf8)),
    ]
    for (name, bytes) in files {
      let error = try #require(failure(of: bytes), "\(name)")
      #expect(error.code == .damagedData, "\(name): \(error)")
      expectSentence(error)
    }
    #expect(failure(of: [])?.message.contains("empty") == true)
  }

  @Test func knownKindsAreNamed() throws {
    func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }
    func box(_ brand: String, _ compatible: String...) -> [UInt8] {
      let length = UInt8(16 + compatible.count * 4)
      return [0, 0, 0, length] + ascii("ftyp" + brand) + [0, 0, 0, 0] + compatible.flatMap { ascii($0) }
    }
    let bitmap = ascii("BM") + [70, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0]
    let files: [(String, [UInt8])] = [
      ("GIF", ascii("GIF89a")), ("GIF", ascii("GIF87a")), ("WebP", ascii("RIFF....WEBPVP8 ")), ("BMP", bitmap),
      ("PDF", ascii("%PDF-1.7\n")), ("TIFF", ascii("II*\0") + [8, 0, 0, 0, 0, 0]),
      ("TIFF", ascii("MM\0*") + [0, 0, 0, 8, 0, 0]),
      ("JPEG XL", [0xFF, 0x0A, 0, 0]), ("JPEG XL", [0, 0, 0, 12] + ascii("JXL ") + [0x0D, 0x0A, 0x87, 0x0A]),
      ("JPEG 2000", [0, 0, 0, 12] + ascii("jP  ") + [0x0D, 0x0A, 0x87, 0x0A]), ("JPEG 2000", [0xFF, 0x4F, 0xFF, 0x51]),
      ("SVG", ascii("<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>")),
      ("PSD", ascii("8BPS\0\u{1}")), ("CR2", ascii("II*\0") + [16, 0, 0, 0] + ascii("CR") + [2, 0]),
      ("CR3", box("crx ", "isom")),
      ("DNG", ascii("II*\0") + [8, 0, 0, 0, 1, 0, 0x12, 0xC6, 1, 0, 4, 0, 0, 0, 1, 4, 0, 0]),
      ("RAF", ascii("FUJIFILMCCD-RAW 0201")), ("RW2", ascii("IIU\0")), ("ORF", ascii("IIRO")),
      ("ICO", [0, 0, 1, 0, 1, 0]),
      ("OpenEXR", [0x76, 0x2F, 0x31, 0x01]), ("PNM", ascii("P6\n2 2\n255\n")), ("QOI", ascii("qoif")),
      ("video", box("isom", "mp42")),
      ("CgBI", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 4] + ascii("CgBI") + [0, 0, 0, 0]),
    ]
    for (name, bytes) in files {
      // Short and long: the rest of a file must not matter.
      for bytes in [bytes, bytes + [UInt8](repeating: 0x55, count: 6000)] {
        let error = try #require(failure(of: bytes), "\(name)")
        #expect(error.code == .unsupported && error.message.contains(name), "\(name): \(error.code) \(error.message)")
        expectSentence(error)
      }
    }
  }

  @Test func jpegsThatCannotBeDecodedAreUnsupported() throws {
    let whole = Picture(CPIC_PHOTO, 24, 16).jpeg()
    let frame = try #require(whole.indices.dropLast().first { whole[$0] == 0xFF && whole[$0 + 1] == 0xC0 })
    var lossless = whole
    lossless[frame + 1] = 0xC3
    var deep = whole
    deep[frame + 4] = 12
    for (name, bytes) in [("lossless", lossless), ("12 bits", deep)] {
      let error = try #require(failure(of: bytes), "\(name)")
      #expect(error.code == .unsupported, "\(name): \(error.code) \(error.message)")
    }
  }

  static let files: [(String, [UInt8])] = {
    let picture = Picture(CPIC_PHOTO, 24, 16)
    let large = Picture(CPIC_PHOTO, 96, 80)
    return [
      ("JPEG", picture.jpeg { $0.exif.orientation = 6 }),
      ("JPEG progressive", picture.jpeg { $0.progressive = true }),
      ("JPEG with scans", picture.jpeg { $0.multi_scan = true }),
      ("JPEG gray arithmetic", picture.converted(channels: 1).jpeg { $0.arithmetic = true }),
      ("JPEG with restarts", picture.jpeg { $0.restart_interval = 1 }),
      ("JPEG CMYK", picture.cmyk.jpeg()),
      ("PNG", picture.png { $0.exif.orientation = 6 }),
      ("PNG interlaced", picture.converted(channels: 4).png { $0.interlaced = true }),
      ("PNG palette", picture.png { $0.colour_type = 3 }),
      ("HEIC", large.heif()),
      ("AVIF", large.heif { $0.codec = CPIC_AV1 }),
      ("HEIC tiles", large.heif { $0.tile_width = 64 }),
      (
        "AVIF tiles",
        large.heif {
          $0.codec = CPIC_AV1
          $0.tile_width = 64
        }
      ),
    ]
  }()

  /// What may be missing at the end: of a JPEG the rest of its last block, which libjpeg fills up, and the end marker; of a
  /// PNG the mark that ends the compressed data, after the last pixel, and what follows.
  private static func dispensable(_ name: String) -> Int { name.hasPrefix("JPEG") ? 6 : name.hasPrefix("PNG") ? 22 : 0 }

  @Test(arguments: files.indices)
  func everyPrefixIsRefused(index: Int) throws {
    let (name, whole) = Self.files[index]
    #expect(failure(of: whole) == nil, "\(name)")
    let step = whole.count > 2000 ? 3 : 1
    for count in stride(from: 0, to: whole.count, by: step) {
      guard let error = failure(of: Array(whole[..<count])) else {
        #expect(
          count >= whole.count - Self.dispensable(name), "\(name): \(count) of \(whole.count) bytes made a picture")
        if name.hasPrefix("PNG") {
          let made = try make(Array(whole[..<count]), max: 16)
          #expect(try made.bytes == make(whole, max: 16).bytes && !made.report.warnings.isEmpty, "\(name): \(count)")
        }
        continue
      }
      #expect(error.code == .damagedData, "\(name): \(count) of \(whole.count) bytes: \(error.code) \(error.message)")
      expectSentence(error)
    }
  }

  /// Damage ends in a picture or a refusal; never in a crash, a hang, or a fault of ours. HEIF is left to the command line's
  /// tests, where an assertion inside libheif ends another process.
  @Test(arguments: files.indices.prefix(9))
  func flippedBits(index: Int) {
    let (name, whole) = Self.files[index]
    var generator = Noise(seed: UInt64(index) + 1)
    for _ in 0..<250 {
      var bytes = whole
      for _ in 0...generator.next() % 3 {
        bytes[Int(generator.next() % UInt64(bytes.count))] ^= 1 << UInt8(generator.next() % 8)
      }
      guard let error = failure(of: bytes, generator.next() % 2 == 0 ? .png : .jpeg) else { continue }
      #expect([.damagedData, .unsupported].contains(error.code), "\(name): \(error.code) \(error.message)")
      expectSentence(error)
    }
  }

  @Test func bytesAfterTheEndAreIgnored() {
    for (name, whole) in Self.files where name.hasPrefix("JPEG") || name.hasPrefix("PNG") {
      #expect(failure(of: whole + [UInt8](repeating: 0xAB, count: 5000)) == nil, "\(name)")
    }
  }

  @Test func anOutputThatCannotBeMadeIsSaidBeforeDecoding() throws {
    let error = #expect(throws: DownsampleError.self) {
      try Downsampler.run(
        .bytes(Self.files[0].1), request: Request(memory: .ample), to: .path(folder("no/such/folder/out.jpg")))
    }
    #expect(error?.code == .cannotCreate)
  }

  @Test func theOutputIsOpenedOnlyForAGoodHeader() {
    let error = #expect(throws: DownsampleError.self) {
      try Downsampler.run(
        .bytes(Array("GIF89a".utf8)), request: Request(memory: .ample), to: .path(folder("no/such/folder/out.jpg")))
    }
    #expect(error?.code == .unsupported)
  }
}

/// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
struct Noise {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}
