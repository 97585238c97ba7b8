/// What can be asked for. A command is the first operand; without one of these names there, a picture is made.
enum Command: String, CaseIterable {
  case make = ""
  case info, plan

  var usage: String {
    switch self {
    case .make: "downsample [OPTION]... INPUT OUTPUT"
    case .info: "downsample info [OPTION]... INPUT..."
    case .plan: "downsample plan [OPTION]... INPUT..."
    }
  }

  var summary: String {
    switch self {
    case .make:
      "Make a small picture of a large one. OUTPUT may be a folder that exists; - is standard input or output."
    case .info: "Say what the inputs' headers say, without decoding them."
    case .plan:
      "Say how the pictures would be made and what memory that takes, without decoding them. Exit 0 when all fit, 80 when not."
    }
  }

  /// How many operands there may be.
  var operandCount: ClosedRange<Int> {
    switch self {
    case .make: 2...2
    case .info, .plan: 1...Int.max
    }
  }

  /// What is wrong when there are fewer or more.
  func operandComplaint(_ operands: [String]) -> String {
    switch self {
    case .make where operands.isEmpty: "an INPUT and an OUTPUT are needed"
    case .make where operands.count == 1: "an OUTPUT is needed after '\(operands[0])'"
    case .make: "one INPUT and one OUTPUT are taken at a time; '\(operands[2])' is one too many"
    case .info, .plan: "an INPUT is needed"
    }
  }
}
