import Raster

/// The kinds of picture that can be written.
public enum OutputFormat: String, Sendable, CaseIterable {
  case jpeg
  case png

  /// The extension of its files, without the dot.
  public var fileExtension: String { self == .jpeg ? "jpg" : "png" }

  /// The format that a file name's extension asks for; nil when it is none of ours.
  public init?(fileExtension: String) {
    switch fileExtension.lowercased() {
    case "jpg", "jpeg", "jpe", "jfif": self = .jpeg
    case "png": self = .png
    default: return nil
    }
  }
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
  /// 1 to 100 on libjpeg's scale. PNG has no use for it.
  public var quality: Int
  /// Goes into the file as it is; empty for none.
  public var iccProfile: [UInt8]

  public init(quality: Int, iccProfile: [UInt8]) {
    self.quality = quality
    self.iccProfile = iccProfile
  }
}
