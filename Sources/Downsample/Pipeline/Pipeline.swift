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
  /// Whether the output's values are known to be of sRGB, as far as can be said before the stages are made.
  private(set) var isSRGB: Bool
  private(set) var warnings: [String]
  /// From the decoder to the encoder.
  private(set) var stages: [PipelineStage] = []

  private let color: ColorPlan
  private let intent: RenderingIntent
  private let background: BackgroundColor
  /// cd/m2 of the brightest pixel, of high dynamic range.
  private let peak: Double
  private let outcome = ColorOutcome()

  /// What the stages of colour found, once they are made.
  private final class ColorOutcome {
    /// Instead of what was foreseen.
    var profile: [UInt8]?
    var warnings: [String] = []
  }

  /// Without `decoded.planes` of other sizes than the header's, nothing here fails.
  init(header: ImageHeader, decoded: DecodedLayout, maxPixelSize: Int, rendition: Rendition) {
    let header = rendition.view(of: header)
    let kind = rendition.kind
    let size = header.size.fitted(to: maxPixelSize)
    let target = size.oriented(by: header.orientation)
    let plan = ColorPlan(header: header, decoded: decoded, rendition: rendition)
    color = plan
    iccProfile = plan.profile
    isSRGB = plan.isSRGB
    warnings = plan.warnings
    intent = rendition.intent
    background = rendition.background
    peak = header.luminance.flatMap { $0.maximumContent ?? $0.masteringMaximum } ?? ToneMapping.usualPeak

    // Alpha, or another plane, of 8 bits beside deeper ones: 8 is what all of them have.
    let isDeep = decoded.planes.allSatisfy { $0.layout.sampleType == .uint16 }
    let writesDeep = kind.depth(asked: rendition.depth.map { $0 == .sixteen ? 16 : 8 }, input: isDeep ? 16 : 8) == 16
    let isQuarter = kind.codesColorDifferences && kind.chroma(asked: rendition.chroma, size: size) == .quarter
    let light = rendition.isLinear ? LinearLight(header: header, decoded: decoded, target: target) : nil
    if rendition.isLinear, let obstacle = LinearLight.obstacle(header: header, decoded: decoded) {
      warnings.append(obstacle)
    }
    encoded = EncodedLayout(
      size: size, color: Self.encodedColor(decoded, isQuarter: isQuarter && plan.step == .keep && light == nil),
      hasAlpha: decoded.alpha != .none && kind.holdsAlpha, sampleType: writesDeep ? .uint16 : .uint8)

    // What is converted is so before it is rounded to 8 bits, and before it is laid over anything. Luma and colour difference
    // of 8 bits would else be rounded once as such and once as R, G and B.
    let isConverted = plan.step != .keep
    let isWidened =
      switch decoded.color {
      case .ycbcr where isConverted && decoded.alpha == .none: !isDeep
      case .cmyk: false
      default: !isDeep && writesDeep && decoded.order == .topDown
      }
    var form = RowForm(
      color: Self.rowColor(decoded, encoded.color), hasAlpha: encoded.hasAlpha || isConverted && decoded.alpha != .none,
      sampleType: isWidened || isDeep && (writesDeep || isConverted) ? .uint16 : .uint8)
    let paint = background(in: isConverted ? nil : plan.profile)
    stages =
      Resampling(
        header: header, decoded: decoded, target: target, form: form, kernel: rendition.kernel,
        isLeftSited: kind != .file(.jpeg), background: paint, light: light
      ).stages
    if !isConverted && decoded.alpha != .none && !encoded.hasAlpha && usesProfile(forBackgroundOver: plan.profile) {
      extraMemory = [MemoryUse("colour of the background", Self.colorManagementBytes + plan.profile.count)]
    }

    let stored = EncodedLayout(
      size: target, color: encoded.color, hasAlpha: encoded.hasAlpha, sampleType: encoded.sampleType
    ).planes
    let isFlattened = form.hasAlpha && !encoded.hasAlpha
    if isConverted {
      var input = form.planes(of: target)[0]
      if isWidened, !writesDeep, case .convert(let own, let space) = plan.step,
        ColorConversion.needsLibrary(.rgb, from: own, to: Self.profile(of: space, plan.data), intent: intent)
      {
        // Little CMS converts 8 bits four times as fast.
        form.sampleType = .uint8
        stages.append(depth(input, to: form.planes(of: target)[0]))
        input = form.planes(of: target)[0]
      }
      if form.color == .cmyk { form.color = .rgb }
      if !isFlattened { form.sampleType = encoded.sampleType }
      stages += conversion(from: input, to: form.planes(of: target)[0])
    }
    if isFlattened {
      stages += flattening(form.planes(of: target)[0], to: stored[0], over: background(in: nil))
    } else if form.sampleType != encoded.sampleType {
      stages.append(depth(form.planes(of: target)[0], to: stored[0]))
    }
    if header.orientation != .up {
      stages.append(
        PipelineStage("turning", bytes: OrientStage.byteCount(planes: stored, orientation: header.orientation)) {
          next throws(DownsampleError) in
          try OrientStage(planes: stored, orientation: header.orientation, next: next)
        })
    }
  }

  private static func encodedColor(_ decoded: DecodedLayout, isQuarter: Bool) -> EncodedLayout.Color {
    switch decoded.color {
    case .gray: return .gray
    case .ycbcr(let matrix) where matrix.isJPEGMatrix && decoded.alpha == .none && isQuarter: return .ycbcr420
    default: return .rgb
    }
  }

  /// What comes from resampling.
  private static func rowColor(_ decoded: DecodedLayout, _ encoded: EncodedLayout.Color) -> RowForm.Color {
    switch (decoded.color, encoded) {
    case (.cmyk, _): .cmyk
    case (_, .gray): .gray
    case (_, .rgb): .rgb
    case (_, .ycbcr420): .ycbcr420
    }
  }

  /// Beside the stages.
  private var extraMemory: [MemoryUse] = []

  /// What each stage will hold.
  var memory: [MemoryUse] { stages.map { MemoryUse($0.name, $0.bytes) } + extraMemory }

  /// Makes the stages, from the last to the first, and gives the first. What they found of the profile is then in
  /// `iccProfile`, `isSRGB` and `warnings`.
  mutating func make(to encoder: RowSink) throws(DownsampleError) -> RowSink {
    var sink = encoder
    for stage in stages.reversed() { sink = try stage.make(sink) }
    if let profile = outcome.profile {
      iccProfile = profile
      isSRGB = false
    }
    warnings += outcome.warnings
    return sink
  }

  // MARK: Conversions

  /// Little CMS, its code and a transform's tables.
  private static let colorManagementBytes = 2 << 20

  private func depth(_ input: PlaneLayout, to output: PlaneLayout) -> PipelineStage {
    PipelineStage("change of depth", bytes: MapStage.byteCount(output: output)) { next throws(DownsampleError) in
      try ColorStages.depth(input: input, output: output, next: next)
    }
  }

  private func conversion(from input: PlaneLayout, to output: PlaneLayout) -> [PipelineStage] {
    switch color.step {
    case .keep: return []
    case .toneMap(let transfer, let primaries, let target):
      return toneMapping(transfer, primaries, input, to: target, output)
    case .convert(let profile, let target): return [byProfile(profile, input, to: target, output)]
    case .separate(let profile, let isInverted, let target):
      return [separation(profile, isInverted: isInverted, input, to: target, output)]
    }
  }

  private func toneMapping(
    _ transfer: ToneMapping.Transfer, _ primaries: Primaries, _ input: PlaneLayout, to target: RGBSpace,
    _ output: PlaneLayout
  ) -> [PipelineStage] {
    var deep = input
    deep.sampleType = .uint16
    deep.maximum = 65535
    let peak = peak
    let mapping = PipelineStage(
      "tone mapping", bytes: MapStage.byteCount(output: output) + ToneMapping.byteCount
    ) { next throws(DownsampleError) in
      try ColorStages.toneMap(
        ToneMapping(from: transfer, primaries: primaries, peak: peak, to: target), input: deep, output: output,
        next: next)
    }
    return input.sampleType == .uint16 ? [mapping] : [depth(input, to: deep), mapping]
  }

  /// A profile for pixels of the target's space.
  private static func profile(of target: RGBSpace, _ data: ICCProfile.DataSpace) -> [UInt8] {
    // Neither target spans no space.
    target.profile(for: data == .gray ? .gray : .rgb) ?? []
  }

  private func byProfile(
    _ profile: [UInt8], _ input: PlaneLayout, to target: RGBSpace, _ output: PlaneLayout
  ) -> PipelineStage {
    let isGray = color.data == .gray
    let hasAlpha = input.channels == 2 || input.channels == 4
    let (data, intent, outcome) = (color.data, intent, outcome)
    return PipelineStage(
      "colour conversion",
      bytes: MapStage.byteCount(output: output) + conversionBytes(input, output, profile, to: target)
    ) { next throws(DownsampleError) in
      if let conversion = ColorConversion(
        isGray ? .gray : .rgb, hasAlpha: hasAlpha, from: profile, input.sampleType,
        to: Self.profile(of: target, data), output.sampleType, intent: intent)
      {
        return try ColorStages.convert(conversion, output: output, next: next)
      }
      if ICCProfile.libraryVersion == nil {
        outcome.profile = profile
        outcome.warnings.append("colours were not converted: Little CMS (liblcms2.so.2) cannot be opened")
      } else {
        outcome.profile = []
        outcome.warnings.append("the ICC profile was left out: Little CMS cannot use it")
      }
      return try ColorStages.depth(input: input, output: output, next: next)
    }
  }

  private func separation(
    _ profile: [UInt8], isInverted: Bool, _ input: PlaneLayout, to target: RGBSpace, _ output: PlaneLayout
  ) -> PipelineStage {
    var plain = output
    plain.sampleType = .uint8
    plain.maximum = 255
    let bytes = profile.isEmpty && target == .srgb ? 0 : conversionBytes(input, output, profile, to: target)
    let (intent, outcome) = (intent, outcome)
    return PipelineStage(
      "colour conversion", bytes: MapStage.byteCount(output: output) + MapStage.byteCount(output: plain) + bytes
    ) { next throws(DownsampleError) in
      if !profile.isEmpty {
        if let conversion = ColorConversion(
          .cmyk(isInverted: isInverted), hasAlpha: false, from: profile, input.sampleType,
          to: Self.profile(of: target, .rgb), output.sampleType, intent: intent)
        {
          return try ColorStages.convert(conversion, output: output, next: next)
        }
        outcome.warnings.append("the CMYK profile could not be used: colours are approximate")
      }
      return try ColorStages.cmykToRGB(
        isInverted: isInverted, output: plain,
        next: Self.fromSRGB(plain, to: target, output, intent, outcome, next: next))
    }
  }

  /// What follows the plain formula for ink.
  private static func fromSRGB(
    _ input: PlaneLayout, to target: RGBSpace, _ output: PlaneLayout, _ intent: RenderingIntent,
    _ outcome: ColorOutcome, next: RowSink
  ) throws(DownsampleError) -> RowSink {
    if target != .srgb {
      if let conversion = ColorConversion(
        .rgb, hasAlpha: false, from: profile(of: .srgb, .rgb), input.sampleType, to: profile(of: target, .rgb),
        output.sampleType, intent: intent)
      {
        return try ColorStages.convert(conversion, output: output, next: next)
      }
      outcome.profile = []
      outcome.warnings.append("colours are in sRGB: Little CMS (liblcms2.so.2) cannot be opened")
    }
    if output.sampleType == input.sampleType { return next }
    return try ColorStages.depth(input: input, output: output, next: next)
  }

  /// Beside the rows: Little CMS, the profile and its tables. Of 16-bit colour it makes a table of 49 points a side, of ink of 23.
  /// Where the profile is a matrix and curves, our own tables and both profiles.
  private func conversionBytes(
    _ input: PlaneLayout, _ output: PlaneLayout, _ profile: [UInt8], to target: RGBSpace
  ) -> Int {
    // Ink without a profile has become sRGB.
    let source = color.data == .cmyk && profile.isEmpty ? Self.profile(of: .srgb, .rgb) : profile
    let isRGB = color.data == .rgb || profile.isEmpty
    if isRGB,
      !ColorConversion.needsLibrary(.rgb, from: source, to: Self.profile(of: target, .rgb), intent: intent)
    {
      return ColorConversion.tableBytes(from: input.sampleType, to: output.sampleType) + profile.count + 2048
    }
    let isDeep = input.sampleType == .uint16
    let entries =
      switch color.data {
      case .gray: isDeep ? 65536 : 0
      case .rgb: isDeep && output.sampleType == .uint8 ? 49 * 49 * 49 * 3 : 0
      case .cmyk: profile.isEmpty ? 0 : 23 * 23 * 23 * 23 * 3
      }
    return Self.colorManagementBytes + profile.count + entries * 2
  }

  // MARK: What lies under alpha

  private func flattening(
    _ input: PlaneLayout, to output: PlaneLayout, over background: @escaping () -> [Double]
  ) -> [PipelineStage] {
    let premultiplied = AlphaStages.premultipliedLayout(of: input)
    return [
      PipelineStage("premultiplying", bytes: MapStage.byteCount(output: premultiplied)) {
        next throws(DownsampleError) in
        try AlphaStages.premultiply(input: input, isPremultiplied: false, next: next)
      },
      PipelineStage("flattening", bytes: MapStage.byteCount(output: output)) { next throws(DownsampleError) in
        try AlphaStages.flatten(input: premultiplied, output: output, background: background(), next: next)
      },
    ]
  }

  /// The background's 8-bit samples where sRGB is meant.
  private var plainBackground: [UInt8] { color.data == .gray ? [background.gray] : background.samples }

  private func usesProfile(forBackgroundOver profile: [UInt8]) -> Bool {
    !profile.isEmpty && !plainBackground.allSatisfy { $0 == 0 } && !plainBackground.allSatisfy { $0 == 255 }
  }

  /// The background's samples, 0 to 1, in the space of a profile: of the one given, or of the output where nil is.
  private func background(in profile: [UInt8]?) -> () -> [Double] {
    let samples = plainBackground
    let profile = profile ?? color.profile
    let isConverted = usesProfile(forBackgroundOver: profile)
    return {
      let converted = isConverted ? ColorConversion.color(samples, in: profile) : nil
      return (converted ?? samples).map { Double($0) / 255 }
    }
  }
}
