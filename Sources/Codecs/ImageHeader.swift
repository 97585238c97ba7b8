import Raster

/// What a file says of its picture before any of it is decoded.
public struct ImageHeader: Sendable {
  /// How colour is stored in the file.
  public enum ColorModel: String, Sendable {
    /// One channel.
    case gray
    /// Red, green, blue.
    case rgb
    /// Numbers of colours in a table.
    case palette
    /// Luma and two colour differences.
    case ycbcr
    /// Four inks.
    case cmyk
    /// CMYK whose first three inks are coded as luma and colour differences.
    case ycck
  }

  /// How the picture's data are arranged in the file.
  public enum Arrangement: String, Sendable {
    /// From the top down.
    case sequential
    /// A JPEG that becomes finer scan by scan.
    case progressive
    /// A JPEG whose components come one after another.
    case multiScan = "multi-scan"
    /// A PNG in the seven passes of Adam7.
    case interlaced
    /// A HEIF grid: tiles of one size, which are decoded one by one.
    case tiled
    /// A HEIF item that can only be decoded as a whole.
    case whole
  }

  /// Colour as numbers of ITU-T H.273.
  public struct CodedColor: Sendable, Equatable {
    /// Which red, green, blue and white: ColourPrimaries.
    public var primaries: Int
    /// How light is coded: TransferCharacteristics.
    public var transfer: Int
    /// How luma and colour differences are made of red, green and blue: MatrixCoefficients.
    public var matrix: Int
    /// Whether all values of a sample are used: VideoFullRangeFlag.
    public var isFullRange: Bool

    /// - Parameters: the numbers of ITU-T H.273.
    public init(primaries: Int, transfer: Int, matrix: Int, isFullRange: Bool) {
      self.primaries = primaries
      self.transfer = transfer
      self.matrix = matrix
      self.isFullRange = isFullRange
    }

    /// sRGB, as far as primaries and transfer say: BT.709's and sRGB's own.
    public static let srgb = CodedColor(primaries: 1, transfer: 13, matrix: 0, isFullRange: true)

    /// PQ (SMPTE ST 2084) or HLG (ARIB STD-B67).
    public var isHighDynamicRange: Bool { transfer == 16 || transfer == 18 }
  }

  /// Colour as a PNG's gAMA and cHRM chunks give it.
  public struct Calibration: Sendable, Equatable {
    /// Of the encoding: 0.45455 for a display gamma of 2.2. Nil where only the primaries are known.
    public var gamma: Double?
    /// CIE 1931 x and y of white, red, green and blue, in this order; nil where only the gamma is known.
    public var chromaticities: [Chromaticity]?

    /// A colour without its brightness, of CIE 1931.
    public struct Chromaticity: Sendable, Equatable {
      /// 0 to 1.
      public var x: Double
      /// 0 to 1.
      public var y: Double

      /// A point of the diagram.
      public init(x: Double, y: Double) {
        self.x = x
        self.y = y
      }
    }

    /// Either may be missing, not both.
    public init(gamma: Double? = nil, chromaticities: [Chromaticity]? = nil) {
      self.gamma = gamma
      self.chromaticities = chromaticities
    }
  }

  /// How bright a picture of high dynamic range is, in cd/m2; nil where it is not said.
  public struct Luminance: Sendable, Equatable {
    /// Of the brightest pixel (MaxCLL, CTA-861.3).
    public var maximumContent: Double?
    /// Of the display it was mastered on (SMPTE ST 2086).
    public var masteringMaximum: Double?

    /// Both in cd/m2.
    public init(maximumContent: Double? = nil, masteringMaximum: Double? = nil) {
      self.maximumContent = maximumContent
      self.masteringMaximum = masteringMaximum
    }
  }

  /// "JPEG", "PNG", "HEIC", "AVIF", ...
  public var kind: String
  /// The stored size, before cropping and orientation.
  public var codedSize: PixelSize
  /// The part of it that is the picture, in stored pixels.
  public var crop: PixelRect
  /// How the stored picture is turned to be upright.
  public var orientation: Orientation
  /// Bits of a sample.
  public var depth: Int
  /// How colour is stored.
  public var colorModel: ColorModel
  /// "4:2:0" and the like; nil where it does not apply.
  public var subsampling: String?
  /// How the picture's data are arranged.
  public var arrangement: Arrangement
  /// Pixels of a tile, when tiled.
  public var tileSize: PixelSize?
  /// Whether it has transparency.
  public var hasAlpha: Bool
  /// The embedded ICC profile; empty when there is none.
  public var iccProfile: [UInt8]
  /// HEIF's nclx; a PNG's cICP or sRGB chunk, where no chunk comes before them in precedence.
  public var codedColor: CodedColor?
  /// Where the file has neither a profile nor numbers.
  public var calibration: Calibration?
  /// How bright the picture is, where it is of high dynamic range and says so.
  public var luminance: Luminance?
  /// Bytes of the file, where that is known.
  public var fileByteCount: Int?
  /// What will be left out or was found odd, one sentence each.
  public var notes: [String]

  /// A header of a picture that is upright, whole, and says nothing of its colours.
  public init(
    kind: String, codedSize: PixelSize, depth: Int, colorModel: ColorModel, arrangement: Arrangement,
    hasAlpha: Bool = false
  ) {
    self.kind = kind
    self.codedSize = codedSize
    crop = PixelRect(x: 0, y: 0, width: codedSize.width, height: codedSize.height)
    orientation = .up
    self.depth = depth
    self.colorModel = colorModel
    self.arrangement = arrangement
    self.hasAlpha = hasAlpha
    iccProfile = []
    notes = []
  }

  /// The size as displayed.
  public var size: PixelSize { crop.size.oriented(by: orientation) }
}
