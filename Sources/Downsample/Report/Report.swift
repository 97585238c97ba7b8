import Codecs
import Raster

/// What was found, what was done and what it took.
public struct Report: Sendable {
  /// What was found.
  public struct Input: Sendable {
    /// What the file says of its picture.
    public var header: ImageHeader
  }

  /// One of the pictures that were made.
  public struct Output: Sendable {
    /// Nil for pixels.
    public var format: OutputFormat?
    /// Nil for a file.
    public var pixelFormat: PixelFormat?
    /// "jpeg", "rgba8" and the like.
    public var formatName: String { format?.rawValue ?? pixelFormat?.rawValue ?? "" }
    /// As displayed.
    public var size: PixelSize
    /// Of the file, or of all rows of pixels without padding.
    public var byteCount: Int
    /// Bits of a sample.
    public var depth: Int
    /// Whether transparency was written.
    public var hasAlpha: Bool
    /// Whether a profile was written, or handed over with the pixels.
    public var hasICCProfile: Bool
    /// Whether the values are known to be of sRGB. False also where the input does not say what they are.
    public var isSRGB: Bool
    /// Whether some of the input was missing or damaged and made up for: only where the request salvages.
    public var isSalvaged: Bool
  }

  /// Nanoseconds of wall time, of the thread that does the work. Where decoding has a thread of its own, it is done beside
  /// resampling and encoding, and their sum is more than the total.
  public struct Times: Sendable {
    /// Until the header was read.
    public var header = 0
    /// Decoding.
    public var decode = 0
    /// Resampling and colour on rows.
    public var resample = 0
    /// Encoding, and writing what comes of it.
    public var encode = 0
    /// Flushing the output to disk and giving it its name.
    public var commit = 0
    /// From the call to its return.
    public var total = 0
  }

  /// What was found.
  public var input: Input
  /// In the order of the request's renditions.
  public var outputs: [Output]
  /// How it was made, and the prediction.
  public var plan: Plan
  /// The most that was resident at once in this process since it began, in bytes.
  public var peakResidentBytes: Int
  /// How long each part took.
  public var times: Times
  /// One sentence each: what was left out, or found odd.
  public var warnings: [String]

  /// The first of the outputs.
  public var output: Output { outputs[0] }
}
