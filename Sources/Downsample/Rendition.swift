import Budget
import Codecs
import Metadata
import Raster

/// One of the pictures that are made from a source: how large it is, what it looks like, and what it is written as.
public struct Rendition: Sendable {
  /// The longest side of the output in pixels, 1 to 65,500. A smaller picture keeps its size and is encoded again. Nil: by
  /// what memory there is, see `automaticSize`.
  public var maxPixelSize: Int?
  /// What the file is. `ImageType` tells it from names and media types.
  public var format: OutputFormat
  /// Quality on libjpeg's scale, 1 to 100, of JPEG, HEIC and AVIF.
  public var quality: Int
  /// The chroma of a JPEG, HEIC or AVIF. An AVIF larger than a tile with an odd side always gets full chroma.
  public var chroma: ChromaSubsampling
  /// 1 to 9: more takes longer and makes HEIC and AVIF a little smaller; from 5 on a JPEG too, which is then held whole while
  /// it is encoded.
  public var effort: Int
  /// A JPEG of several scans. It is held whole while it is encoded.
  public var isProgressive: Bool
  /// Nil: as deep as the input, where the format holds that.
  public var depth: SampleDepth?
  /// The colour space of the output.
  public var color: OutputColor
  /// How colours are converted, where they are.
  public var intent: RenderingIntent
  /// Samples are averaged as light, not as they are coded.
  public var isLinear: Bool
  /// How samples are weighted when they are averaged.
  public var kernel: ResamplingKernel
  /// What lies under alpha in a format without it.
  public var background: BackgroundColor
  /// What goes into the file beside colour. Nothing by default: no positions, no old thumbnails.
  public var metadata: MetadataChoice
  /// Positions are taken out of the metadata that are kept.
  public var stripsGPS: Bool
  /// The picture is turned upright as its orientation says. Else it is left as it is stored.
  public var appliesOrientation: Bool
  /// Rows of such pixels are handed over instead of a file, for `ImageDestination.rows`: then the format, quality, chroma, effort,
  /// `isProgressive`, depth and metadata do not matter. Nil: a file.
  public var pixelFormat: PixelFormat?

  /// All have defaults: a JPEG of quality 85 whose longest side is 2048 pixels at most.
  public init(
    maxPixelSize: Int? = 2048, format: OutputFormat = .jpeg, quality: Int = 85,
    chroma: ChromaSubsampling = .quarter, effort: Int = Rendition.defaultEffort, isProgressive: Bool = false,
    depth: SampleDepth? = nil, color: OutputColor = .keep, intent: RenderingIntent = .relative, isLinear: Bool = false,
    kernel: ResamplingKernel = .lanczos3, background: BackgroundColor = .white, metadata: MetadataChoice = .none,
    stripsGPS: Bool = false, appliesOrientation: Bool = true, pixelFormat: PixelFormat? = nil
  ) {
    self.maxPixelSize = maxPixelSize
    self.format = format
    self.quality = quality
    self.chroma = chroma
    self.effort = effort
    self.isProgressive = isProgressive
    self.depth = depth
    self.color = color
    self.intent = intent
    self.isLinear = isLinear
    self.kernel = kernel
    self.background = background
    self.metadata = metadata
    self.stripsGPS = stripsGPS
    self.appliesOrientation = appliesOrientation
    self.pixelFormat = pixelFormat
  }

  /// What `effort` is where none is asked for: more takes three times as long for files that are no more than a tenth smaller.
  public static let defaultEffort = EncoderSettings.defaultEffort

  /// What `maxPixelSize` takes.
  public static let maxPixelSizeRange = 1...65_500

  /// The longest side that is made where none is asked for: 512 pixels with less than 30 MB available, 1024 with less than
  /// 80, else 2048.
  public static func automaticSize(available: Int) -> Int {
    available < 30 * ByteCount.megabyte ? 512 : available < 80 * ByteCount.megabyte ? 1024 : 2048
  }

  var kind: OutputKind { pixelFormat.map(OutputKind.pixels) ?? .file(format) }

  /// What is kept of the file's metadata; pixels have no place for any.
  var keptMetadata: MetadataChoice { pixelFormat == nil ? metadata : .none }

  func wantsSameMetadata(as other: Rendition) -> Bool {
    keptMetadata == other.keptMetadata && stripsGPS == other.stripsGPS && appliesOrientation == other.appliesOrientation
  }

  /// The input's header as this one sees it.
  func view(of header: ImageHeader) -> ImageHeader {
    if appliesOrientation { return header }
    var stored = header
    stored.orientation = .up
    return stored
  }

  /// - Parameter metadata: as it goes into the output.
  func encoderSettings(for pipeline: Pipeline, metadata: ImageMetadata) -> EncoderSettings {
    EncoderSettings(
      quality: quality, iccProfile: pipeline.iccProfile, isSRGB: pipeline.isSRGB, metadata: metadata,
      isProgressive: isProgressive, chroma: kind.chroma(asked: chroma, size: pipeline.encoded.size), effort: effort)
  }

  /// - Parameter isSRGB: as the encoder is told.
  func exifColorSpace(isSRGB: Bool) -> EXIFColorSpace {
    switch color {
    case .srgb: .srgb
    case .p3: .uncalibrated
    case .keep: isSRGB ? .srgb : .kept
    }
  }

  func validate() throws(DownsampleError) {
    if let maxPixelSize { try Self.check("maxPixelSize", maxPixelSize, Self.maxPixelSizeRange) }
    try Self.check("quality", quality, 1...100)
    try Self.check("effort", effort, 1...9)
    if pixelFormat == nil, depth == .sixteen, !format.holdsDeepSamples {
      throw DownsampleError(.usage, "\(format.rawValue) is written with 8 bits a sample; --depth 16 takes --format png")
    }
  }

  static func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws(DownsampleError) {
    if range.contains(value) { return }
    throw DownsampleError(.usage, "\(name) is \(value); it takes \(range.lowerBound) to \(range.upperBound)")
  }
}
