import Raster

/// One entry of the table of options: all that parsing, the help and the errors need.
struct OptionSpec: Sendable {
  /// What stands after the option, and how it gets into the invocation.
  enum Value: Sendable {
    case flag(@Sendable (inout Invocation) -> Void)
    /// The setter throws a `usage` error whose message goes behind the option's name.
    case value(placeholder: String, @Sendable (inout Invocation, String) throws(DownsampleError) -> Void)
  }

  /// With its two dashes.
  let name: String
  /// With its dash.
  let short: String?
  let commands: Set<Command>
  /// For the help, in one paragraph.
  let help: String
  let value: Value

  /// `--quiet`
  static func flag(
    _ name: String, short: String? = nil, commands: Set<Command> = Set(Command.allCases), help: String,
    _ set: @escaping @Sendable (inout Invocation) -> Void
  ) -> OptionSpec {
    OptionSpec(name: name, short: short, commands: commands, help: help, value: .flag(set))
  }

  /// `--quality N`: a whole number within `range`.
  static func number(
    _ name: String, short: String? = nil, _ placeholder: String = "N", range: ClosedRange<Int>,
    commands: Set<Command>, help: String, _ set: @escaping @Sendable (inout Invocation, Int) -> Void
  ) -> OptionSpec {
    number(name, short: short, placeholder, range: range, word: nil, commands: commands, help: help) {
      if let number = $1 { set(&$0, number) }
    }
  }

  /// `--max N`: a whole number within `range`, or nil for `word`.
  static func number(
    _ name: String, short: String? = nil, _ placeholder: String = "N", range: ClosedRange<Int>, word: String?,
    commands: Set<Command>, help: String, _ set: @escaping @Sendable (inout Invocation, Int?) -> Void
  ) -> OptionSpec {
    OptionSpec(
      name: name, short: short, commands: commands, help: help,
      value: .value(placeholder: placeholder) { (invocation, text) throws(DownsampleError) in
        if let word, text.lowercased() == word { return set(&invocation, nil) }
        let orWord = word.map { " or \($0)" } ?? ""
        // Digits alone: Int() would take a plus sign as well.
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
          throw DownsampleError(
            .usage, "'\(text)' is not a whole number from \(range.lowerBound) to \(range.upperBound)\(orWord)")
        }
        guard let number = Int(text), range.contains(number) else {
          throw DownsampleError(
            .usage, "\(text) is out of range; it takes \(range.lowerBound) to \(range.upperBound)\(orWord)")
        }
        set(&invocation, number)
      })
  }

  /// `--format jpeg`: one of several words, in any case. Aliases are taken and not listed.
  static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
    _ name: String, short: String? = nil, _ placeholder: String, of: Choice.Type,
    aliases: [String: Choice] = [:], commands: Set<Command>, help: String,
    _ set: @escaping @Sendable (inout Invocation, Choice) -> Void
  ) -> OptionSpec {
    OptionSpec(
      name: name, short: short, commands: commands, help: help,
      value: .value(placeholder: placeholder) { (invocation, text) throws(DownsampleError) in
        let word = text.lowercased()
        guard let choice = Choice(rawValue: word) ?? aliases[word] else {
          let words = Choice.allCases.map(\.rawValue)
          let list = words.dropLast().joined(separator: ", ") + (words.count > 1 ? " or " : "") + words.last!
          throw DownsampleError(.usage, "'\(text)' is not known; it takes \(list)")
        }
        set(&invocation, choice)
      })
  }

  /// A text that the setter understands, or throws a `usage` error about.
  static func text(
    _ name: String, short: String? = nil, _ placeholder: String, commands: Set<Command>, help: String,
    _ set: @escaping @Sendable (inout Invocation, String) throws(DownsampleError) -> Void
  ) -> OptionSpec {
    OptionSpec(
      name: name, short: short, commands: commands, help: help, value: .value(placeholder: placeholder, set))
  }
}
