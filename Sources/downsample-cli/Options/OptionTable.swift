import Codecs

/// Every option there is. A new one is an entry here and a property of `Invocation`.
enum OptionTable {
  static let all: [OptionSpec] = [
    .number(
      "--max", range: 1...65_500, commands: [.make],
      help: "The longest side of the result, in pixels; a smaller picture keeps its size. Default: 2048."
    ) { $0.maxPixelSize = $1 },
    .choice(
      "--format", "KIND", of: OutputFormat.self, aliases: ["jpg": .jpeg], commands: [.make],
      help: "jpeg or png. Default: what OUTPUT's extension says; jpeg when it has none or is -."
    ) { $0.format = $1 },
    .number(
      "--quality", range: 1...100, commands: [.make],
      help: "The quality of a JPEG, from 1 to 100. Default: 85."
    ) { $0.quality = $1 },
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
