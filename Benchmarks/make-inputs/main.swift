// Writes the pictures of the benchmarks: each is what its name says, made row by row, so that 200 megapixels take no more
// memory than 1 (a progressive JPEG takes its coefficients: 3 bytes a pixel).
//
//     make-inputs DIR NAME...      writes those that are not there, prints a line for each written
//
// A name is SIZE[-LAYOUT][-NUMBER].KIND, as in 12mp.jpg, 48mp-progressive.jpg, 12mp-adam7.png, 640x480-17.jpg:
//     SIZE     megapixels, 4 by 3 (12mp is a phone's 4032 x 3024), or WIDTHxHEIGHT
//     LAYOUT   progressive or rotated (JPEG; rotated: on its side, Display P3, as phones write it), adam7 (PNG)
//     NUMBER   another picture of the same kind
//     KIND     jpg (4:2:0, quality 92), png (RGB, 8 bits), heic (tiles of 512 pixels)

import CPictures
import Glibc

/// Standard error, one line.
func fail(_ text: String, status: Int32 = 1) -> Never {
  let line = Array("make-inputs: \(text)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  exit(status)
}

struct Input {
  var width: Int32
  var height: Int32
  var layout: String?
  var number = 0
  var kind: String

  /// Nil when the name is not one of such pictures.
  init?(_ name: String) {
    let parts = name.split(separator: ".", maxSplits: 2)
    // "0.3mp.jpg" has two.
    guard let last = parts.last, parts.count >= 2 else { return nil }
    kind = String(last)
    var words = name.dropLast(last.utf8.count + 1).split(separator: "-")[...]
    guard let size = words.popFirst() else { return nil }
    if size.hasSuffix("mp") {
      guard let megapixels = Double(size.dropLast(2)), megapixels >= 0.01, megapixels <= 1000 else { return nil }
      let unit = (megapixels / 12).squareRoot() * 1008
      width = Int32((unit * 4).rounded())
      height = Int32((unit * 3).rounded())
    } else {
      let sides = size.split(separator: "x").compactMap { Int32($0) }
      guard sides.count == 2, sides.allSatisfy({ $0 >= 1 && $0 <= 65500 }) else { return nil }
      (width, height) = (sides[0], sides[1])
    }
    if let word = words.first, Int(word) == nil {
      layout = String(word)
      words.removeFirst()
    }
    if let word = words.popFirst() {
      guard let value = Int(word), value >= 0, words.isEmpty else { return nil }
      number = value
    }
    switch (kind, layout) {
    case ("jpg", nil), ("jpg", "progressive"), ("jpg", "rotated"), ("png", nil), ("png", "adam7"), ("heic", nil): break
    default: return nil
    }
  }

  /// Gives the status of the library of pictures.
  func write(to path: String) -> Int32 {
    var scene = cpic_scene(width: width, height: height, channels: 3, bits: 8, seed: UInt64(number) &* 7919 &+ 1)
    switch kind {
    case "jpg":
      var options = cpic_jpeg_defaults()
      options.quality = 92
      options.progressive = layout == "progressive"
      guard layout == "rotated" else { return cpic_stream_jpeg(&scene, &options, path) }
      var profile = cpic_bytes()
      guard cpic_make_icc(CPIC_ICC_DISPLAY_P3, 0, &profile) == 0 else { return 1 }
      defer { cpic_bytes_free(&profile) }
      options.icc = profile
      options.exif.orientation = 6
      options.exif.maker = true
      return cpic_stream_jpeg(&scene, &options, path)
    case "png":
      var options = cpic_png_defaults()
      options.interlaced = layout == "adam7"
      return cpic_stream_png(&scene, &options, path)
    default:
      var options = cpic_heif_defaults()
      options.quality = 50
      options.tile_width = 512
      return cpic_stream_heif_grid(&scene, &options, 48, path)
    }
  }
}

/// Under another name first, so that what an interrupted run left is never taken for the picture.
func make(_ name: String, in folder: String) {
  guard let input = Input(name) else { fail("\(name) is not the name of a picture that can be made", status: 64) }
  let path = "\(folder)/\(name)"
  if access(path, F_OK) == 0 { return }
  let unfinished = "\(folder)/.\(name).\(getpid())"
  guard input.write(to: unfinished) == 0 else {
    let message = String(cString: cpic_message())
    unlink(unfinished)
    fail("\(name): \(message)")
  }
  guard rename(unfinished, path) == 0 else { fail("\(path): \(String(cString: strerror(errno)))") }
  print(name)
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2 else { fail("usage: make-inputs DIR NAME...", status: 64) }
for name in arguments.dropFirst() { make(name, in: arguments[0]) }
