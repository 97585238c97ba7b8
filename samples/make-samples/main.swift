// Writes the demo's pictures: one made photo in the kinds and layouts that cameras and programs write.
//
//     make-samples DIR [--megapixels N]

import CPictures
import Glibc

/// A failure to report to whoever runs this.
struct Failure: Error {
  let text: String
}

/// Standard error, one line.
func complain(_ text: String) {
  let line = Array("make-samples: \(text)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
}

/// Throws what the library of pictures last said when a call of it failed.
func check(_ status: Int32, _ name: String) throws(Failure) {
  guard status == 0 else { throw Failure(text: "\(name): \(String(cString: cpic_message()))") }
}

func existing(_ picture: UnsafeMutablePointer<cpic_picture>?) throws(Failure) -> UnsafeMutablePointer<cpic_picture> {
  guard let picture else { throw Failure(text: String(cString: cpic_message())) }
  return picture
}

struct Arguments {
  var directory = ""
  var megapixels = 12.0

  init(_ words: [String]) throws(Failure) {
    let usage = "usage: make-samples DIR [--megapixels N]"
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "--megapixels":
        guard let number = rest.popFirst().flatMap(Double.init), number >= 0.01, number <= 200 else {
          throw Failure(text: "--megapixels takes a number from 0.01 to 200; \(usage)")
        }
        megapixels = number
      case _ where !word.hasPrefix("-") && directory.isEmpty:
        directory = word
      default:
        throw Failure(text: "unknown argument \(word); \(usage)")
      }
    }
    if directory.isEmpty { throw Failure(text: usage) }
  }

  /// A landscape picture of 4 by 3; 12 megapixels are a phone's 4032 x 3024.
  var size: (width: Int32, height: Int32) {
    let unit = max(1, (megapixels / 12).squareRoot() * 1008)
    return (Int32((unit * 4).rounded()), Int32((unit * 3).rounded()))
  }
}

struct Sampler {
  let directory: String
  let picture: UnsafeMutablePointer<cpic_picture>
  /// A phone's profile, which is not sRGB.
  let profile: cpic_bytes

  func path(_ name: String) -> String { "\(directory)/\(name)" }

  /// Writes one file and says its size in bytes.
  func write(_ name: String, _ encode: (UnsafePointer<CChar>) -> Int32) throws(Failure) {
    try check(path(name).withCString(encode), name)
    var status = stat()
    guard stat(path(name), &status) == 0 else {
      throw Failure(text: "\(name): \(String(cString: strerror(errno)))")
    }
    print("\(name) \(status.st_size)")
  }

  func writeJPEG(_ name: String, progressive: Bool, orientation: Int32) throws(Failure) {
    var options = cpic_jpeg_defaults()
    options.quality = 92
    options.progressive = progressive
    options.optimise = true
    options.exif.orientation = orientation
    options.exif.maker = true
    options.icc = profile
    try write(name) { cpic_write_jpeg(picture, &options, $0) }
  }

  func writePNG(_ name: String, interlaced: Bool) throws(Failure) {
    var options = cpic_png_defaults()
    options.interlaced = interlaced
    options.icc = profile
    options.filter = 4
    try write(name) { cpic_write_png(picture, &options, $0) }
  }

  /// Tiles of 512 pixels and a quarter turn, as phones write them.
  func writeHEIC(_ name: String) throws(Failure) {
    var options = cpic_heif_defaults()
    options.quality = 60
    options.tile_width = 512
    options.orientation = 6
    options.icc = profile
    options.exif.orientation = 6
    options.exif.maker = true
    options.thumbnail = 320
    try write(name) { cpic_write_heif(picture, &options, $0) }
  }
}

func run() throws(Failure) {
  let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
  if mkdir(arguments.directory, 0o777) != 0 && errno != EEXIST {
    throw Failure(text: "\(arguments.directory): \(String(cString: strerror(errno)))")
  }
  let size = arguments.size
  var profile = cpic_bytes()
  try check(cpic_make_icc(CPIC_ICC_DISPLAY_P3, 0, &profile), "the colour profile")
  defer { cpic_bytes_free(&profile) }

  let landscape = try existing(cpic_make(CPIC_PHOTO, size.width, size.height, 3, 8, 1))
  let upright = Sampler(directory: arguments.directory, picture: landscape, profile: profile)
  defer { cpic_free(landscape) }
  try upright.writeJPEG("photo-baseline.jpg", progressive: false, orientation: 1)
  try upright.writeJPEG("photo-progressive.jpg", progressive: true, orientation: 1)
  try upright.writePNG("photo.png", interlaced: false)
  try upright.writePNG("photo-adam7.png", interlaced: true)

  // A phone held upright: its sensor still reads landscape rows, and the file says how to turn them.
  let portrait = try existing(cpic_make(CPIC_PHOTO, size.height, size.width, 3, 8, 2))
  let turned = cpic_orient(portrait, 8)
  cpic_free(portrait)
  let sideways = Sampler(directory: arguments.directory, picture: try existing(turned), profile: profile)
  defer { cpic_free(sideways.picture) }
  try sideways.writeJPEG("photo-rotated.jpg", progressive: false, orientation: 6)
  if cpic_has_heif() {
    try sideways.writeHEIC("photo.heic")
  } else {
    complain("no photo.heic: a grid of tiles is written with libheif 1.19 or newer")
  }
}

do {
  try run()
} catch {
  complain(error.text)
  exit(1)
}
