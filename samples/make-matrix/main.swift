// Writes the pictures over which the predicted memory is compared with the measured one (scripts/matrix).
//
//     make-matrix --list sample|whole|giant       their names, one a line
//     make-matrix DIR NAME...                     writes those that are not there, prints a line for each written

import CPictures
import Glibc

/// Standard error, one line.
func complain(_ text: String) {
  let line = Array("make-matrix: \(text)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
}

func fail(_ text: String, status: Int32 = 1) -> Never {
  complain(text)
  exit(status)
}

func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// Under another name first, so that what an interrupted run left is never taken for the picture.
func make(_ entry: Entry, in folder: String) {
  let path = "\(folder)/\(entry.name)"
  if exists(path) { return }
  let unfinished = "\(folder)/.\(entry.name).\(getpid())"
  guard entry.write(unfinished) == 0 else {
    let message = String(cString: cpic_message())
    unlink(unfinished)
    fail("\(entry.name): \(message)")
  }
  guard rename(unfinished, path) == 0 else { fail("\(path): \(String(cString: strerror(errno)))") }
  print(entry.name)
}

let usage = "usage: make-matrix --list sample|whole|giant, or make-matrix DIR NAME..."
let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2 else { fail(usage, status: 64) }
let entries = jpegEntries() + pngEntries() + heifEntries()
if arguments[0] == "--list" {
  for entry in entries {
    let isAsked: Bool
    switch (arguments[1], entry.group) {
    case ("sample", .sample), ("whole", .sample), ("whole", .whole), ("giant", .giant): isAsked = true
    case ("sample", _), ("whole", _), ("giant", _): isAsked = false
    default: fail(usage, status: 64)
    }
    if isAsked { print(entry.name) }
  }
} else {
  for name in arguments.dropFirst() {
    guard let entry = entries.first(where: { $0.name == name }) else { fail("no picture \(name)", status: 64) }
    make(entry, in: arguments[0])
  }
}
