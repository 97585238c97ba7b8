import Downsample
import Foundation
import Raster
import Testing

@testable import downsample_cli

@Suite struct OptionsTests {
  private func parse(_ arguments: String...) throws(DownsampleError) -> Invocation {
    try ArgumentParser().parse(arguments.map { Path($0) })
  }

  /// What a wrong command line is told.
  private func complaint(_ arguments: String...) -> String {
    do {
      _ = try ArgumentParser().parse(arguments.map { Path($0) })
      return ""
    } catch {
      #expect(error.code == .usage)
      return error.message
    }
  }

  @Test func defaults() throws {
    let request = try parse("in.heic", "out.jpg")
    var expected = Invocation()
    expected.operands = ["in.heic", "out.jpg"]
    #expect(request == expected)
    #expect(request.command == .make)
    #expect(request.maxPixelSize == 2048)
    #expect(request.quality == 85)
    #expect(request.format == nil)
  }

  @Test func everyOptionOfTheTableSetsSomething() throws {
    let words = [
      "--format": "png", "--over-budget": "shrink", "--chroma": "444", "--depth": "16", "--color": "p3",
      "--intent": "perceptual", "--kernel": "box", "--background": "black", "--metadata": "all",
    ]
    for spec in OptionTable.all {
      var request = Invocation()
      switch spec.value {
      case .flag(let set): set(&request)
      case .value(_, let set): try set(&request, words[spec.name] ?? "7")
      }
      #expect(request != Invocation(), "\(spec.name)")
      #expect(spec.name.hasPrefix("--"))
      #expect(!spec.commands.isEmpty)
    }
    #expect(Set(OptionTable.all.map(\.name)).count == OptionTable.all.count)
    let shorts = OptionTable.all.compactMap(\.short)
    #expect(Set(shorts).count == shorts.count)
  }

  @Test func valuesInBothForms() throws {
    #expect(try parse("--max", "100", "a", "b").maxPixelSize == 100)
    #expect(try parse("--max=100", "a", "b").maxPixelSize == 100)
    #expect(try parse("--format=PNG", "a", "b").format == .png)
    #expect(try parse("--format", "jpg", "a", "b").format == .jpeg)
    #expect(try parse("--format", "jpeg", "a", "b").format == .jpeg)
  }

  @Test func optionsStandAnywhereAndTheLastCounts() throws {
    let request = try parse(
      "a", "--max", "1", "-q", "b", "--max=65500", "--quality", "1", "-v", "--no-clobber", "--json")
    #expect(request.operands == ["a", "b"])
    #expect(request.maxPixelSize == 65_500)
    #expect(request.quality == 1)
    #expect(request.verbose)
    #expect(!request.quiet)
    #expect(request.noClobber)
    #expect(request.json)
  }

  @Test func dashes() throws {
    #expect(try parse("-", "-").operands == ["-", "-"])
    #expect(try parse("--max", "5", "--", "--max", "-q").operands == ["--max", "-q"])
    #expect(try parse("a", "--", "--").operands == ["a", "--"])
  }

  @Test func commands() throws {
    let request = try parse("--json", "info", "a", "b", "c")
    #expect(request.command == .info)
    #expect(request.operands == ["a", "b", "c"])
    #expect(request.json)
    #expect(try parse("./info", "b").operands == ["./info", "b"])
    #expect(try parse("--", "info", "b").command == .make)
    #expect(try parse("a", "info").operands == ["a", "info"])
    #expect(try parse("info", "info").operands == ["info"])
    #expect(complaint("info", "--max", "5", "a") == "--max means nothing with 'info'")
  }

  @Test func namesThatAreNotText() throws {
    let name = Path(bytes: [0xFF, 0x2E, 0x6A])
    #expect(try ArgumentParser().parse([name, "b"]).operands == [name, "b"])
  }

  @Test func operandsMissingOrTooMany() {
    #expect(complaint() == "an INPUT and an OUTPUT are needed")
    #expect(complaint("a") == "an OUTPUT is needed after 'a'")
    #expect(complaint("a", "b", "c").contains("'c' is one too many"))
    #expect(complaint("info") == "an INPUT is needed")
    #expect(complaint("", "b") == "an operand is empty")
  }

  @Test func unknownOptions() {
    #expect(complaint("--maks", "5") == "there is no option --maks; did you mean --max?")
    #expect(complaint("--qualiyt=5") == "there is no option --qualiyt; did you mean --quality?")
    #expect(complaint("--noclobber") == "there is no option --noclobber; did you mean --no-clobber?")
    #expect(complaint("--verb") == "there is no option --verb; did you mean --verbose?")
    #expect(complaint("-max") == "there is no option -max; did you mean --max?")
    #expect(complaint("--frobnicate") == "there is no option --frobnicate; --help lists them")
    #expect(complaint("-x") == "there is no option -x; --help lists them")
    #expect(complaint("-qv") == "there is no option -qv; --help lists them")
    #expect(complaint("--=5").contains("there is no option --"))
    #expect(complaint("---").contains("there is no option ---"))
  }

  @Test func wrongValues() {
    #expect(complaint("a", "b", "--max") == "--max needs a value: --max N|auto")
    #expect(complaint("--max=", "a", "b") == "--max needs a value: --max N|auto")
    #expect(complaint("--json=yes", "a", "b") == "--json takes no value")
    #expect(complaint("--max=0", "a", "b") == "--max: 0 is out of range; it takes 1 to 65500 or auto")
    #expect(complaint("--max", "65501", "a", "b") == "--max: 65501 is out of range; it takes 1 to 65500 or auto")
    #expect(complaint("--max", "99999999999999999999", "a", "b").contains("out of range"))
    #expect(complaint("--quality", "101", "a", "b") == "--quality: 101 is out of range; it takes 1 to 100")
    for text in ["big", "-5", "+5", "5.0", "0x10", "5 ", "٥"] {
      #expect(complaint("--max", text, "a", "b") == "--max: '\(text)' is not a whole number from 1 to 65500 or auto")
    }
    #expect(
      complaint("--format", "webp", "a", "b") == "--format: 'webp' is not known; it takes jpeg, png, heic or avif")
  }

  @Test func memoryAndTime() throws {
    #expect(try parse("--memory", "64MiB", "a", "b").memory == .ceiling(64 << 20))
    #expect(try parse("--memory=AUTO", "a", "b").memory == .automatic)
    #expect(complaint("--memory", "lots", "a", "b").contains("'lots' is not a size"))
    #expect(try parse("--max", "auto", "a", "b").maxPixelSize == nil)
    #expect(try parse("plan", "--over-budget", "shrink", "a").overBudget == .shrink)
    #expect(complaint("--threads", "0", "a", "b").contains("1 to 64"))
    for (text, time) in [
      ("30s", Duration.seconds(30)), ("500ms", .milliseconds(500)), ("2m", .seconds(120)), ("1.5", .milliseconds(1500)),
      ("1h", .seconds(3600)),
    ] { #expect(try parse("--deadline", text, "a", "b").deadline == time) }
    for text in ["0", "-1s", "soon", "1d", "1e3s", "s", "1..5s", "99999999999999h"] {
      #expect(complaint("--deadline", text, "a", "b").contains("is not a time"), "\(text)")
    }
    #expect(complaint("info", "--memory", "1GB", "a") == "--memory means nothing with 'info'")
  }

  @Test func helpAndVersionNeedNothingElse() throws {
    #expect(try parse("--help").showsHelp)
    #expect(try parse("-h", "a").showsHelp)
    #expect(try parse("--version", "--max", "5").showsVersion)
    #expect(try parse("info", "--help").showsHelp)
  }

  @Test(arguments: [80, 100]) func help(columns: Int) {
    let help = HelpText.make(columns: columns)
    for line in help.split(separator: "\n") { #expect(line.count <= columns, "\(line)") }
    for spec in OptionTable.all { #expect(help.contains(" \(spec.name)")) }
    for command in Command.allCases { #expect(help.contains(command.usage)) }
    for code in DownsampleError.Code.allCases {
      #expect(help.contains("  \(code.rawValue)  ") == (code != .cancelled))
    }
    #expect(help.hasSuffix("\n"))
    // Every option's text begins in the same column.
    let starts = OptionTable.all.map { spec in
      help.split(separator: "\n").first { $0.contains(" \(spec.name)") && $0.contains(spec.help.prefix(8)) }
        .flatMap { line in
          line.range(of: String(spec.help.prefix(8))).map { line.distance(from: line.startIndex, to: $0.lowerBound) }
        }
    }
    #expect(Set(starts).count == 1)
  }

  @Test func editDistance() {
    #expect(EditDistance.between("", "") == 0)
    #expect(EditDistance.between("", "abc") == 3)
    #expect(EditDistance.between("kitten", "sitting") == 3)
    #expect(EditDistance.between("max", "mxa") == 1)
    #expect(EditDistance.between("quality", "quality") == 0)
  }
}
