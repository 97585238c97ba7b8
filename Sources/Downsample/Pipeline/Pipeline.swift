import Codecs
import Raster

/// The chain of stages between a decoder and an encoder, built once for a picture; then rows flow.
struct Pipeline {
  /// What the encoder will be given, as displayed.
  let encoded: EncodedLayout
  /// The profile to go into the output.
  private(set) var iccProfile: [UInt8]
  private(set) var warnings: [String] = []

  private let decoded: DecodedLayout
  private let header: ImageHeader
  /// The output's size in the stored orientation.
  private let target: PixelSize
  /// The profile is not kept but used: to convert to sRGB.
  private let convertsToSRGB: Bool

  init(header: ImageHeader, decoded: DecodedLayout, request: Request) {
    self.header = header
    self.decoded = decoded
    let size = header.size.fitted(to: request.maxPixelSize)
    target = size.oriented(by: header.orientation)
    iccProfile = header.iccProfile
    let keepsAlpha = decoded.alpha != .none && request.format == .png
    // Alpha, or another plane, of 8 bits beside deeper ones: 8 is what all of them have.
    let isDeep = request.format == .png && decoded.planes.allSatisfy { $0.layout.sampleType == .uint16 }
    let color = Self.encodedColor(decoded, format: request.format)
    convertsToSRGB =
      request.format == .jpeg && (color == .rgb || color == .ycbcr420) && ICCProfile.hasDegeneratePrimaries(iccProfile)
    encoded = EncodedLayout(
      size: size, color: convertsToSRGB ? .rgb : color, hasAlpha: keepsAlpha, sampleType: isDeep ? .uint16 : .uint8)
    checkProfile()
  }

  private static func encodedColor(_ decoded: DecodedLayout, format: OutputFormat) -> EncodedLayout.Color {
    switch decoded.color {
    case .gray: return .gray
    case .ycbcr(let matrix) where matrix.isJPEGMatrix && decoded.alpha == .none && format == .jpeg: return .ycbcr420
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

  /// Builds the stages from the decoder's planes to `encoder`, from the last to the first.
  mutating func stages(to encoder: RowSink) -> RowSink {
    let stored = EncodedLayout(
      size: target, color: encoded.color, hasAlpha: encoded.hasAlpha, sampleType: encoded.sampleType
    ).planes
    let sink: RowSink =
      header.orientation == .up
      ? encoder : OrientStage(planes: stored, orientation: header.orientation, next: encoder)
    return colorStages(to: stored, convertsToSRGB ? toSRGB(stored[0], sink) : sink)
  }

  /// Converts by the profile, which then is not needed any more.
  private mutating func toSRGB(_ layout: PlaneLayout, _ sink: RowSink) -> RowSink {
    guard let stage = ColorStages.rgbToSRGB(profile: iccProfile, output: layout, next: sink) else { return sink }
    iccProfile = []
    warnings.append("converted to sRGB: the ICC profile's primaries are degenerate")
    return stage
  }

  private mutating func colorStages(to stored: [PlaneLayout], _ sink: RowSink) -> RowSink {
    if decoded.alpha != .none { return alphaStages(to: stored[0], sink) }
    switch decoded.color {
    case .gray(let isFullRange):
      return resample(to: stored, sink) { source, output, _ in
        ColorMatrix.fullRange(from: source.maximum, isFullRange: isFullRange, isDifference: false, to: output.maximum)
      }
    case .rgb: return resample(to: stored, sink)
    case .rgbPlanes:
      let planes = decoded.planes.map { _ in Self.plane(of: target, like: stored[0]) }
      return resample(to: planes, ColorStages.interleave(planes: planes, output: stored[0], next: sink))
    case .ycbcr(let matrix):
      if encoded.color == .ycbcr420 {
        return resample(to: stored, subsampling: 2, sink, mapping: Self.mapping(for: matrix))
      }
      let planes = decoded.planes.map { _ in Self.plane(of: target, like: stored[0]) }
      return resample(
        to: planes, ColorStages.matrix(matrix, planes: planes, output: stored[0], next: sink),
        mapping: Self.mapping(for: matrix))
    case .cmyk(let isInverted):
      let (stage, usesProfile) = ColorStages.cmykToRGB(
        profile: iccProfile, isInverted: isInverted, output: stored[0], next: sink)
      if !iccProfile.isEmpty && !usesProfile {
        warnings.append("the CMYK profile could not be used: colours are approximate")
      }
      iccProfile = []
      var ink = stored[0]
      ink.channels = 4
      return resample(to: [ink], stage)
    }
  }

  /// Colour with alpha becomes interleaved pixels of the source's size, is multiplied by alpha, resampled and divided again, or
  /// laid over white where the output has no alpha.
  private func alphaStages(to output: PlaneLayout, _ sink: RowSink) -> RowSink {
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
    let last: RowSink =
      encoded.hasAlpha
      ? ColorStages.unpremultiply(input: resampled, output: output, next: sink)
      : ColorStages.flatten(input: resampled, output: output, next: sink)
    let box =
      isPlanar
      ? SourceBox(x: 0, y: 0, width: Double(pixels.width), height: Double(pixels.height)) : source.box
    let geometry = PlaneGeometry(target: target, subsampling: 1, orientation: header.orientation)
    let resampling = ResampleStage(
      planes: [geometry.stage(from: .init(layout: premultiplied, box: box), to: resampled, mapping: nil)], next: last)
    let multiply = ColorStages.premultiply(
      input: pixels, isPremultiplied: decoded.alpha == .premultiplied, next: resampling)
    return isPlanar ? fullSizeStages(to: pixels, multiply) : multiply
  }

  /// Planes to interleaved pixels of the picture's own size: chroma, and an alpha plane of another size, are resampled to it.
  private func fullSizeStages(to pixels: PlaneLayout, _ sink: RowSink) -> RowSink {
    let plane = Self.plane(of: header.crop.size, like: pixels)
    let planes = decoded.planes.map { _ in plane }
    let join: RowSink
    var mapping: Mapping = Self.proportional
    switch decoded.color {
    case .ycbcr(let matrix):
      join = ColorStages.matrix(matrix, planes: planes, output: pixels, next: sink)
      mapping = Self.mapping(for: matrix)
    case .gray(let isFullRange):
      join = ColorStages.interleave(planes: planes, output: pixels, next: sink)
      mapping = { source, output, _ in
        ColorMatrix.fullRange(from: source.maximum, isFullRange: isFullRange, isDifference: false, to: output.maximum)
      }
    default: join = ColorStages.interleave(planes: planes, output: pixels, next: sink)
    }
    let alpha = planes.count - 1
    let geometry = PlaneGeometry(target: header.crop.size, subsampling: 1, orientation: .up)
    return ResampleStage(
      planes: decoded.planes.enumerated().map { index, source in
        geometry.stage(
          from: source, to: plane, mapping: (index == alpha ? Self.proportional : mapping)(source.layout, plane, index))
      }, next: join)
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

  private func resample(
    to planes: [PlaneLayout], subsampling: Int = 1, _ next: RowSink, mapping: Mapping = Pipeline.proportional
  ) -> RowSink {
    ResampleStage(
      planes: zip(decoded.planes, planes).enumerated().map { index, pair in
        let geometry = PlaneGeometry(
          target: target, subsampling: index == 0 ? 1 : subsampling, orientation: header.orientation)
        return geometry.stage(from: pair.0, to: pair.1, mapping: mapping(pair.0.layout, pair.1, index))
      }, next: next)
  }
}
