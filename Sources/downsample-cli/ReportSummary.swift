import Downsample

extension Report {
  /// The report for people, a few lines.
  func summary(inputName: String, outputName: String) -> String {
    func milliseconds(_ nanoseconds: Int) -> String { Self.fixed(Double(nanoseconds) / 1e6) + " ms" }
    let depth = output.depth == 8 ? "" : ", \(output.depth) bit"
    let alpha = output.hasAlpha ? ", alpha" : ""
    let profile = output.hasICCProfile ? ", ICC profile kept" : ""
    return """
      \(inputName): \(input.header.summary)
      \(outputName): \(output.format.rawValue.uppercased()) \(output.size)\(depth)\(alpha)\(profile), \(output.byteCount) bytes
      \(strategy); peak resident memory \(Self.fixed(Double(peakResidentBytes) / 1_048_576)) MB
      \(milliseconds(times.total)): header \(milliseconds(times.header)), decode \(milliseconds(times.decode)), \
      resample \(milliseconds(times.resample)), encode \(milliseconds(times.encode)), commit \(milliseconds(times.commit))
      """
  }

  /// With one decimal.
  private static func fixed(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
