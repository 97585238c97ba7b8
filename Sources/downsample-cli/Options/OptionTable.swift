import Codecs
import Downsample
import Metadata
import Raster

/// Every option there is. A new one is an entry here and a property of `Invocation`.
enum OptionTable {
  static let all: [OptionSpec] = [
    .number(
      "--max", "N|auto", range: 1...65_500, word: "auto", commands: [.make, .plan],
      help:
        "The longest side of the result, in pixels; a smaller picture keeps its size. auto: 512 with less than 30 MB available, 1024 with less than 80, else 2048. Default: 2048."
    ) { $0.maxPixelSize = $1 },
    .choice(
      "--format", "KIND", of: OutputFormat.self, aliases: ["jpg": .jpeg], commands: [.make, .plan],
      help: "jpeg, png, heic or avif. Default: what OUTPUT's extension says; jpeg when it has none or is -."
    ) { $0.format = $1 },
    .number(
      "--quality", range: 1...100, commands: [.make, .plan],
      help: "The quality of a JPEG, HEIC or AVIF, from 1 to 100 on JPEG's scale. Default: 85."
    ) { $0.quality = $1 },
    .choice(
      "--chroma", "KIND", of: ChromaSubsampling.self, aliases: ["4:2:0": .quarter, "4:2:2": .half, "4:4:4": .full],
      commands: [.make, .plan],
      help:
        "The chroma of a JPEG, HEIC or AVIF: 420, 422 or 444. Default: 420; an AVIF of more than a tile with an odd side always has 444."
    ) { $0.chroma = $1 },
    .number(
      "--effort", range: 1...9, commands: [.make, .plan],
      help:
        "How hard to try to make a HEIC, AVIF or PNG small, from 1 to 9; from 5 on a JPEG too, by tables of its own, with more memory. Default: 2."
    ) { $0.effort = $1 },
    .flag(
      "--progressive", commands: [.make, .plan],
      help: "Write a progressive JPEG: 5 to 8% smaller, held whole while it is encoded."
    ) { $0.isProgressive = true },
    .choice(
      "--depth", "BITS", of: SampleDepth.self, commands: [.make, .plan],
      help:
        "8 or 16 bits a sample; 16 only in PNG. Default: 16 where the input has more than 8 and the result is a PNG, else 8."
    ) { $0.depth = $1 },
    .choice(
      "--color", "SPACE", of: OutputColor.self, aliases: ["display-p3": .p3], commands: [.make, .plan],
      help: "The colour space of the result: keep the input's, or convert to srgb or p3 (Display P3). Default: keep."
    ) { $0.color = $1 },
    .choice(
      "--intent", "INTENT", of: RenderingIntent.self, commands: [.make, .plan],
      help:
        "How colours are converted: perceptual, relative (with black point compensation), saturation or absolute; CMYK is converted in any case. Default: relative."
    ) { $0.intent = $1 },
    .flag(
      "--linear", commands: [.make, .plan], help: "Average light, not coded values: slower, and more memory."
    ) { $0.isLinear = true },
    .choice(
      "--kernel", "NAME", of: ResamplingKernel.self, commands: [.make, .plan],
      help:
        "The filter to resample with, from soft to sharp: box, triangle (bilinear), mitchell, catrom (bicubic), lanczos2 or lanczos3. Default: lanczos3."
    ) { $0.kernel = $1 },
    .text(
      "--background", "COLOR", commands: [.make, .plan],
      help:
        "What lies under alpha in a JPEG: an opaque CSS colour such as navy, '#ff8800' or 'rgb(0 128 255)'. Default: white."
    ) { (invocation, text) throws(DownsampleError) in invocation.background = try BackgroundColor(css: text) },
    .choice(
      "--metadata", "WHAT", of: MetadataChoice.self, commands: [.make, .plan],
      help:
        "Which of EXIF, XMP and IPTC to keep: none, rights (copyright and creator) or all. Orientation, sizes and thumbnails are set right. Default: none."
    ) { $0.metadata = $1 },
    .flag(
      "--strip-gps", commands: [.make, .plan],
      help:
        "Take positions out of the metadata that --metadata keeps, and the MakerNote, which may hold some; names of places stay."
    ) { $0.stripsGPS = true },
    .flag(
      "--salvage", commands: [.make, .plan],
      help: "Make what there is of a damaged picture, with a warning, instead of refusing it."
    ) { $0.salvages = true },
    .text(
      "--memory", "SIZE|auto", commands: [.make, .plan],
      help:
        "The most memory that may be held: 120MB, 64MiB, bytes; auto: the container's or the machine's limit. Default: DOWNSAMPLE_MEMORY, else 120MB."
    ) { (invocation, text) throws(DownsampleError) in invocation.memory = try Invocation.Memory(text) },
    .choice(
      "--over-budget", "WHAT", of: Request.OverBudget.self, commands: [.make, .plan],
      help:
        "What to do when the result would take more memory than that: refuse, or shrink it until it fits. Default: refuse; shrink with --max auto."
    ) { $0.overBudget = $1 },
    .number(
      "--threads", range: Request.threadRange, commands: [.make, .plan],
      help: "The most threads that work at once. Default: as many as there are processors, 4 at most."
    ) { $0.threads = $1 },
    .text(
      "--deadline", "TIME", commands: [.make],
      help: "Give up after this time: 30s, 500ms, 2m. Default: never."
    ) { (invocation, text) throws(DownsampleError) in invocation.deadline = try Duration(option: text) },
    .flag(
      "--no-clobber", commands: [.make],
      help:
        "Refuse to replace an OUTPUT that exists; else it is replaced in one step, once the new one is whole."
    ) { $0.noClobber = true },
    .flag(
      "--json",
      help:
        "Report as one line of JSON on standard output; on standard error when the picture goes to standard output."
    ) { $0.json = true },
    .flag("--quiet", short: "-q", help: "Say nothing but errors.") {
      $0.quiet = true
      $0.verbose = false
    },
    .flag("--verbose", short: "-v", help: "Say what was done, how long each stage took and how much memory it took.") {
      $0.verbose = true
      $0.quiet = false
    },
    .flag("--version", help: "Print the versions of this program and of its libraries, and end.") {
      $0.showsVersion = true
    },
    .flag("--help", short: "-h", help: "Print this and end.") { $0.showsHelp = true },
  ]
}
