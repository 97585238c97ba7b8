import Metadata
import Raster

/// What decoded samples mean.
public enum DecodedColor: Sendable, Equatable {
  /// One plane; the range as in video where not full.
  case gray(isFullRange: Bool)
  /// One plane of interleaved R, G, B.
  case rgb
  /// Planes of R, G and B.
  case rgbPlanes
  /// Planes of luma and of two colour differences, these maybe subsampled.
  case ycbcr(ColorMatrix)
  /// One plane of interleaved C, M, Y, K; inverted means that the maximum is no ink.
  case cmyk(isInverted: Bool)
}

public enum DecodedAlpha: Sendable, Equatable {
  case none
  /// Interleaved with the colour, or the last plane.
  case straight
  case premultiplied
}

/// The order in which a decoder brings rows.
public enum RowOrder: Sendable, Equatable {
  /// Every row of the planes once, from the top.
  case topDown
  /// The rows of the seven passes of an interlaced PNG, for `Adam7Stage`: of the only plane, as long as its rows, each with the
  /// pixels of its pass packed at the beginning. What follows them has no meaning.
  case adam7
}

/// What a decoder delivers, fixed once it has begun.
public struct DecodedLayout: Sendable {
  public struct Plane: Sendable {
    public var layout: PlaneLayout
    /// The part of the plane that the header's crop covers.
    public var box: SourceBox
    /// By how much its samples lie left of, and above, the middle of the pixels that they stand for, in samples: a quarter
    /// where halved chroma is sited on the left one of two columns.
    public var siting: Siting

    public struct Siting: Sendable, Equatable {
      public var left: Double
      public var above: Double

      public init(left: Double = 0, above: Double = 0) {
        self.left = left
        self.above = above
      }

      public static let center = Siting()
    }

    public init(layout: PlaneLayout, box: SourceBox, siting: Siting = .center) {
      self.layout = layout
      self.box = box
      self.siting = siting
    }
  }

  public var color: DecodedColor
  public var alpha: DecodedAlpha
  public var planes: [Plane]
  public var order: RowOrder

  public init(color: DecodedColor, alpha: DecodedAlpha, planes: [Plane], order: RowOrder = .topDown) {
    self.color = color
    self.alpha = alpha
    self.planes = planes
    self.order = order
  }
}

/// A run of whole rows of every plane. The pointers hold until the decoder is asked for the next.
public struct DecodedBand {
  public struct Rows {
    public var samples: UnsafeRawPointer
    /// Bytes from row to row.
    public var stride: Int
    public var count: Int

    public init(samples: UnsafeRawPointer, stride: Int, count: Int) {
      self.samples = samples
      self.stride = stride
      self.count = count
    }
  }

  public var planes: [Rows]

  public init(planes: [Rows]) { self.planes = planes }
}

/// How a file is read.
public struct ReadingOptions: Sendable {
  /// Bytes that may be held for the header. JPEG and PNG always do with a few.
  public var available: Int
  /// How many copies of the metadata are made of those that `ImageDecoder.takeMetadata` gives; 0: they are passed over.
  public var metadataCopies: Int
  /// What there is of a damaged picture is made, instead of refusing it.
  public var salvages: Bool
  /// Whether libavcodec decodes HEVC tiles that it can decode; nil: where it gains.
  var usesLibavcodec: Bool?

  /// What of each of EXIF, XMP and IPTC is kept, in bytes. Reading and editing the three of them takes up to twelve times that for each copy.
  public var mostMetadataBytes: Int { min(OutputMetadata.largestPart, available / 12 / max(1, metadataCopies)) }

  var keepsMetadata: Bool { metadataCopies > 0 }

  public init(available: Int = .max, metadataCopies: Int = 0, salvages: Bool = false) {
    self.available = available
    self.metadataCopies = metadataCopies
    self.salvages = salvages
  }
}

/// One picture being decoded. The header is read when it is made; nothing else is until `begin`.
public protocol ImageDecoder: AnyObject {
  var header: ImageHeader { get }

  /// What the file says beside its pixels, handed over: a second call gives none. Only where the options said to keep it,
  /// and before `begin`.
  func takeMetadata() throws(DownsampleError) -> ImageMetadata

  /// What was found odd, or missing and made up for, while decoding: one sentence each. Whole after the last row.
  var warnings: [String] { get }

  /// Whether some of the picture was missing or damaged, and made up for. Known after the last row.
  var isSalvaged: Bool { get }

  /// Plans the decoding of this picture.
  var planner: any DecodingPlanner { get }

  /// Begins to decode in a way that the planner gave, and says what will come: what the strategy says, or less where only
  /// decoding could tell.
  func begin(_ strategy: DecodingStrategy, resources: DecodingResources) throws(DownsampleError) -> DecodedLayout

  /// The next rows, nil at the end. Only after `begin`.
  func nextBand() throws(DownsampleError) -> DecodedBand?
}

/// A decoded picture is kept at least this many times the output's size by a decoder's own pre-shrink. Measured: 1.9 costs at
/// most 0.9 SSIMULACRA 2, often nothing, and halves the work of 48 megapixels made 2048 wide, which 2.0 would not.
public let leastPreshrinkRatio = 1.9
