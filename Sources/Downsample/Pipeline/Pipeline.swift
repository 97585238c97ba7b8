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
  init(header: ImageHeader, decoded: DecodedLayout, maxPixelSize: Int, format: OutputFormat, chroma: ChromaSubsampling)
  {
    self.header = header
    self.decoded = decoded
    let size = header.size.fitted(to: maxPixelSize)
    target = size.oriented(by: header.orientation)
    iccProfile = header.iccProfile
    let keepsAlpha = decoded.alpha != .none && format.holdsAlpha
    // Alpha, or another plane, of 8 bits beside deeper ones: 8 is what all of them have.
    let isDeep = format.holdsDeepSamples && decoded.planes.allSatisfy { $0.layout.sampleType == .uint16 }
    let isQuarter = format.codesColorDifferences && format.chroma(asked: chroma, size: size) == .quarter
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
    stages = colorStages(to: stored)
    if convertsToSRGB { stages.append(toSRGB(stored[0])) }
    if header.orientation != .up {
      stages.append(
        PipelineStage("turning", bytes: OrientStage.byteCount(planes: stored, orientation: header.orientation)) {
          next throws(DownsampleError) in
          try OrientStage(planes: stored, orientation: header.orientation, next: next)
        })
    }
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

  private func colorStages(to stored: [PlaneLayout]) -> [PipelineStage] {
    if decoded.alpha != .none { return alphaStages(to: stored[0]) }
    switch decoded.color {
    case .gray(let isFullRange):
      return [
        resample(to: stored) { source, output, _ in
          ColorMatrix.fullRange(from: source.maximum, isFullRange: isFullRange, isDifference: false, to: output.maximum)
        }
      ]
    case .rgb: return [resample(to: stored)]
    case .rgbPlanes:
      let planes = decoded.planes.map { _ in Self.plane(of: target, like: stored[0]) }
      let parts = resampling(to: planes)
      return [resample(parts), Self.interleave(planes, to: stored[0], after: parts)]
    case .ycbcr(let matrix):
      if encoded.color == .ycbcr420 {
        return [resample(to: stored, subsampling: 2, mapping: Self.mapping(for: matrix))]
      }
      let planes = decoded.planes.map { _ in Self.plane(of: target, like: stored[0]) }
      let parts = resampling(to: planes, mapping: Self.mapping(for: matrix))
      return [resample(parts), Self.matrix(matrix, planes, to: stored[0], after: parts)]
    case .cmyk(let isInverted):
      var ink = stored[0]
      ink.channels = 4
      return [resample(to: [ink]), fromCMYK(isInverted: isInverted, to: stored[0])]
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

  private static func interleave(_ planes: [PlaneLayout], to output: PlaneLayout, after parts: [ResampleStage.Plane])
    -> PipelineStage
  {
    let rowsAhead = ResampleStage.rowsAhead(planes: parts)
    return PipelineStage(
      "interleaving", bytes: JoinStage.byteCount(planes: planes, output: output, rowsAhead: rowsAhead)
    ) { next throws(DownsampleError) in
      try ColorStages.interleave(planes: planes, output: output, rowsAhead: rowsAhead, next: next)
    }
  }

  private static func matrix(
    _ matrix: ColorMatrix, _ planes: [PlaneLayout], to output: PlaneLayout, after parts: [ResampleStage.Plane]
  ) -> PipelineStage {
    let rowsAhead = ResampleStage.rowsAhead(planes: parts)
    return PipelineStage(
      "colour matrix", bytes: JoinStage.byteCount(planes: planes, output: output, rowsAhead: rowsAhead)
    ) { next throws(DownsampleError) in
      try ColorStages.matrix(matrix, planes: planes, output: output, rowsAhead: rowsAhead, next: next)
    }
  }

  /// Colour with alpha becomes interleaved pixels of the source's size, is multiplied by alpha, resampled and divided again, or
  /// laid over white where the output has no alpha.
  private func alphaStages(to output: PlaneLayout) -> [PipelineStage] {
    let source = decoded.planes[0]
    let isPlanar = decoded.planes.count > 1
    let isDeep = decoded.planes.allSatisfy { $0.layout.sampleType == .uint16 }
    var pixels = source.layout
    if isPlanar {
      pixels = PlaneLayout(
        width: header.crop.width, height: header.crop.height, channels: decoded.planes.count,
        sampleType: isDeep ? .uint16 : .uint8, maximum: isDeep ? 65535 : 255)
    }
    let premultiplied = ColorStages.premultipliedLayout(of: pixels)
    var resampled = premultiplied
    resampled.width = target.width
    resampled.height = target.height
    let box =
      isPlanar
      ? SourceBox(x: 0, y: 0, width: Double(pixels.width), height: Double(pixels.height)) : source.box
    let geometry = PlaneGeometry(target: target, subsampling: 1, orientation: header.orientation)
    let part = geometry.stage(from: .init(layout: premultiplied, box: box), to: resampled, mapping: nil)
    let isPremultiplied = decoded.alpha == .premultiplied
    var stages = isPlanar ? fullSizeStages(to: pixels) : []
    stages.append(
      PipelineStage("premultiplying", bytes: MapStage.byteCount(output: premultiplied)) {
        next throws(DownsampleError) in
        try ColorStages.premultiply(input: pixels, isPremultiplied: isPremultiplied, next: next)
      })
    stages.append(resample([part]))
    stages.append(
      encoded.hasAlpha
        ? PipelineStage("unpremultiplying", bytes: MapStage.byteCount(output: output)) { next throws(DownsampleError) in
          try ColorStages.unpremultiply(input: resampled, output: output, next: next)
        }
        : PipelineStage("flattening", bytes: MapStage.byteCount(output: output)) { next throws(DownsampleError) in
          try ColorStages.flatten(input: resampled, output: output, next: next)
        })
    return stages
  }

  /// Planes to interleaved pixels of the picture's own size: chroma, and an alpha plane of another size, are resampled to it.
  private func fullSizeStages(to pixels: PlaneLayout) -> [PipelineStage] {
    let plane = Self.plane(of: header.crop.size, like: pixels)
    let planes = decoded.planes.map { _ in plane }
    var mapping: Mapping = Self.proportional
    switch decoded.color {
    case .ycbcr(let matrix): mapping = Self.mapping(for: matrix)
    case .gray(let isFullRange):
      mapping = { source, output, _ in
        ColorMatrix.fullRange(from: source.maximum, isFullRange: isFullRange, isDifference: false, to: output.maximum)
      }
    default: break
    }
    let alpha = planes.count - 1
    let geometry = PlaneGeometry(target: header.crop.size, subsampling: 1, orientation: .up)
    let parts = decoded.planes.enumerated().map { index, source in
      geometry.stage(
        from: source, to: plane, mapping: (index == alpha ? Self.proportional : mapping)(source.layout, plane, index))
    }
    if case .ycbcr(let matrix) = decoded.color {
      return [resample(parts), Self.matrix(matrix, planes, to: pixels, after: parts)]
    }
    return [resample(parts), Self.interleave(planes, to: pixels, after: parts)]
  }

  /// How the values of a plane become the output's.
  private typealias Mapping =
    @Sendable (_ source: PlaneLayout, _ output: PlaneLayout, _ index: Int) -> PlaneResampler.Mapping?

  private static let proportional: Mapping = { _, _, _ in nil }

  private static func mapping(for matrix: ColorMatrix) -> Mapping {
    { source, output, index in
      ColorMatrix.fullRange(
        from: source.maximum, isFullRange: matrix.isFullRange, isDifference: matrix.number != 0 && index > 0,
        to: output.maximum)
    }
  }

  private static func plane(of size: PixelSize, like layout: PlaneLayout) -> PlaneLayout {
    PlaneLayout(
      width: size.width, height: size.height, channels: 1, sampleType: layout.sampleType, maximum: layout.maximum)
  }

  /// Where each decoded plane's samples go in the output's.
  private func resampling(
    to planes: [PlaneLayout], subsampling: Int = 1, mapping: Mapping = Pipeline.proportional
  ) -> [ResampleStage.Plane] {
    zip(decoded.planes, planes).enumerated().map { index, pair in
      let geometry = PlaneGeometry(
        target: target, subsampling: index == 0 ? 1 : subsampling, orientation: header.orientation)
      return geometry.stage(from: pair.0, to: pair.1, mapping: mapping(pair.0.layout, pair.1, index))
    }
  }

  private func resample(
    to planes: [PlaneLayout], subsampling: Int = 1, mapping: Mapping = Pipeline.proportional
  ) -> PipelineStage {
    resample(resampling(to: planes, subsampling: subsampling, mapping: mapping))
  }

  private func resample(_ parts: [ResampleStage.Plane]) -> PipelineStage {
    if decoded.order == .adam7 {
      return PipelineStage("resampling, pass by pass", bytes: Adam7Stage.byteCount(plane: parts[0])) {
        next throws(DownsampleError) in
        try Adam7Stage(plane: parts[0], next: next)
      }
    }
    return PipelineStage("resampling", bytes: ResampleStage.byteCount(planes: parts)) { next throws(DownsampleError) in
      try ResampleStage(planes: parts, next: next)
    }
  }
}
