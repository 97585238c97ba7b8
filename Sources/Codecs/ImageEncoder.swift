import Metadata
import Raster

/// The kinds of picture that can be written.
public enum OutputFormat: String, Sendable, CaseIterable {
  /// ISO/IEC 10918, baseline or progressive, 8 bits a sample.
  case jpeg
  /// 8 or 16 bits a sample, without loss.
  case png
  /// HEVC in HEIF.
  case heic
  /// AV1 in HEIF.
  case avif

  /// The extension of its files, without the dot.
  public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

  /// Whether transparency can be written.
  public var holdsAlpha: Bool { self != .jpeg }

  /// Whether 16 bits a sample are written; 8 otherwise.
  public var holdsDeepSamples: Bool { self == .png }

  /// Whether colour is coded as luma and colour differences, with loss.
  public var codesColorDifferences: Bool { self != .png }

  /// The chroma that a picture of `size` gets when `asked` is asked for. AVIF's readers refuse tiles of subsampled chroma
  /// where a side of the picture is odd (ISO/IEC 23000-22, 7.3.11.4.2): those get full chroma.
  public func chroma(asked: ChromaSubsampling, size: PixelSize) -> ChromaSubsampling {
    guard self == .avif, HEIFEncoder.isTiled(size, format: self) else { return asked }
    switch asked {
    case .quarter: return size.width % 2 == 0 && size.height % 2 == 0 ? asked : .full
    case .half: return size.width % 2 == 0 ? asked : .full
    case .full: return asked
    }
  }

  /// The format that a file name's extension asks for; nil when it is none of ours.
  public init?(fileExtension: String) {
    switch fileExtension.lowercased() {
    case "jpg", "jpeg", "jpe", "jfif": self = .jpeg
    case "png": self = .png
    case "heic", "heif", "hif": self = .heic
    case "avif": self = .avif
    default: return nil
    }
  }
}

/// How many colour differences are kept.
public enum ChromaSubsampling: String, Sendable, CaseIterable {
  /// 4:2:0, one for 2 by 2 pixels.
  case quarter = "420"
  /// 4:2:2, one for two pixels beside each other.
  case half = "422"
  /// 4:4:4, one for each pixel.
  case full = "444"
}

/// What an encoder is given.
public struct EncodedLayout: Sendable, Equatable {
  public enum Color: Sendable, Equatable {
    case gray
    /// One plane of interleaved R, G, B.
    case rgb
    /// Three planes as in JPEG (BT.601, full range), chroma halved in both directions.
    case ycbcr420
  }

  public var size: PixelSize
  public var color: Color
  /// Alpha is the last interleaved sample, not premultiplied.
  public var hasAlpha: Bool
  public var sampleType: SampleType

  public init(size: PixelSize, color: Color, hasAlpha: Bool, sampleType: SampleType) {
    self.size = size
    self.color = color
    self.hasAlpha = hasAlpha
    self.sampleType = sampleType
  }

  public var planes: [PlaneLayout] {
    let maximum = sampleType == .uint8 ? 255 : 65535
    func plane(_ width: Int, _ height: Int, _ channels: Int) -> PlaneLayout {
      PlaneLayout(width: width, height: height, channels: channels, sampleType: sampleType, maximum: maximum)
    }
    switch color {
    case .gray: return [plane(size.width, size.height, hasAlpha ? 2 : 1)]
    case .rgb: return [plane(size.width, size.height, hasAlpha ? 4 : 3)]
    case .ycbcr420:
      let chroma = plane((size.width + 1) / 2, (size.height + 1) / 2, 1)
      return [plane(size.width, size.height, 1), chroma, chroma]
    }
  }
}

/// One picture being encoded: rows go in, bytes come out at the sink. `finish` writes the file's end.
public protocol ImageEncoder: RowSink {
  /// Whether the profile of the settings went into the file.
  var hasICCProfile: Bool { get }

  /// What had to be left out, one sentence each.
  var warnings: [String] { get }
}

/// How to encode.
public struct EncoderSettings: Sendable {
  /// 1 to 100 on libjpeg's scale, which HEIC's and AVIF's encoders are made to follow. PNG has no use for it.
  public var quality: Int
  /// Goes into the file as it is; empty for none.
  public var iccProfile: [UInt8]
  /// Whether colour values are known to be of sRGB, where no profile is written.
  public var isSRGB: Bool
  /// Goes into the file, each part where the format has a place for it; what has none is a warning of the encoder's.
  public var metadata: ImageMetadata
  /// A JPEG of several scans, which shows coarsely before all of it has come.
  public var isProgressive: Bool
  /// What `OutputFormat.chroma(asked:size:)` says. PNG has no use for it.
  public var chroma: ChromaSubsampling
  /// 1 to 9, more takes longer and makes HEIC and AVIF a little smaller, and PNG: of graphics more than of photos. A JPEG gets
  /// Huffman tables of its own from `leastOptimizingEffort` on, and is then held whole.
  public var effort: Int

  public init(
    quality: Int, iccProfile: [UInt8], isSRGB: Bool = false, metadata: ImageMetadata = ImageMetadata(),
    isProgressive: Bool = false, chroma: ChromaSubsampling = .quarter, effort: Int = EncoderSettings.defaultEffort
  ) {
    self.quality = quality
    self.iccProfile = iccProfile
    self.isSRGB = isSRGB
    self.metadata = metadata
    self.isProgressive = isProgressive
    self.chroma = chroma
    self.effort = effort
  }

  /// What comes after it costs three times as much for files that are no more than a tenth smaller.
  public static let defaultEffort = 2

  /// A JPEG with Huffman tables of its own is a few percent smaller, and its coefficients are held: 3 bytes a pixel at 4:2:0.
  public static let leastOptimizingEffort = 5
}
