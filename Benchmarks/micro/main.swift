// Times the parts that the project has written itself, each alone: the kernels in every variant that this processor can run,
// the packing of coefficients, resampling, turning and colour. For every one the nanoseconds of a call, the best and the median
// of many samples, and the MB a second that go in.
//
//     bench-micro [--only TEXT] [--quick] [--markdown] [--json FILE]
//
// --only: cases that have TEXT in their group, name or variant. --quick: few samples, to see that all of it works. --markdown:
// a line a case, with the MB/s of its variants.

import Glibc
import Raster

let usage = "usage: bench-micro [--only TEXT] [--quick] [--markdown] [--json FILE]"

struct Arguments {
  var only = ""
  var patience = 12
  var isMarkdown = false
  var json: String?

  init(_ words: [String]) {
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "--quick": patience = 1
      case "--markdown": isMarkdown = true
      case "--only", "--json":
        guard let value = rest.popFirst() else { fail("\(word) needs a value; \(usage)", status: 64) }
        if word == "--only" { only = value } else { json = value }
      default: fail("unknown argument \(word); \(usage)", status: 64)
      }
    }
  }
}

/// With as many digits after the point.
func fixed(_ value: Double, _ digits: Int) -> String {
  let factor = pow(10, Double(digits))
  let whole = Int((value * factor).rounded())
  guard digits > 0 else { return "\(whole)" }
  let rest = "\(whole % Int(factor))"
  return "\(whole / Int(factor))." + String(repeating: "0", count: digits - rest.utf8.count) + rest
}

func padded(_ text: String, _ width: Int, toRight: Bool = false) -> String {
  let space = String(repeating: " ", count: max(0, width - text.count))
  return toRight ? space + text : text + space
}

/// A line of words (the first three) and numbers.
func line(_ cells: [String]) -> String {
  let widths = [11, 42, 8, 11, 11, 8, 8]
  return cells.indices.map { padded(cells[$0], widths[$0], toRight: $0 >= 3) }.joined(separator: "  ")
}

/// One line a case: the nanoseconds of a call as it ships, and the MB/s of each variant.
func markdown(_ results: [(test: MicroCase, timing: Timing)]) {
  let columns = [["baseline", "plain"], ["AVX2"], ["AVX-512", "VBMI2"], ["shipped"]]
  print("| case | ns | plain, MB/s | AVX2 | AVX-512 | shipped |")
  print("|---|---:|---:|---:|---:|---:|")
  var printed: Set<String> = []
  for (test, _) in results where printed.insert("\(test.group) \(test.name)").inserted {
    let alike = results.filter { $0.test.group == test.group && $0.test.name == test.name }
    // The coefficient store picks the best by itself.
    let shipped = alike.first { $0.test.variant == "shipped" } ?? alike[alike.count - 1]
    let cells = columns.map { names in
      alike.first { names.contains($0.test.variant) }.map { fixed($0.timing.throughput(bytes: $0.test.bytes), 0) } ?? ""
    }
    print("| \(test.group): \(test.name) | \(fixed(shipped.timing.best, 0)) | \(cells.joined(separator: " | ")) |")
  }
}

func write(_ text: String, to path: String) {
  guard let file = fopen(path, "w") else { fail("\(path): \(String(cString: strerror(errno)))", status: 73) }
  let isWritten = fputs(text, file) >= 0
  guard fclose(file) == 0, isWritten else { fail("\(path): \(String(cString: strerror(errno)))", status: 74) }
}

let arguments = Arguments(Array(CommandLine.arguments.dropFirst()))
var cases = KernelCases().all() + PackingCases().all() + StageCases().all()
cases = cases.filter {
  arguments.only.isEmpty || "\($0.group) \($0.name) \($0.variant)".contains(arguments.only)
}
guard !cases.isEmpty else { fail("no case has \(arguments.only) in its name", status: 64) }

// All of them first: the baseline comes after what is compared with it.
let results = cases.map { (test: $0, timing: Timing(patience: arguments.patience, $0.call)) }
if arguments.isMarkdown {
  markdown(results)
} else {
  print(line(["group", "case", "variant", "best ns", "median ns", "MB/s", "times"]))
}
/// What the plainest variant of each case takes.
var plain: [String: Double] = [:]
for (test, timing) in results where ["baseline", "plain"].contains(test.variant) { plain[test.name] = timing.best }
var entries: [String] = []
for (test, timing) in results {
  let throughput = timing.throughput(bytes: test.bytes)
  let times = plain[test.name].map { fixed($0 / timing.best, 2) } ?? ""
  let numbers = [fixed(timing.best, 0), fixed(timing.median, 0), fixed(throughput, 0), times]
  if !arguments.isMarkdown { print(line([test.group, test.name, test.variant] + numbers)) }
  entries.append(
    "  {\"best_ns\": \(fixed(timing.best, 1)), \"bytes\": \(test.bytes), \"group\": \"\(test.group)\", "
      + "\"mb_per_s\": \(fixed(throughput, 1)), \"median_ns\": \(fixed(timing.median, 1)), "
      + "\"name\": \"\(test.name)\", \"variant\": \"\(test.variant)\"}")
}
if let path = arguments.json {
  write("{\"cases\": [\n\(entries.joined(separator: ",\n"))\n], \"format\": 1}\n", to: path)
}
