// Writes test charts as PNG: what a resampler gets wrong shows in them, and can be counted.
//
//     make-charts DIR [--side PIXELS]

import CPictures
import Glibc

/// A failure to report to whoever runs this.
struct Failure: Error {
  let text: String
}

func arguments() throws(Failure) -> (directory: String, side: Int) {
  let usage = "usage: make-charts DIR [--side PIXELS]"
  var directory = ""
  var side = 1200
  var rest = CommandLine.arguments.dropFirst()
  while let word = rest.popFirst() {
    switch word {
    case "--side":
      guard let number = rest.popFirst().flatMap({ Int($0) }), (64...8192).contains(number), number % 4 == 0 else {
        throw Failure(text: "--side takes a multiple of 4 from 64 to 8192; \(usage)")
      }
      side = number
    case _ where !word.hasPrefix("-") && directory.isEmpty:
      directory = word
    default:
      throw Failure(text: "unknown argument \(word); \(usage)")
    }
  }
  if directory.isEmpty { throw Failure(text: usage) }
  return (directory, side)
}

func run() throws(Failure) {
  let (directory, side) = try arguments()
  if mkdir(directory, 0o777) != 0 && errno != EEXIST {
    throw Failure(text: "\(directory): \(String(cString: strerror(errno)))")
  }
  for chart in charts {
    guard let picture = chart.make(side: side) else { throw Failure(text: String(cString: cpic_message())) }
    defer { cpic_free(picture) }
    var options = cpic_png_defaults()
    let path = "\(directory)/\(chart.name).png"
    guard cpic_write_png(picture, &options, path) == 0 else {
      throw Failure(text: "\(path): \(String(cString: cpic_message()))")
    }
  }
}

do {
  try run()
} catch {
  let line = Array("make-charts: \(error.text)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  exit(1)
}
