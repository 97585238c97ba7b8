// What a share extension does, under the memory that it may hold: files of kinds that nobody knows beforehand come in, each is
// planned, the gate says no to what would be too much, the others are made and handed over.
//
//     swift run -c release inbox FOLDER
//
// prints a line for each file. Hidden files are let be.

import Downsample
import Glibc

guard CommandLine.arguments.count == 2, let folder = opendir(CommandLine.arguments[1]) else {
  fatalError("usage: inbox FOLDER")
}
let path = Path(CommandLine.arguments[1])
var names: [Path] = []
while let entry = readdir(folder) {
  let name = withUnsafePointer(to: &entry.pointee.d_name) {
    $0.withMemoryRebound(to: CChar.self, capacity: 256) { Path(cString: $0) }
  }
  if !name.description.hasPrefix(".") { names.append(name) }
}
closedir(folder)

Allocator.configure()
let limit = MemoryBudget(ceiling: 120 * ByteCount.megabyte)
let request = Request(maxPixelSize: 2048, memory: limit)

for name in names.sorted(by: { $0.description < $1.description }) {
  let source = ImageSource.path(path.appending(name))
  do throws(DownsampleError) {
    let (header, plan) = try Downsampler.plan(source, request: request)
    guard plan.fits else {
      print("\(name): \(header.kind) of \(header.size): no: \(plan.verdict)")
      continue
    }
    let picture = EncodedBytes()
    let report = try Downsampler.run(source, request: request, to: .bytes(picture))
    handOver(picture)
    print("\(name): \(header.kind) of \(header.size): \(report.output.size) in \(picture.count) bytes")
  } catch {
    print("\(name): no: \(error.message)")
  }
}
print("peak \(ByteCount.describe(Footprint.peakResidentBytes)) of \(ByteCount.describe(limit.ceiling))")

/// Where an extension would pass the picture on; here its beginning is looked at.
func handOver(_ picture: EncodedBytes) {
  picture.withUnsafeBytes { bytes in precondition(bytes.starts(with: [0xFF, 0xD8]), "a JPEG begins otherwise") }
}
