import Codecs
import Raster

extension JSON {
  static func size(_ size: PixelSize) -> [(String, JSON)] {
    [("width", .integer(size.width)), ("height", .integer(size.height))]
  }

  static func string(orNull text: String?) -> JSON { text.map(JSON.string) ?? .null }

  static func milliseconds(_ nanoseconds: Int) -> JSON { .decimal(Double(nanoseconds) / 1e6) }
}

extension ImageHeader {
  /// What the header says, as members of a JSON object. Sizes are in pixels; `orientation` is EXIF's number.
  var members: [(String, JSON)] {
    var result: [(String, JSON)] = [("kind", .string(kind))]
    result += JSON.size(size)
    result += [
      ("coded_width", .integer(codedSize.width)), ("coded_height", .integer(codedSize.height)),
      ("orientation", .integer(orientation.rawValue)), ("depth", .integer(depth)),
      ("color_model", .string(colorModel.rawValue)), ("subsampling", subsampling.map(JSON.string) ?? .null),
      ("arrangement", .string(arrangement.rawValue)), ("has_alpha", .boolean(hasAlpha)),
      ("icc_bytes", .integer(iccProfile.count)),
    ]
    if let tileSize {
      result += [("tile_width", .integer(tileSize.width)), ("tile_height", .integer(tileSize.height))]
    }
    if let codedColor {
      result.append(
        (
          "coded_color",
          .object([
            ("primaries", .integer(codedColor.primaries)), ("transfer", .integer(codedColor.transfer)),
            ("matrix", .integer(codedColor.matrix)), ("full_range", .boolean(codedColor.isFullRange)),
          ])
        ))
    }
    if let gamma = calibration?.gamma { result.append(("encoding_gamma", .decimal(gamma))) }
    if let points = calibration?.chromaticities {
      result.append(("chromaticities", .array(points.flatMap { [.decimal($0.x), .decimal($0.y)] })))
    }
    if let brightest = luminance?.maximumContent { result.append(("max_content_nits", .decimal(brightest))) }
    if let brightest = luminance?.masteringMaximum { result.append(("max_mastering_nits", .decimal(brightest))) }
    result.append(("file_bytes", fileByteCount.map(JSON.integer) ?? .null))
    return result
  }

  /// One line for people: "HEIC 4032x3024, 8 bit ycbcr 4:2:0, tiled 512x512, orientation 6, ICC profile of 548 bytes".
  public var summary: String {
    var parts = ["\(kind) \(size)", "\(depth) bit \(colorModel.rawValue)" + (subsampling.map { " " + $0 } ?? "")]
    parts.append(arrangement.rawValue + (tileSize.map { " \($0)" } ?? ""))
    if hasAlpha { parts.append("alpha") }
    if orientation != .up { parts.append("orientation \(orientation.rawValue), stored as \(codedSize)") }
    if crop.size != codedSize { parts.append("cropped from \(codedSize)") }
    if !iccProfile.isEmpty { parts.append("ICC profile of \(iccProfile.count) bytes") }
    if let codedColor {
      parts.append("colour \(codedColor.primaries)/\(codedColor.transfer)/\(codedColor.matrix) of H.273")
    }
    return parts.joined(separator: ", ")
  }

  /// The header as one JSON object on one line (docs/json.md); `name` is the input as it was given, nil where it has none.
  public func json(name: String?) -> String {
    let notes = JSON.array(notes.map(JSON.string))
    let input = [("file", JSON.string(orNull: name))] + members
    return JSON.object([("input", .object(input)), ("notes", notes)]).text
  }
}

extension Report.Output {
  fileprivate func members(name: String?) -> [(String, JSON)] {
    [("file", .string(orNull: name)), ("format", .string(formatName))] + JSON.size(size)
      + [
        ("depth", .integer(depth)), ("has_alpha", .boolean(hasAlpha)),
        ("has_icc_profile", .boolean(hasICCProfile)),
        ("is_salvaged", .boolean(isSalvaged)),
        ("color_space", hasICCProfile ? .string("icc") : isSRGB ? .string("srgb") : .null),
        ("file_bytes", .integer(byteCount)),
      ]
  }
}

extension Report {
  /// The report as one JSON object on one line: bytes end in `_bytes`, times in `_ms` (docs/json.md).
  ///
  /// - Parameters:
  ///   - inputName: the file as given; nil where it has no name.
  ///   - outputNames: of the outputs, likewise.
  public func json(inputName: String?, outputNames: [String?]) -> String {
    let header = input.header
    let orientationApplied: [(String, JSON)] = [("orientation_applied", .boolean(header.orientation != .up))]
    let source = [("file", JSON.string(orNull: inputName))] + header.members + orientationApplied
    let results = outputs.enumerated().map { index, output in
      JSON.object(output.members(name: index < outputNames.count ? outputNames[index] : nil))
    }
    // One picture is the rule: whoever makes more finds all of them in `outputs`.
    let several: [(String, JSON)] = results.count > 1 ? [("outputs", .array(results))] : []
    let members: [(String, JSON)] = [
      ("strategy", .string(plan.strategy)),
      ("threads", .integer(plan.threads)),
      ("spilled_bytes", .integer(plan.spilledBytes)),
      ("predicted_peak_bytes", .integer(plan.predictedPeakBytes)), ("peak_rss_bytes", .integer(peakResidentBytes)),
      ("available_bytes", .integer(plan.availableBytes)), ("limit_bytes", .integer(plan.limitBytes)),
      ("header_ms", .milliseconds(times.header)),
      ("decode_ms", .milliseconds(times.decode)), ("resample_ms", .milliseconds(times.resample)),
      ("encode_ms", .milliseconds(times.encode)), ("commit_ms", .milliseconds(times.commit)),
      ("total_ms", .milliseconds(times.total)), ("warnings", .array(warnings.map(JSON.string))),
    ]
    return JSON.object([("input", .object(source)), ("output", results[0])] + several + members).text
  }
}

/// A failure as one JSON object on one line. Without a name where no input is to blame.
package func errorJSON(_ error: DownsampleError, inputName: String?) -> String {
  JSON.object([
    ("input", inputName.map { .object([("file", .string($0))]) } ?? .null),
    (
      "error",
      .object([
        ("code", .string(error.code.name)), ("exit_status", .integer(Int(error.code.rawValue))),
        ("message", .string(error.message)),
      ])
    ),
  ]).text
}
