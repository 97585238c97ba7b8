/// A value of JSON (RFC 8259) to be printed. Foundation's own would add 10 MB of resident memory to every run.
enum JSON {
  case string(String)
  case integer(Int)
  /// Printed with three decimals at most.
  case decimal(Double)
  case boolean(Bool)
  case null
  case array([JSON])
  /// In the order given.
  case object([(String, JSON)])

  /// On one line.
  var text: String {
    switch self {
    case .string(let value): return Self.quoted(value)
    case .integer(let value): return String(value)
    case .decimal(let value): return Self.rounded(value)
    case .boolean(let value): return value ? "true" : "false"
    case .null: return "null"
    case .array(let values): return "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      return "{" + members.map { Self.quoted($0) + ":" + $1.text }.joined(separator: ",") + "}"
    }
  }

  private static func rounded(_ value: Double) -> String {
    guard value.isFinite else { return "null" }
    return String((value * 1000).rounded() / 1000)
  }

  private static func quoted(_ value: String) -> String {
    var result = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
