import Budget
import Codecs
import Raster

/// How a picture will be made, and the memory that it will take: decided from its header, before anything is decoded.
public struct Plan: Sendable {
  /// When a part of the work holds its memory.
  public enum Phase: String, Sendable {
    /// Until the first rows come.
    case beforeRows = "before rows"
    /// While rows flow.
    case rows
    /// From the beginning to the end.
    case throughout
  }

  /// A part of the work, and what it holds.
  public struct Stage: Sendable, Equatable {
    /// What it is, for people: "JPEG decoder" and the like.
    public var name: String
    /// Resident bytes at most.
    public var bytes: Int
    /// When it is held.
    public var phase: Phase
  }

  /// A way that was considered, in the order of considering.
  public struct Rung: Sendable, Equatable {
    /// How the picture would be decoded, for people.
    public var strategy: String
    /// That would work at once.
    public var threads: Int
    /// What goes to a temporary file, in bytes, as far as it can be foreseen; 0 for nothing.
    public var spilledBytes: Int
    /// The most resident memory that the process would reach.
    public var predictedPeakBytes: Int
    /// Whether that is within the limit.
    public var fits: Bool
  }

  /// One of the pictures that will be made.
  public struct Output: Sendable, Equatable {
    /// As displayed.
    public var size: PixelSize
    /// Nil for pixels.
    public var format: OutputFormat?
    /// Nil for a file.
    public var pixelFormat: PixelFormat?
    /// "jpeg", "rgba8" and the like.
    public var formatName: String { format?.rawValue ?? pixelFormat?.rawValue ?? "" }
    /// The longest side that was asked for, or what fits.
    let maxPixelSize: Int
  }

  /// In the order of the request's renditions.
  public let outputs: [Output]
  /// How the picture is decoded, for people.
  public let strategy: String
  /// Threads that work at once.
  public let threads: Int
  /// What goes to a temporary file rather than into memory, in bytes, as far as it can be foreseen.
  public let spilledBytes: Int
  /// What is held beside what was resident when the plan was made.
  public let stages: [Stage]
  /// What was resident in the process when the plan was made, in bytes.
  public let residentBytes: Int
  /// What the picture adds to that at most, in bytes.
  public let addedBytes: Int
  /// The most resident memory that the process will reach, in bytes: what it had reached before, where that is more.
  public let predictedPeakBytes: Int
  /// The most that the process may reach, in bytes: the ceiling, or what the control group or the machine leaves.
  public let limitBytes: Int
  /// What could be taken when the plan was made, in bytes.
  public let availableBytes: Int
  /// Whether the prediction is within the limit.
  public let fits: Bool
  /// Every way that was considered. Where the plan fits, the last is the one taken; else that which needs least is shown.
  public let ladder: [Rung]
  /// The longest side that would fit, in pixels; nil where this one does, and where none does.
  public let largestFittingSize: Int?
  /// What the chosen way costs in quality, what was shrunk, and what becomes of colour: one sentence each.
  public let warnings: [String]

  /// How the decoder is to go about it.
  let decoding: DecodingStrategy
  /// Whether the picture is decoded on one thread while another resamples and encodes.
  let overlaps: Bool
  /// Whether a higher ceiling would help: not where the control group or the machine is what limits.
  let isLimitedByCeiling: Bool

  /// The size of the first output, as displayed.
  public var outputSize: PixelSize { outputs[0].size }

  /// "needs 143 MB, has 120 MB", with why and what would fit where it does not.
  public var verdict: String {
    let sizes = "needs \(ByteCount.describe(predictedPeakBytes)), has \(ByteCount.describe(limitBytes))"
    if fits { return sizes }
    let reasons = stages.sorted { $0.bytes > $1.bytes }.prefix(2).filter { $0.bytes >= 1 << 16 }
      .map { "\($0.name) (\(ByteCount.describe($0.bytes)))" }
    let because = reasons.isEmpty ? "" : ", because of \(reasons.joined(separator: " and "))"
    var ways: [String] = []
    if let largestFittingSize { ways.append("--max \(largestFittingSize) would fit") }
    if let enoughMemory { ways.append("\(enoughMemory) would do") }
    return sizes + because + (ways.isEmpty ? "" : "; " + ways.joined(separator: ", or "))
  }

  /// The option with which the plan would fit; nil where the ceiling is not what limits.
  var enoughMemory: String? {
    isLimitedByCeiling ? "--memory \(ByteCount.megabytes(predictedPeakBytes + Planner.residentNoise))MB" : nil
  }
}
