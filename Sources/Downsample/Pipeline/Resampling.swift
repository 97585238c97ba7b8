import Codecs
import Raster

/// What the rows hold between the stages: of the output's size, in the stored orientation.
struct RowForm: Equatable {
  enum Color {
    /// One plane.
    case gray
    /// One plane of interleaved R, G, B.
    case rgb
    /// Three planes as in JPEG, chroma halved in both directions.
    case ycbcr420
    /// One plane of interleaved C, M, Y, K, as they were decoded.
    case cmyk
  }

  var color: Color
  /// Alpha is the last interleaved sample, not premultiplied.
  var hasAlpha: Bool
  var sampleType: SampleType

  func planes(of size: PixelSize) -> [PlaneLayout] {
    let maximum = sampleType == .uint8 ? 255 : 65535
    func plane(_ size: PixelSize, _ channels: Int) -> PlaneLayout {
      PlaneLayout(width: size.width, height: size.height, channels: channels, sampleType: sampleType, maximum: maximum)
    }
    switch color {
    case .gray: return [plane(size, hasAlpha ? 2 : 1)]
    case .rgb: return [plane(size, hasAlpha ? 4 : 3)]
    case .cmyk: return [plane(size, 4)]
    case .ycbcr420:
      let chroma = plane(PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2), 1)
      return [plane(size, 1), chroma, chroma]
    }
  }
}

/// The stages from decoded rows to rows of the output's size, in the colour space of the input.
struct Resampling {
  let header: ImageHeader
  let decoded: DecodedLayout
  /// The output's size in the stored orientation.
  let target: PixelSize
  /// What comes out. Alpha that it lacks is laid over the background.
  let form: RowForm
  /// A sample of 0 to 255 for each channel, in the colour space of the input; asked for when the stages are made.
  let background: () -> [UInt8]

  /// From the decoder on.
  var stages: [PipelineStage] { colorStages(to: form.planes(of: target)) }

  private func colorStages(to stored: [PlaneLayout]) -> [PipelineStage] {
    if decoded.alpha != .none { return alphaStages(to: stored[0]) }
    switch decoded.color {
    case .gray(let isFullRange):
      return [
        resample(to: stored) { source, output, _ in
          ColorMatrix.fullRange(from: source.maximum, isFullRange: isFullRange, isDifference: false, to: output.maximum)
        }
      ]
    case .rgb, .cmyk: return [resample(to: stored)]
    case .rgbPlanes:
      let planes = decoded.planes.map { _ in Self.plane(of: target, like: stored[0]) }
      let parts = resampling(to: planes)
      return [resample(parts), Self.interleave(planes, to: stored[0], after: parts)]
    case .ycbcr(let matrix):
      if form.color == .ycbcr420 {
        return [resample(to: stored, subsampling: 2, mapping: Self.mapping(for: matrix))]
      }
      let planes = decoded.planes.map { _ in Self.plane(of: target, like: stored[0]) }
      let parts = resampling(to: planes, mapping: Self.mapping(for: matrix))
      return [resample(parts), Self.matrix(matrix, planes, to: stored[0], after: parts)]
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
  /// laid over the background where the output has no alpha.
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
      form.hasAlpha
        ? PipelineStage("unpremultiplying", bytes: MapStage.byteCount(output: output)) { next throws(DownsampleError) in
          try ColorStages.unpremultiply(input: resampled, output: output, next: next)
        }
        : PipelineStage("flattening", bytes: MapStage.byteCount(output: output)) { next throws(DownsampleError) in
          try ColorStages.flatten(input: resampled, output: output, background: background(), next: next)
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
    to planes: [PlaneLayout], subsampling: Int = 1, mapping: Mapping = Resampling.proportional
  ) -> [ResampleStage.Plane] {
    zip(decoded.planes, planes).enumerated().map { index, pair in
      let geometry = PlaneGeometry(
        target: target, subsampling: index == 0 ? 1 : subsampling, orientation: header.orientation)
      return geometry.stage(from: pair.0, to: pair.1, mapping: mapping(pair.0.layout, pair.1, index))
    }
  }

  private func resample(
    to planes: [PlaneLayout], subsampling: Int = 1, mapping: Mapping = Resampling.proportional
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
