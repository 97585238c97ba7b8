import Downsample
import Raster

/// Reads a command line by GNU habits: options and operands in any order, `--opt value` or `--opt=value`, `--` ends the
/// options, `-` is an operand; of a repeated option the last one counts.
struct ArgumentParser {
  let table: [OptionSpec]

  init(table: [OptionSpec] = OptionTable.all) { self.table = table }

  /// - Parameter arguments: without the program's name. Names of files need not be UTF-8.
  /// - Throws: `usage`, in words for whoever typed it.
  func parse(_ arguments: [Path]) throws(DownsampleError) -> Invocation {
    var invocation = Invocation()
    var used: [OptionSpec] = []
    var isAfterOptions = false
    var index = 0
    // The first operand is the command, if it is one's name: a picture of that name is reached as ./info or after --.
    var mayBeCommand = true

    while index < arguments.count {
      let argument = arguments[index]
      index += 1
      if isAfterOptions || argument.bytes.first != UInt8(ascii: "-") || argument == "-" {
        let named = mayBeCommand && !isAfterOptions ? Command(rawValue: argument.description) : nil
        mayBeCommand = false
        if let named, named != .make {
          invocation.command = named
        } else if argument.bytes.isEmpty {
          throw DownsampleError(.usage, "an operand is empty")
        } else {
          invocation.operands.append(argument)
        }
      } else if argument == "--" {
        isAfterOptions = true
      } else {
        let (spec, name, attached) = try find(argument.description)
        switch spec.value {
        case .flag(let set):
          if attached != nil { throw DownsampleError(.usage, "\(name) takes no value") }
          set(&invocation)
        case .value(let placeholder, let set):
          var text = attached
          if text == nil, index < arguments.count {
            text = arguments[index].description
            index += 1
          }
          guard let text, !text.isEmpty else {
            throw DownsampleError(.usage, "\(name) needs a value: \(name) \(placeholder)")
          }
          do throws(DownsampleError) {
            try set(&invocation, text)
          } catch {
            throw DownsampleError(error.code, "\(name): \(error.message)")
          }
        }
        used.append(spec)
      }
    }

    // Help and version are given whatever else is missing.
    if invocation.showsHelp || invocation.showsVersion { return invocation }
    for spec in used where !spec.commands.contains(invocation.command) {
      let place = invocation.command == .make ? "without a command" : "with '\(invocation.command.rawValue)'"
      throw DownsampleError(.usage, "\(spec.name) means nothing \(place)")
    }
    if !invocation.command.operandCount.contains(invocation.operands.count) {
      throw DownsampleError(.usage, invocation.command.operandComplaint(invocation.operands.map(\.description)))
    }
    return invocation
  }

  /// The entry for an argument that begins with a dash, the name to call it by, and the value that is attached to it.
  private func find(_ argument: String) throws(DownsampleError) -> (OptionSpec, name: String, attached: String?) {
    if !argument.hasPrefix("--") { return try findShort(argument) }
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    let attached = parts.count > 1 ? String(parts[1]) : nil
    if let spec = table.first(where: { $0.name == name }) { return (spec, name, attached) }
    throw unknown(name)
  }

  /// `-q`, or `-n5` for one that takes a value.
  private func findShort(_ argument: String) throws(DownsampleError) -> (OptionSpec, name: String, attached: String?) {
    let name = String(argument.prefix(2))
    let rest = String(argument.dropFirst(2))
    guard let spec = table.first(where: { $0.short == name }) else { throw unknown(argument) }
    if rest.isEmpty { return (spec, name, nil) }
    // Several letters in one argument would be read as one with a value; none of ours is worth that.
    if case .flag = spec.value { throw unknown(argument) }
    return (spec, name, rest)
  }

  private func unknown(_ name: String) -> DownsampleError {
    let word = name.drop { $0 == "-" }
    // No name of ours is nearly as long; comparing would only take time.
    if word.count > 40 { return DownsampleError(.usage, "there is no option \(name.prefix(40))...; --help lists them") }
    let near = table.map { (name: $0.name, distance: EditDistance.between(word, $0.name.dropFirst(2))) }
      .min { $0.distance < $1.distance }
    // The beginning of a name is meant as that name.
    if let start = table.first(where: { !word.isEmpty && $0.name.dropFirst(2).hasPrefix(word) }) {
      return DownsampleError(.usage, "there is no option \(name); did you mean \(start.name)?")
    }
    // Two letters wrong, or a third of them, is still a slip; more is another word.
    if let near, near.distance < word.count, near.distance <= max(2, word.count / 3) {
      return DownsampleError(.usage, "there is no option \(name); did you mean \(near.name)?")
    }
    return DownsampleError(.usage, "there is no option \(name); --help lists them")
  }
}
