import Codecs
import Raster

/// The curves by which a picture's samples become light, where they are averaged as such.
struct LinearLight {
  /// Of R, G and B, or of gray.
  let curves: [LightCurve]

  /// Nil where the picture is not averaged as light: it keeps its size, or `obstacle` says why not.
  init?(header: ImageHeader, decoded: DecodedLayout, target: PixelSize) {
    guard target != header.crop.size, Self.obstacle(header: header, decoded: decoded) == nil else { return nil }
    var isGray = false
    if case .gray = decoded.color { isGray = true }
    curves = Self.curves(header: header, isGray: isGray)
  }

  /// Why it cannot be, a sentence for people; nil where it can.
  static func obstacle(header: ImageHeader, decoded: DecodedLayout) -> String? {
    if case .cmyk = decoded.color { return "linear light was not used: inks are no light" }
    if let color = header.codedColor, color.isHighDynamicRange {
      return "linear light was not used: the picture is of high dynamic range"
    }
    return nil
  }

  /// The embedded profile's, else those that the file's numbers say, else sRGB's; that too where a profile has tables only.
  private static func curves(header: ImageHeader, isGray: Bool) -> [LightCurve] {
    let count = isGray ? 1 : 3
    if !header.iccProfile.isEmpty {
      return ICCProfile.lightCurves(of: header.iccProfile, isGray: isGray) ?? Array(repeating: .srgb, count: count)
    }
    var curve = LightCurve.srgb
    if let color = header.codedColor {
      curve = LightCurve(transfer: color.transfer) ?? .srgb
    } else if let gamma = header.calibration?.gamma, gamma > 0 {
      curve = .gamma(1 / gamma)
    }
    return Array(repeating: curve, count: count)
  }
}
