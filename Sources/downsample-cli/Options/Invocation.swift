import Codecs
import Downsample
import Metadata
import Raster

/// What the command line asks for: the values of its options, with their defaults, and its operands.
struct Invocation: Equatable {
  var command = Command.make
  var operands: [Path] = []

  /// The longest side of the result, in pixels; nil: by what memory there is.
  var maxPixelSize: Int? = 2048
  /// Of a JPEG, HEIC or AVIF, 1 to 100.
  var quality = 85
  var chroma = ChromaSubsampling.quarter
  /// Of a HEIC or AVIF, 1 to 9.
  var effort = EncoderSettings.defaultEffort
  /// Of a JPEG.
  var isProgressive = false
  /// Nil: as the input.
  var depth: SampleDepth?
  var color = OutputColor.keep
  var intent = RenderingIntent.relative
  var isLinear = false
  var kernel = ResamplingKernel.lanczos3
  var background = BackgroundColor.white
  var metadata = MetadataChoice.none
  var stripsGPS = false
  var salvages = false
  /// Nil: the output name's extension says it.
  var format: OutputFormat?
  var noClobber = false

  /// Nil: what the environment says, else the default.
  var memory: Memory?
  /// Nil: refuse, shrink with an automatic size.
  var overBudget: Request.OverBudget?
  /// Nil: as many as there are processors, within limits.
  var threads: Int?
  var deadline: Duration?

  enum Memory: Equatable {
    /// Bytes.
    case ceiling(Int)
    case automatic
  }

  var json = false
  var quiet = false
  var verbose = false
  var showsVersion = false
  var showsHelp = false
}
