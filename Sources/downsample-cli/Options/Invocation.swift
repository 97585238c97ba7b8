import Codecs
import Downsample

/// What the command line asks for: the values of its options, with their defaults, and its operands.
struct Invocation: Equatable {
  var command = Command.make
  var operands: [Path] = []

  /// The longest side of the result, in pixels.
  var maxPixelSize = 2048
  /// Of a JPEG, 1 to 100.
  var quality = 85
  /// Nil: the output name's extension says it.
  var format: OutputFormat?
  var noClobber = false

  var json = false
  var quiet = false
  var verbose = false
  var showsVersion = false
  var showsHelp = false
}
