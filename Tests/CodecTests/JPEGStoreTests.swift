import CPictures
import Raster
import StoreDriver
import TestPictures
import Testing

/// The packed store of coefficients against libjpeg's own arrays.
@Suite struct JPEGStoreTests {
  struct Sampling: CustomTestStringConvertible, Sendable {
    var name: String
    var space = CPIC_JPEG_YCBCR
    var h: (Int32, Int32, Int32, Int32)
    var v: (Int32, Int32, Int32, Int32)

    var testDescription: String { name }

    func set(_ options: inout cpic_jpeg_options) {
      options.space = space
      options.h = h
      options.v = v
    }
  }

  static let samplings = [
    Sampling(name: "4:4:4", h: (1, 1, 1, 1), v: (1, 1, 1, 1)),
    Sampling(name: "4:2:2", h: (2, 1, 1, 1), v: (1, 1, 1, 1)),
    Sampling(name: "4:2:0", h: (2, 1, 1, 1), v: (2, 1, 1, 1)),
    Sampling(name: "4:4:0", h: (1, 1, 1, 1), v: (2, 1, 1, 1)),
    Sampling(name: "4:1:1", h: (4, 1, 1, 1), v: (1, 1, 1, 1)), Sampling(name: "4x2", h: (4, 1, 1, 1), v: (2, 1, 1, 1)),
    Sampling(name: "2x4", h: (2, 1, 1, 1), v: (4, 1, 1, 1)),
    Sampling(name: "more chroma", h: (1, 2, 2, 1), v: (1, 2, 1, 1)),
    Sampling(name: "gray", space: CPIC_JPEG_GRAY, h: (1, 1, 1, 1), v: (1, 1, 1, 1)),
    Sampling(name: "gray 2x2", space: CPIC_JPEG_GRAY, h: (2, 1, 1, 1), v: (2, 1, 1, 1)),
    Sampling(name: "RGB", space: CPIC_JPEG_RGB, h: (1, 1, 1, 1), v: (1, 1, 1, 1)),
    Sampling(name: "CMYK", space: CPIC_JPEG_CMYK, h: (1, 1, 1, 1), v: (1, 1, 1, 1)),
    Sampling(name: "YCCK", space: CPIC_JPEG_YCCK, h: (2, 1, 1, 2), v: (2, 1, 1, 2)),
  ]

  static let picture = Picture(CPIC_PHOTO, 91, 117)
  static let variants = (0..<3).filter { driver_has_variant(Int32($0)) }

  struct Decoded: Equatable {
    var samples: [UInt8]
    var error: Int32
    var scans: Int32
  }

  static func decode(
    _ file: [UInt8], eighths: Int, variant: Int? = nil, storeBytes: Int = 1 << 30, fileBytes: Int = 1 << 30
  ) throws -> (decoded: Decoded, result: driver_result) {
    var options = driver_options(
      uses_store: variant != nil, variant: Int32(variant ?? 0), store_bytes: storeBytes,
      file_bytes: fileBytes)
    var result = driver_result()
    try #require(driver_decode(file, file.count, Int32(eighths), &options, &result))
    defer { driver_free(&result) }
    let samples = Array(UnsafeBufferPointer(start: result.samples, count: result.count))
    return (Decoded(samples: samples, error: result.error, scans: result.scans), result)
  }

  /// Whole, in a part of its scans, cut short in several places, at every scale.
  @Test(arguments: samplings) func sameAsLibjpegAlone(sampling: Sampling) throws {
    var files: [[UInt8]] = []
    for arithmetic in [false, true] {
      for scans in [0, 3, 7] {
        files.append(
          Self.picture.jpeg {
            sampling.set(&$0)
            $0.progressive = true
            $0.progressive_scans = Int32(scans)
            $0.arithmetic = arithmetic
            $0.restart_interval = arithmetic ? 5 : 0
            $0.quality = scans == 0 ? 98 : 85
          })
      }
      files.append(
        Self.picture.jpeg {
          sampling.set(&$0)
          $0.multi_scan = true
          $0.arithmetic = arithmetic
        })
    }
    for (index, file) in files.enumerated() {
      for cut in [file.count, file.count * 3 / 4, file.count / 2, file.count / 4] {
        let bytes = Array(file.prefix(cut))
        for eighths in 1...8 {
          let expected = try Self.decode(bytes, eighths: eighths).decoded
          let variant = Self.variants[(eighths + index + cut) % Self.variants.count]
          let actual = try Self.decode(bytes, eighths: eighths, variant: variant)
          #expect(
            actual.decoded == expected,
            "file \(index), \(cut) of \(file.count) bytes, \(eighths)/8: \(text(actual.result.message))")
        }
      }
    }
  }

  @Test func everyVariantPacksTheSame() {
    var noise = Noise(5)
    for kept: UInt64 in [.max, 0x00EF_EFEF_EF00_EFEF, 0xAB00_AB00_AB00_ABAB, 0x7_0707, 1] {
      // How often a coefficient is not zero, and how large it is.
      let kinds = [
        (0, 1), (3, 1), (20, 7), (100, 7), (50, 20), (50, 126), (50, 127), (100, 128), (100, 200), (100, 32767),
        (5, 32767),
      ]
      for (index, (share, largest)) in kinds.enumerated() {
        let count = [67, 64, 1, 2, 3, 5, 66][(index + Int(kept % 5)) % 7]
        var blocks = [Int16](repeating: 0, count: count * 64)
        for i in 0..<blocks.count where Int.random(in: 0..<100, using: &noise) < share {
          blocks[i] = Int16.random(in: Int16(-largest - 1)...Int16(largest), using: &noise)
        }
        for i in stride(from: 0, to: blocks.count, by: 64) { blocks[i] = .random(in: .min ... .max, using: &noise) }
        let expected = blocks.enumerated().map { index, value -> Int16 in
          index % 64 == 0 || value == 0 ? 0 : kept >> (index % 64) & 1 == 1 ? value : 1
        }
        var first: [UInt8]?
        for variant in Self.variants {
          var packed = [UInt8](repeating: 0xEE, count: count * 200)
          var unpacked = [Int16](repeating: -1, count: count * 64)
          let bytes = driver_pack(Int32(variant), blocks, count, kept, &packed, &unpacked)
          #expect(unpacked == expected, "variant \(variant), \(share)%, \(largest)")
          #expect(first == nil || first == Array(packed.prefix(bytes)), "variant \(variant), \(share)%, \(largest)")
          first = Array(packed.prefix(bytes))
        }
      }
    }
  }

  @Test func spilledRowsComeBack() throws {
    let picture = Picture(CPIC_NOISE, 640, 480)
    for (index, file) in [
      picture.jpeg { $0.progressive = true }, picture.jpeg { $0.multi_scan = true },
      picture.jpeg {
        $0.progressive = true
        $0.progressive_scans = 6
      },
    ].enumerated() {
      for eighths in [8, 2] {
        let expected = try Self.decode(file, eighths: eighths).decoded
        let whole = try Self.decode(file, eighths: eighths, variant: 0).result
        #expect(whole.written_bytes == 0 && whole.file_bytes == 0)
        let rowBytes = whole.store_bytes - whole.store_fixed_bytes
        for share in [0, 1, 3, 4] {
          let limit = whole.store_fixed_bytes + rowBytes * share / 4
          let (decoded, result) = try Self.decode(
            file, eighths: eighths, variant: Self.variants.last!, storeBytes: limit)
          #expect(decoded == expected, "file \(index), \(eighths)/8, \(share)/4: \(text(result.message))")
          #expect(result.store_bytes <= limit)
          #expect((result.written_bytes > 0) == (share < 4))
          // Two places for each row, whose pages are whole.
          let rows = 60 + 30 + 30
          #expect(result.file_bytes <= rowBytes, "\(result.file_bytes), \(rowBytes)")
          #expect(result.disk_bytes <= result.file_bytes + rows * 2 * 4096, "\(result.disk_bytes)")
          if share == 0 {
            let short = try Self.decode(
              file, eighths: eighths, variant: 0, storeBytes: limit, fileBytes: Int(result.file_bytes) - 1)
            #expect(short.decoded.error == -1 && text(short.result.message).contains("temporary file"))
          }
        }
      }
    }
  }

  /// A header that claims far more than there is.
  @Test func rowsThatNeverCameTakeNoMemory() throws {
    var file = Picture(CPIC_PHOTO, 32, 32).jpeg { $0.progressive = true }
    let frame = try #require((0..<file.count - 1).first { file[$0] == 0xFF && file[$0 + 1] == 0xC2 })
    file.replaceSubrange((frame + 5)..<(frame + 9), with: [8, 0, 8, 0])
    let (decoded, result) = try Self.decode(file, eighths: 1, variant: 0)
    let whole = try Self.decode(file, eighths: 1).decoded
    #expect(decoded == whole && decoded.error == 0)
    #expect(result.store_bytes - result.store_fixed_bytes < 64 << 10)
  }

  private func text<T>(_ characters: T) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
