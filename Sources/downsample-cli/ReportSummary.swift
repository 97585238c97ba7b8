import Downsample

extension Report {
  /// The report for people, a line for each of input, output, way and times.
  func summary(inputName: String, outputName: String) -> [String] {
    func milliseconds(_ nanoseconds: Int) -> String { Self.fixed(Double(nanoseconds) / 1e6) + " ms" }
    let depth = output.depth == 8 ? "" : ", \(output.depth) bit"
    let alpha = output.hasAlpha ? ", alpha" : ""
    let color = output.isSRGB ? ", sRGB" : ""
    let profile = output.hasICCProfile ? ", ICC profile" : ""
    let turned = input.header.orientation == .up ? "" : ", turned upright"
    let flattened = input.header.hasAlpha && !output.hasAlpha ? ", alpha laid over the background" : ""
    let stages = [
      ("header", times.header), ("decode", times.decode), ("resample", times.resample), ("encode", times.encode),
      ("commit", times.commit),
    ]
    return [
      "\(inputName): \(input.header.summary)",
      "\(outputName): \(output.formatName.uppercased()) \(output.size)\(depth)\(alpha)\(flattened)\(turned)\(color)\(profile), "
        + "\(output.byteCount) bytes",
      "\(plan.strategy); peak resident memory \(Self.fixed(Double(peakResidentBytes) / 1_048_576)) MB, "
        + "predicted \(Self.fixed(Double(plan.predictedPeakBytes) / 1_048_576))",
      "\(milliseconds(times.total)): " + stages.map { "\($0) \(milliseconds($1))" }.joined(separator: ", "),
    ]
  }

  /// With one decimal.
  private static func fixed(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
