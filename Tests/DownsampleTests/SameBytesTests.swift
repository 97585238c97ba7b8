import CPictures
import Codecs
import Foundation
import Raster
import TestPictures
import Testing

@testable import Downsample

/// The same picture comes out, to the byte, wherever the input came from and however it is decoded.
@Suite struct SameBytesTests {
  let folder = TemporaryFolder()

  static let files: [[UInt8]] = [
    Picture(CPIC_PHOTO, 320, 200).jpeg { $0.exif.orientation = 6 },
    Picture(CPIC_PHOTO, 320, 200).jpeg { $0.progressive = true },
    Picture(CPIC_PHOTO, 320, 200, channels: 4).png(),
    Picture(CPIC_PHOTO, 320, 200).heif { $0.tile_width = 64 },
    Picture(CPIC_PHOTO, 320, 200).heif { $0.codec = CPIC_AV1 },
  ]

  @Test(arguments: files.indices, OutputFormat.allCases)
  func everySource(index: Int, format: Codecs.OutputFormat) throws {
    let bytes = Self.files[index]
    let request = Request(maxPixelSize: 90, format: format, threads: 2, memory: .ample)
    let expected = try makeBytes(MemorySource(bytes), request: request).bytes
    try Data(bytes).write(to: URL(fileURLWithPath: folder.text("in")))
    #expect(try makeBytes(BufferedSource(path: folder("in")), request: request).bytes == expected)
    #expect(try makeBytes(pipeSource(bytes), request: request).bytes == expected)
    let borrowed = try bytes.withUnsafeBytes { try makeBytes(MemorySource(borrowing: $0), request: request).bytes }
    #expect(borrowed == expected)
    #expect(try makeBytes(MemorySource(bytes), request: request).bytes == expected, "made twice")

    try Downsampler.run(.bytes(bytes), request: request, to: .path(folder("out")))
    #expect(FileManager.default.contents(atPath: folder.text("out")) == Data(expected))
    // Input and output may be the same file.
    try Downsampler.run(.path(folder("in")), request: request, to: .path(folder("in")))
    #expect(FileManager.default.contents(atPath: folder.text("in")) == Data(expected))
  }

  @Test func theNumberOfThreadsDoesNotMatter() throws {
    for bytes in Self.files.suffix(2) {
      let one = try makeBytes(MemorySource(bytes), request: Request(maxPixelSize: 90, threads: 1, memory: .ample)).bytes
      for threads in [2, 3, 8] {
        #expect(
          try makeBytes(MemorySource(bytes), request: Request(maxPixelSize: 90, threads: threads, memory: .ample)).bytes
            == one)
      }
    }
  }
}
