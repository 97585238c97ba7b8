import CPNG

/// What a PNG's chunks say of its colour, in the order of precedence of the PNG specification (third edition, 4.3): cICP, iCCP,
/// sRGB, then gAMA and cHRM. Only what comes first is told.
enum PNGColor {
  /// - Parameter hasProfile: there is a profile that can be used.
  static func describe(_ color: cpng_color, hasProfile: Bool, in header: inout ImageHeader) {
    header.luminance = luminance(color)
    if color.has_cicp {
      if let fault = fault(of: color.cicp) {
        header.notes.append("the cICP chunk was passed over: \(fault)")
      } else {
        header.codedColor = .init(
          primaries: Int(color.cicp.0), transfer: Int(color.cicp.1), matrix: 0, isFullRange: color.cicp.3 != 0)
        header.iccProfile = []
        return
      }
    }
    if hasProfile { return }
    if color.has_srgb {
      header.codedColor = .srgb
      return
    }
    let calibration = ImageHeader.Calibration(
      gamma: gamma(color, &header.notes), chromaticities: chromaticities(color, &header.notes))
    if calibration.gamma == nil && calibration.chromaticities == nil { return }
    if isLikeSRGB(calibration) {
      header.codedColor = .srgb
    } else {
      header.calibration = calibration
    }
  }

  // MARK: Numbers

  /// Those of ITU-T H.273 (2021), tables 2 and 3, that are neither reserved nor unspecified.
  private static let primaries: Set<UInt8> = [1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 22]
  private static let transfers: Set<UInt8> = [1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]

  private static func fault(of cicp: (UInt8, UInt8, UInt8, UInt8)) -> String? {
    if cicp.2 != 0 { return "its matrix is \(cicp.2), and PNG has RGB alone" }
    if cicp.3 > 1 { return "its range is \(cicp.3), which is neither full nor narrow" }
    if !primaries.contains(cicp.0) { return "its primaries are \(cicp.0), which says nothing" }
    if !transfers.contains(cicp.1) { return "its transfer function is \(cicp.1), which says nothing" }
    return nil
  }

  private static func luminance(_ color: cpng_color) -> ImageHeader.Luminance? {
    // In 0.0001 cd/m2 (PNG specification, 11.3.2.7 and 11.3.2.8); 0 is not known.
    func candelas(_ value: UInt32) -> Double? { value == 0 ? nil : Double(value) / 10000 }
    let found = ImageHeader.Luminance(
      maximumContent: candelas(color.content_maximum), masteringMaximum: candelas(color.mastering_maximum))
    return found.maximumContent == nil && found.masteringMaximum == nil ? nil : found
  }

  // MARK: Calibration

  private static func gamma(_ color: cpng_color, _ notes: inout [String]) -> Double? {
    guard color.has_gamma else { return nil }
    let gamma = Double(color.gamma) / 100_000
    // Beyond these there is no display: linear light is 1, old computers had 0.4 to 0.7.
    if (0.05...20).contains(gamma) { return gamma }
    notes.append("the gAMA chunk was passed over: its gamma is \(gamma)")
    return nil
  }

  private static func chromaticities(_ color: cpng_color, _ notes: inout [String])
    -> [ImageHeader.Calibration.Chromaticity]?
  {
    guard color.has_chromaticities else { return nil }
    let raw = withUnsafeBytes(of: color.chromaticities) {
      $0.bindMemory(to: UInt32.self).map { Double($0) / 100_000 }
    }
    let points = (0..<4).map { ImageHeader.Calibration.Chromaticity(x: raw[2 * $0], y: raw[2 * $0 + 1]) }
    let (white, red, green, blue) = (points[0], points[1], points[2], points[3])
    let area = (green.x - red.x) * (blue.y - red.y) - (blue.x - red.x) * (green.y - red.y)
    // ProPhoto's green lies on the line x + y = 1, where rounding may take it beyond.
    let isPossible = points.allSatisfy { $0.x + $0.y <= 1.01 } && white.x > 0.05 && white.y > 0.05 && abs(area) > 0.01
    if isPossible { return points }
    notes.append("the cHRM chunk was passed over: no display has such primaries")
    return nil
  }

  private static let srgbChromaticities = [0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06]

  /// Whether what is said is near sRGB: a gamma of 1/2.2, which is what files of sRGB give beside or instead of an sRGB chunk, and
  /// its primaries, as far as either is there.
  private static func isLikeSRGB(_ calibration: ImageHeader.Calibration) -> Bool {
    if let gamma = calibration.gamma, abs(gamma - 0.45455) > 0.005 { return false }
    let values = calibration.chromaticities?.flatMap { [$0.x, $0.y] } ?? srgbChromaticities
    return zip(values, srgbChromaticities).allSatisfy { abs($0 - $1) <= 0.002 }
  }
}
