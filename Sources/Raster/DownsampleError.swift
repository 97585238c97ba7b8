/// What went wrong, said so that whoever must act knows it: one code, which drives the exit status, and one sentence.
public struct DownsampleError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. The raw value is the exit status of the command line, after sysexits.h.
  public enum Code: Int32, Sendable, CaseIterable {
    /// The request itself is wrong: an unknown option, a value out of range.
    case usage = 64
    /// The data is damaged, cut short, or not an image.
    case damagedData = 65
    /// There is no such input, or it cannot be opened.
    case noInput = 66
    /// A kind of picture or a feature that this build cannot decode.
    case unsupported = 69
    /// A fault of ours.
    case internalFault = 70
    /// The output cannot be made where it was asked for.
    case cannotCreate = 73
    /// Reading the input or writing the output failed on the way.
    case inputOutput = 74
    /// The deadline passed before the work was done.
    case deadlinePassed = 75
    /// More memory is needed than may be taken, or than there is.
    case overBudget = 80
  }

  public let code: Code
  /// One sentence without a final full stop and without the name of the file.
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }
}
