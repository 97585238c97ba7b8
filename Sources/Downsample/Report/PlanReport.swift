import Budget
import Codecs

extension Plan {
  /// The plan for people: a line and the warnings, and with `isVerbose` every stage and every way that was considered.
  public func lines(inputName: String, header: ImageHeader, isVerbose: Bool) -> [String] {
    let spilled = spilledBytes > 0 ? ", \(ByteCount.describe(spilledBytes)) to a temporary file" : ""
    let threads = threads > 1 ? ", \(threads) threads" : ""
    var lines = [
      "\(inputName): \(header.kind) \(header.size) to \(outputs.map { "\($0.size)" }.joined(separator: ", ")): \(fits ? "" : "does not fit: ")\(verdict) (\(strategy)\(threads)\(spilled))"
    ]
    lines += warnings.map { "  warning: \($0)" }
    guard isVerbose else { return lines }
    lines.append("  \(Self.column(residentBytes))  resident before")
    for stage in stages {
      let phase = stage.phase == .throughout ? "" : ", \(stage.phase == .rows ? "while rows flow" : "before rows flow")"
      lines.append("  \(Self.column(stage.bytes))  \(stage.name)\(phase)")
    }
    lines.append("  \(Self.column(predictedPeakBytes))  predicted peak")
    for rung in ladder {
      let ways = rung.threads > 1 ? ", \(rung.threads) threads" : ""
      let spilling = rung.spilledBytes > 0 ? ", \(ByteCount.describe(rung.spilledBytes)) spilled" : ""
      lines.append(
        "  considered: \(rung.strategy)\(ways)\(spilling): \(ByteCount.describe(rung.predictedPeakBytes))\(rung.fits ? "" : ", does not fit")"
      )
    }
    return lines
  }

  private static func column(_ bytes: Int) -> String {
    let text = ByteCount.describe(bytes)
    return String(repeating: " ", count: max(0, 10 - text.count)) + text
  }

  /// The plan as members of a JSON object.
  var members: [(String, JSON)] {
    let results = outputs.map { output in
      JSON.object(
        [("format", .string(output.formatName))] + JSON.size(output.size))
    }
    let several: [(String, JSON)] = results.count > 1 ? [("outputs", .array(results))] : []
    return [("output", results[0])] + several + [
      ("strategy", .string(strategy)), ("threads", .integer(threads)), ("spilled_bytes", .integer(spilledBytes)),
      ("fits", .boolean(fits)), ("verdict", .string(verdict)), ("predicted_peak_bytes", .integer(predictedPeakBytes)),
      ("limit_bytes", .integer(limitBytes)), ("available_bytes", .integer(availableBytes)),
      ("resident_bytes", .integer(residentBytes)),
      ("largest_fitting_size", largestFittingSize.map(JSON.integer) ?? .null),
      (
        "stages",
        .array(
          stages.map {
            .object([("name", .string($0.name)), ("bytes", .integer($0.bytes)), ("phase", .string($0.phase.rawValue))])
          })
      ),
      (
        "ladder",
        .array(
          ladder.map {
            .object([
              ("strategy", .string($0.strategy)), ("threads", .integer($0.threads)),
              ("spilled_bytes", .integer($0.spilledBytes)), ("predicted_peak_bytes", .integer($0.predictedPeakBytes)),
              ("fits", .boolean($0.fits)),
            ])
          })
      ),
      ("warnings", .array(warnings.map(JSON.string))),
    ]
  }

  /// The plan as one JSON object on one line (docs/json.md); `inputName` is the input as it was given, nil where it has no name.
  public func json(inputName: String?, header: ImageHeader) -> String {
    JSON.object([("input", .object([("file", .string(orNull: inputName))] + header.members))] + members).text
  }
}
