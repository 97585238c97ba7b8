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
  var kernel = ResamplingKernel.lanczos3
  /// Where chroma that comes out halved lies: on the left one of two columns, as displayed, or in their middle.
  var isLeftSited = false
  /// What lies under alpha that is laid over it: R, G and B, or gray, 0 to 1, as coded in the rows' own colour space; asked for
  /// when the stages are made.
  let background: () -> [Double]

  /// Samples are averaged as light by these curves, not as they are coded. What comes out is then not `.ycbcr420`.
  var light: LinearLight?

  /// From the decoder on.
  var stages: [PipelineStage] { colorStages(to: form.planes(of: target)) }

  private func colorStages(to stored: [PlaneLayout]) -> [PipelineStage] {
    if decoded.alpha != .none || light != nil { return interleavedStages(to: stored[0]) }
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

  /// Colour becomes interleaved pixels of the size of the decoded luma, then light where it is averaged as such, is multiplied
  /// by alpha where there is any, resampled, and all of that undone. Alpha that the output has no place for is laid over the
  /// background before it is coded again.
  private func interleavedStages(to output: PlaneLayout) -> [PipelineStage] {
    let (pixels, box) = interleaved
    let hasAlpha = decoded.alpha != .none
    var isPremultiplied = decoded.alpha == .premultiplied
    var stages = isInterleaved ? [] : fullSizeStages(to: pixels)
    if light != nil, isPremultiplied {
      // Light is of the colour itself.
      let premultiplied = AlphaStages.premultipliedLayout(of: pixels)
      stages += [
        premultiply(pixels, isPremultiplied: true), unpremultiply(premultiplied, to: pixels, "dividing by alpha"),
      ]
      isPremultiplied = false
    }
    var samples = pixels
    if let light {
      stages.append(
        PipelineStage("linear light", bytes: LightStages.toLightBytes(light.curves, input: pixels)) {
          next throws(DownsampleError) in try LightStages.toLight(light.curves, input: pixels, next: next)
        })
      samples = LightStages.layout(of: pixels)
    }
    if hasAlpha {
      stages.append(premultiply(samples, isPremultiplied: isPremultiplied))
      samples = AlphaStages.premultipliedLayout(of: samples)
    }
    var resampled = samples
    resampled.width = target.width
    resampled.height = target.height
    let geometry = PlaneGeometry(target: target, subsampling: 1, orientation: header.orientation, kernel: kernel)
    var part = geometry.stage(from: .init(layout: samples, box: box), to: resampled, mapping: nil)
    part.isPremultiplied = hasAlpha
    stages.append(resample([part]))
    let coded = light == nil ? output : LightStages.layout(of: output)
    if hasAlpha {
      stages.append(form.hasAlpha ? unpremultiply(resampled, to: coded) : flatten(resampled, to: coded))
    }
    if let light {
      stages.append(
        PipelineStage("coded light", bytes: LightStages.fromLightBytes(light.curves, output: output)) {
          next throws(DownsampleError) in try LightStages.fromLight(light.curves, output: output, next: next)
        })
    }
    return stages
  }

  /// Whether the decoder brings interleaved pixels of full range.
  private var isInterleaved: Bool {
    guard decoded.planes.count == 1 else { return false }
    let layout = decoded.planes[0].layout
    if layout.maximum != (layout.sampleType == .uint8 ? 255 : 65535) { return false }
    if case .gray(let isFullRange) = decoded.color { return isFullRange }
    return true
  }

  /// The interleaved pixels as the decoder brings them or as planes are made to be, and where the picture lies in them.
  private var interleaved: (pixels: PlaneLayout, box: SourceBox) {
    let first = decoded.planes[0]
    if isInterleaved { return (first.layout, first.box) }
    let isDeep = decoded.planes.allSatisfy { $0.layout.sampleType == .uint16 }
    let (left, top) = (first.box.x.rounded(.down), first.box.y.rounded(.down))
    let pixels = PlaneLayout(
      width: Int((first.box.x + first.box.width).rounded(.up) - left),
      height: Int((first.box.y + first.box.height).rounded(.up) - top), channels: decoded.planes.count,
      sampleType: isDeep ? .uint16 : .uint8, maximum: isDeep ? 65535 : 255)
    var box = first.box
    box.x -= left
    box.y -= top
    return (pixels, box)
  }

  private func premultiply(_ input: PlaneLayout, isPremultiplied: Bool) -> PipelineStage {
    let bytes = MapStage.byteCount(output: AlphaStages.premultipliedLayout(of: input))
    return PipelineStage("premultiplying", bytes: bytes) { next throws(DownsampleError) in
      try AlphaStages.premultiply(input: input, isPremultiplied: isPremultiplied, next: next)
    }
  }

  private func unpremultiply(
    _ input: PlaneLayout, to output: PlaneLayout, _ name: String = "unpremultiplying"
  ) -> PipelineStage {
    PipelineStage(name, bytes: MapStage.byteCount(output: output)) { next throws(DownsampleError) in
      try AlphaStages.unpremultiply(input: input, output: output, next: next)
    }
  }

  private func flatten(_ input: PlaneLayout, to output: PlaneLayout) -> PipelineStage {
    PipelineStage("flattening", bytes: MapStage.byteCount(output: output)) { next throws(DownsampleError) in
      var under = background()
      if let light { under = zip(light.curves, under).map { $0.light(of: $1) } }
      return try AlphaStages.flatten(input: input, output: output, background: under, next: next)
    }
  }

  /// Planes to interleaved pixels of the first one's size: chroma, and an alpha plane of another size, are resampled to it.
  private func fullSizeStages(to pixels: PlaneLayout) -> [PipelineStage] {
    let size = PixelSize(width: pixels.width, height: pixels.height)
    let plane = Self.plane(of: size, like: pixels)
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
    let alpha = decoded.alpha == .none ? planes.count : planes.count - 1
    let geometry = PlaneGeometry(target: size, subsampling: 1, orientation: .up, kernel: kernel)
    let parts = decoded.planes.enumerated().map { index, source in
      geometry.stage(
        from: whole(source), to: plane,
        mapping: (index == alpha ? Self.proportional : mapping)(source.layout, plane, index))
    }
    if case .ycbcr(let matrix) = decoded.color {
      return [resample(parts), Self.matrix(matrix, planes, to: pixels, after: parts)]
    }
    return [resample(parts), Self.interleave(planes, to: pixels, after: parts)]
  }

  /// A plane with the part of it that whole samples of the first plane cover, where its picture ends within one.
  private func whole(_ plane: DecodedLayout.Plane) -> DecodedLayout.Plane {
    let first = decoded.planes[0].box
    let (pixels, box) = interleaved
    let (x, y) = (plane.box.width / first.width, plane.box.height / first.height)
    var result = plane
    result.box = SourceBox(
      x: plane.box.x - box.x * x, y: plane.box.y - box.y * y, width: Double(pixels.width) * x,
      height: Double(pixels.height) * y)
    return result
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
        target: target, subsampling: index == 0 ? 1 : subsampling, orientation: header.orientation, kernel: kernel,
        isLeftSited: isLeftSited)
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
