import Budget
import Codecs
import Raster

/// The chain of stages between a decoder and an encoder: a value first, so that it can be planned with; then made, and rows
/// flow.
struct Pipeline {
  /// What the encoder will be given, as displayed.
  let encoded: EncodedLayout
  /// The profile that goes into the output, as far as can be said before the stages are made.
  private(set) var iccProfile: [UInt8]
  private(set) var warnings: [String] = []
  /// From the decoder to the encoder.
  private(set) var stages: [PipelineStage] = []

  private let decoded: DecodedLayout
  private let header: ImageHeader
  /// The output's size in the stored orientation.
  private let target: PixelSize
  /// The profile is not kept but used: to convert to sRGB.
  private let convertsToSRGB: Bool
  private let profileUse = ProfileUse()

  /// What the stages that convert by a profile found, once they are made.
  private final class ProfileUse {
    var isSpent = false
    var warnings: [String] = []
  }

  /// Without `decoded.planes` of other sizes than the header's, nothing here fails.
  init(header: ImageHeader, decoded: DecodedLayout, maxPixelSize: Int, request: Request) {
    let format = request.format
    self.header = header
    self.decoded = decoded
    let size = header.size.fitted(to: maxPixelSize)
    target = size.oriented(by: header.orientation)
    iccProfile = header.iccProfile
    let keepsAlpha = decoded.alpha != .none && format.holdsAlpha
    // Alpha, or another plane, of 8 bits beside deeper ones: 8 is what all of them have.
    let isDeep = format.holdsDeepSamples && decoded.planes.allSatisfy { $0.layout.sampleType == .uint16 }
    let isQuarter = format.codesColorDifferences && format.chroma(asked: request.chroma, size: size) == .quarter
    let color = Self.encodedColor(decoded, isQuarter: isQuarter)
    convertsToSRGB =
      format.codesColorDifferences && (color == .rgb || color == .ycbcr420)
      && ICCProfile.hasDegeneratePrimaries(iccProfile)
    encoded = EncodedLayout(
      size: size, color: convertsToSRGB ? .rgb : color, hasAlpha: keepsAlpha, sampleType: isDeep ? .uint16 : .uint8)
    checkProfile()
    let stored = EncodedLayout(
      size: target, color: encoded.color, hasAlpha: encoded.hasAlpha, sampleType: encoded.sampleType
    ).planes
    stages = Resampling(header: header, decoded: decoded, target: target, form: resampledForm).stages
    if case .cmyk(let isInverted) = decoded.color { stages.append(fromCMYK(isInverted: isInverted, to: stored[0])) }
    if convertsToSRGB { stages.append(toSRGB(stored[0])) }
    if header.orientation != .up {
      stages.append(
        PipelineStage("turning", bytes: OrientStage.byteCount(planes: stored, orientation: header.orientation)) {
          next throws(DownsampleError) in
          try OrientStage(planes: stored, orientation: header.orientation, next: next)
        })
    }
  }

  /// What comes from resampling.
  private var resampledForm: RowForm {
    let color: RowForm.Color =
      switch (decoded.color, encoded.color) {
      case (.cmyk, _): .cmyk
      case (_, .gray): .gray
      case (_, .rgb): .rgb
      case (_, .ycbcr420): .ycbcr420
      }
    return RowForm(color: color, hasAlpha: encoded.hasAlpha, sampleType: encoded.sampleType)
  }

  /// What each stage will hold.
  var memory: [MemoryUse] { stages.map { MemoryUse($0.name, $0.bytes) } }

  /// Makes the stages, from the last to the first, and gives the first. What they found of the profile is then in
  /// `iccProfile` and `warnings`.
  mutating func make(to encoder: RowSink) throws(DownsampleError) -> RowSink {
    var sink = encoder
    for stage in stages.reversed() { sink = try stage.make(sink) }
    if profileUse.isSpent { iccProfile = [] }
    warnings += profileUse.warnings
    return sink
  }

  private static func encodedColor(_ decoded: DecodedLayout, isQuarter: Bool) -> EncodedLayout.Color {
    switch decoded.color {
    case .gray: return .gray
    case .ycbcr(let matrix) where matrix.isJPEGMatrix && decoded.alpha == .none && isQuarter: return .ycbcr420
    default: return .rgb
    }
  }

  private mutating func checkProfile() {
    guard !iccProfile.isEmpty else { return }
    if case .cmyk = decoded.color { return }
    let wanted = encoded.color == .gray ? "GRAY" : "RGB "
    let space = ICCProfile.dataColorSpace(of: iccProfile)
    if space == wanted { return }
    iccProfile = []
    warnings.append(
      space.map {
        "the ICC profile was left out: it describes \($0.filter { $0 != " " }) data, the picture is \(wanted.filter { $0 != " " })"
      }
        ?? "the ICC profile was left out: it is damaged")
  }

  /// Little CMS, its code and a transform's tables: a CMYK picture took 3.0 MB more with a profile of 0.5 MB, held twice, than
  /// one without.
  private static let colorManagementBytes = 2 << 20

  /// Converts by the profile, which then is not needed any more.
  private func toSRGB(_ layout: PlaneLayout) -> PipelineStage {
    let profile = iccProfile
    let use = profileUse
    return PipelineStage(
      "colour conversion", bytes: MapStage.byteCount(output: layout) + Self.colorManagementBytes + profile.count
    ) { next throws(DownsampleError) in
      guard let stage = try ColorStages.rgbToSRGB(profile: profile, output: layout, next: next) else { return next }
      use.isSpent = true
      use.warnings.append("converted to sRGB: the ICC profile's primaries are degenerate")
      return stage
    }
  }

  private func fromCMYK(isInverted: Bool, to output: PlaneLayout) -> PipelineStage {
    let profile = iccProfile
    let use = profileUse
    let bytes = profile.isEmpty ? 0 : Self.colorManagementBytes + profile.count
    return PipelineStage("colour conversion", bytes: MapStage.byteCount(output: output) + bytes) {
      next throws(DownsampleError) in
      let (stage, usesProfile) = try ColorStages.cmykToRGB(
        profile: profile, isInverted: isInverted, output: output, next: next)
      if !profile.isEmpty && !usesProfile {
        use.warnings.append("the CMYK profile could not be used: colours are approximate")
      }
      use.isSpent = true
      return stage
    }
  }
}
