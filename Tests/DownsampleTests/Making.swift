import Codecs
import Foundation
import Raster
import TestPictures
import Testing

@testable import Downsample

/// A picture made by the facade, read back without us.
struct Made {
  let bytes: [UInt8]
  let file: DecodedFile
  let report: Report

  var picture: Picture { file.picture }
  var real: RealPicture { RealPicture(picture) }
  var luma: RealPicture { real.luma }
  var size: PixelSize { PixelSize(width: picture.width, height: picture.height) }
}

extension Codecs.OutputFormat {
  /// Those whose results are compared closely; HEIC and AVIF have tests of their own.
  static let compared: [Codecs.OutputFormat] = [.jpeg, .png]
}

extension MemoryBudget {
  /// Enough for anything: the tests' own process is beyond the default ceiling.
  static let ample = MemoryBudget(ceiling: 16 << 30)
}

/// Runs the whole way from `bytes` to bytes, through a file without a name.
func makeBytes(_ source: any ByteSource, request: Request) throws -> (bytes: [UInt8], report: Report) {
  var template = Array((NSTemporaryDirectory() + "/downsample-test-XXXXXX").utf8CString)
  let descriptor = mkstemp(&template)
  try #require(descriptor >= 0)
  defer { close(descriptor) }
  unlink(template)
  let report = try Downsampler.run(
    source, request: request, to: [.descriptor(descriptor)], interruption: Interruption(deadline: request.deadline))
  var bytes = [UInt8](repeating: 0, count: report.output.byteCount)
  let count = pread(descriptor, &bytes, bytes.count, 0)
  try #require(count == bytes.count)
  return (bytes, report)
}

func make(
  _ bytes: [UInt8], max maxPixelSize: Int = 2048, _ format: OutputFormat = .png, quality: Int = 95, threads: Int = 2
) throws -> Made {
  let request = Request(
    maxPixelSize: maxPixelSize, format: format, quality: quality, threads: threads,
    memory: .ample)
  let (made, report) = try makeBytes(MemorySource(bytes), request: request)
  let file = try #require(DecodedFile(made), "the output cannot be read")
  #expect(file.info.warnings == 0)
  #expect(report.output.size == PixelSize(width: file.picture.width, height: file.picture.height))
  #expect(file.exif.isEmpty && !file.info.has_xmp && file.info.text_count == 0)
  return Made(bytes: made, file: file, report: report)
}

/// The size rule of the design, written once more.
func expectedSize(_ width: Int, _ height: Int, max longEdge: Int) -> PixelSize {
  let scale = min(1, Double(longEdge) / Double(max(width, height)))
  func side(_ length: Int) -> Int { max(1, Int(floor(Double(length) * scale + 0.5))) }
  return PixelSize(width: side(width), height: side(height))
}
