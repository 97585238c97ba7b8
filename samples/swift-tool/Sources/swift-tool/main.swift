// Two pictures out of one decode, one as a file and one in memory, without blocking Swift's concurrency: cancelling the task
// ends the work.
//
//     swift run -c release swift-tool photo.heic
//
// writes photo.heic-2048.jpg, and says how large a preview of 256 pixels is.

import Downsample
import Glibc

func makePictures(of name: String) async throws(DownsampleError) {
  let request = Request(renditions: [Rendition(maxPixelSize: 2048), Rendition(maxPixelSize: 256, quality: 75)])
  let preview = EncodedBytes()
  let destinations: [ImageDestination] = [.path(Path("\(name)-2048.jpg")), .bytes(preview)]
  let source = ImageSource.path(Path(name))

  let (header, plan) = try Downsampler.plan(source, request: request, to: destinations)
  print("\(header.kind) of \(header.size): \(plan.verdict)")
  guard plan.fits else { return }

  let report = try await Downsampler.run(source, request: request, to: destinations) { progress in
    print("\(Int(progress.fractionCompleted * 100))%")
  }
  for output in report.outputs { print("\(output.size): \(output.byteCount) bytes") }
  for warning in report.warnings { print("warning: \(warning)") }
  print("a preview of \(preview.count) bytes in memory; peak \(ByteCount.describe(report.peakResidentBytes))")
}

func end(_ message: String, _ status: DownsampleError.Code) -> Never {
  let line = "swift-tool: \(message)\n"
  _ = write(STDERR_FILENO, line, line.utf8.count)
  exit(status.rawValue)
}

guard CommandLine.arguments.count == 2 else { end("one picture is wanted: swift-tool PICTURE", .usage) }
// Early: what is freed goes back to the system from then on, and predictions of the peak hold.
Allocator.configure()
do {
  try await makePictures(of: CommandLine.arguments[1])
} catch {
  end("\(CommandLine.arguments[1]): \(error.message)", error.code)
}
