// What a share extension does, under the memory that it may hold: files of kinds that nobody knows beforehand come in, each is
// planned, the gate says no to what would be too much, the others are made and handed over.
//
//     swift run -c release inbox FOLDER [LIMIT]
//
// prints a line for each file. LIMIT is such as 64MB; 120MB unless given. Hidden files are let be.

import Downsample
import Glibc

let arguments = CommandLine.arguments
guard (2...3).contains(arguments.count), let folder = opendir(arguments[1]),
  let ceiling = ByteCount.parse(arguments.count == 3 ? arguments[2] : "120MB")
else {
  let message = "inbox: a folder that can be read is wanted, and a size: inbox FOLDER [LIMIT]\n"
  _ = write(STDERR_FILENO, message, message.utf8.count)
  exit(DownsampleError.Code.usage.rawValue)
}
let path = Path(arguments[1])
var names: [Path] = []
while let entry = readdir(folder) {
  let name = withUnsafePointer(to: &entry.pointee.d_name) {
    $0.withMemoryRebound(to: CChar.self, capacity: 256) { Path(cString: $0) }
  }
  if !name.description.hasPrefix(".") { names.append(name) }
}
closedir(folder)

Allocator.configure()
let request = Request(maxPixelSize: 2048, memory: MemoryBudget(ceiling: ceiling))

for name in names.sorted(by: { $0.description < $1.description }) {
  let source = ImageSource.path(path.appending(name))
  do throws(DownsampleError) {
    let (header, plan) = try Downsampler.plan(source, request: request, to: [.bytes(EncodedBytes())])
    guard plan.fits else {
      print("\(name): \(header.kind) of \(header.size): no: \(plan.verdict)")
      continue
    }
    // Nothing is made before it is asked for.
    let size = try handOver(ImageRepresentations(of: source, request: request))
    print("\(name): \(header.kind) of \(header.size): \(plan.outputSize) in \(size) bytes")
  } catch {
    print("\(name): no: \(error.message)")
  }
}
print("peak \(ByteCount.describe(Footprint.peakResidentBytes)) of \(ByteCount.describe(ceiling))")

/// Where an extension would pass the picture on: whoever receives it asks for a kind that it takes. Bytes of the JPEG.
func handOver(_ picture: ImageRepresentations) throws(DownsampleError) -> Int {
  try picture.loadDataRepresentation(forTypeIdentifier: "public.jpeg").count
}
