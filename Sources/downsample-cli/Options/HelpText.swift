import Raster

/// The help, made from the tables of commands, options and exit statuses.
enum HelpText {
  private static let examples = [
    "downsample --max 1024 photo.heic photo.jpg",
    "downsample --color srgb --metadata rights photo.heic photo.jpg",
    "downsample --background '#1e293b' logo.png logo.jpg",
    "downsample --max 512 --format png photo.jpg thumbnails/",
    "curl -fsS https://example.com/large.jpg | downsample - small.jpg",
    "downsample info --json *.heic",
    "downsample plan --memory 64MB --max 4096 *.jpg",
  ]

  /// - Parameter columns: the longest line; the option names take what they need of it.
  static func make(table: [OptionSpec] = OptionTable.all, columns: Int = 80) -> String {
    var lines: [String] = []
    for (index, command) in Command.allCases.enumerated() {
      lines.append((index == 0 ? "Usage: " : "  or:  ") + command.usage)
    }
    for command in Command.allCases {
      let name = command == .make ? "" : "\(command.rawValue): "
      lines += [""] + wrap(name + command.summary, columns)
    }

    var groups: [Set<Command>] = []
    for spec in table where !groups.contains(spec.commands) { groups.append(spec.commands) }
    for group in groups {
      lines += ["", heading(group)] + entries(table.filter { $0.commands == group }, table, columns)
    }

    lines += ["", "Exit status:", "   0  done", "   1  several inputs, and not all were done"]
    for code in DownsampleError.Code.allCases where code != .cancelled {
      let number = String(code.rawValue)
      lines.append("  " + String(repeating: " ", count: max(0, 2 - number.count)) + number + "  " + code.meaning)
    }
    lines += ["", "Examples:"] + examples.map { "  " + $0 }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func heading(_ commands: Set<Command>) -> String {
    if commands.count == Command.allCases.count { return "Options of every command:" }
    let named = Command.allCases.filter { $0 != .make && commands.contains($0) }.map(\.rawValue).joined(separator: ", ")
    if !commands.contains(.make) { return "Options of \(named):" }
    return named.isEmpty ? "Options:" : "Options, also of \(named):"
  }

  private static func entries(_ specs: [OptionSpec], _ table: [OptionSpec], _ columns: Int) -> [String] {
    // One width for the whole page.
    let width = (table.map { heading($0).count }.max() ?? 0) + 2
    return specs.flatMap { spec in
      wrap(spec.help, max(20, columns - width)).enumerated().map { index, text in
        let start = index == 0 ? heading(spec) : ""
        return start + String(repeating: " ", count: width - start.count) + text
      }
    }
  }

  private static func heading(_ spec: OptionSpec) -> String {
    let short = spec.short.map { "\($0), " } ?? "    "
    switch spec.value {
    case .flag: return "  \(short)\(spec.name)"
    case .value(let placeholder, _): return "  \(short)\(spec.name) \(placeholder)"
    }
  }

  private static func wrap(_ text: String, _ width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}

extension DownsampleError.Code {
  /// In the words of the help.
  var meaning: String {
    switch self {
    case .usage: "the command line is wrong"
    case .damagedData: "the data is damaged, cut short, or not an image"
    case .noInput: "no such input, or it cannot be opened"
    case .unsupported: "a kind of picture or a feature that this build cannot decode"
    case .internalFault: "a fault of ours"
    case .cannotCreate: "the output cannot be made"
    case .inputOutput: "reading or writing failed"
    case .deadlinePassed: "the deadline passed"
    case .overBudget: "more memory is needed than may be taken, or than there is"
    case .cancelled: "cancelled by the program that uses the library"
    }
  }
}
