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
    /// The work was cancelled. The command line never ends so.
    case cancelled = 81

    /// A text that stays what it is from version to version, for logs and for other languages: "overBudget".
    public var name: String {
      switch self {
      case .usage: "usage"
      case .damagedData: "damagedData"
      case .noInput: "noInput"
      case .unsupported: "unsupported"
      case .internalFault: "internalFault"
      case .cannotCreate: "cannotCreate"
      case .inputOutput: "inputOutput"
      case .deadlinePassed: "deadlinePassed"
      case .overBudget: "overBudget"
      case .cancelled: "cancelled"
      }
    }
  }

  /// Who must act.
  public let code: Code
  /// One sentence without a final full stop and without the name of the file.
  public let message: String

  /// Whether it is the output that could not be made or written, and not the input that is at fault.
  public let isAboutOutput: Bool

  /// - Parameter isAboutOutput: `.cannotCreate` always is.
  public init(_ code: Code, _ message: String, isAboutOutput: Bool = false) {
    self.code = code
    self.message = message
    self.isAboutOutput = isAboutOutput || code == .cannotCreate
  }

  public var description: String { message }

  /// Makes what a caller's own function throws one of ours, `.inputOutput`; ours stay what they are.
  package static func wrapping<Result>(
    _ message: String, isAboutOutput: Bool = false, _ body: () throws -> Result
  ) throws(DownsampleError) -> Result {
    do {
      return try body()
    } catch let error as DownsampleError {
      throw error
    } catch {
      throw DownsampleError(.inputOutput, "\(message): \(error)", isAboutOutput: isAboutOutput)
    }
  }
}
