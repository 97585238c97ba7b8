// Two pictures out of one decode, one as a file and one in memory, on a task that can be cancelled.
//
//     swift run -c release swift-tool photo.heic
//
// writes photo.heic-2048.jpg, and says how large a preview of 256 pixels is.

import Downsample

guard CommandLine.arguments.count == 2 else { fatalError("usage: swift-tool PICTURE") }
let name = CommandLine.arguments[1]

// Early: what is freed goes back to the system from then on, and predictions of the peak hold.
Allocator.configure()

let request = Request(renditions: [Rendition(maxPixelSize: 2048), Rendition(maxPixelSize: 256, quality: 75)])
let preview = EncodedBytes()
do {
  let (header, plan) = try Downsampler.plan(.path(Path(name)), request: request)
  print("\(header.kind) of \(header.size): \(plan.verdict)")

  let report = try await Downsampler.run(
    .path(Path(name)), request: request, to: [.path(Path("\(name)-2048.jpg")), .bytes(preview)],
    progress: { print("\($0.completedRows) of \($0.totalRows) rows") })
  for output in report.outputs { print("\(output.size): \(output.byteCount) bytes") }
  for warning in report.warnings { print("warning: \(warning)") }
  print("a preview of \(preview.count) bytes in memory; peak \(ByteCount.describe(report.peakResidentBytes))")
} catch {
  fatalError("\(name): \(error.code.name): \(error.message)")
}
