import CColor

/// A conversion by ICC profiles that has been set up: gray to gray, all others to RGB.
public final class ColorConversion {
  /// What the input's samples are.
  public enum Pixels: Sendable, Equatable {
    case gray
    case rgb
    /// Inverted: the maximum is no ink.
    case cmyk(isInverted: Bool)
  }

  private enum Means {
    case matrices(MatrixConversion, channels: Int)
    case library(OpaquePointer)
  }

  private let means: Means

  /// Whether Little CMS is needed: not from RGB by a profile of a matrix and curves to one that we write.
  public static func needsLibrary(
    _ pixels: Pixels, from profile: [UInt8], to target: [UInt8], intent: RenderingIntent
  ) -> Bool {
    pixels != .rgb || !MatrixConversion.serves(from: profile, to: target, intent: intent)
  }

  /// What the tables take where Little CMS is not needed, in bytes.
  public static func tableBytes(from input: SampleType, to output: SampleType) -> Int {
    MatrixConversion.byteCount(from: input, to: output)
  }

  /// Nil where Little CMS is needed and missing, or cannot use a profile, or it is not of such pixels.
  ///
  /// - Parameter hasAlpha: as the last sample of both; it is copied.
  public convenience init?(
    _ pixels: Pixels, hasAlpha: Bool, from profile: [UInt8], _ input: SampleType, to target: [UInt8],
    _ output: SampleType, intent: RenderingIntent
  ) {
    self.init(
      pixels, hasAlpha: hasAlpha, from: profile, input, to: target, output, intent: intent, prefersLibrary: false)
  }

  /// - Parameter prefersLibrary: Little CMS is used where it is not needed too: what ours is compared with.
  init?(
    _ pixels: Pixels, hasAlpha: Bool, from profile: [UInt8], _ input: SampleType, to target: [UInt8],
    _ output: SampleType, intent: RenderingIntent, prefersLibrary: Bool
  ) {
    if pixels == .rgb, !prefersLibrary,
      let conversion = MatrixConversion(from: profile, input, to: target, output, intent: intent)
    {
      means = .matrices(conversion, channels: hasAlpha ? 4 : 3)
      return
    }
    let handle = profile.withUnsafeBufferPointer { from in
      target.withUnsafeBufferPointer { to in
        var conversion = ccolor_conversion(
          from: from.baseAddress, from_bytes: from.count, to: to.baseAddress, to_bytes: to.count,
          pixels: Self.kind(pixels), has_alpha: hasAlpha, in_sample: UInt8(input.byteCount),
          out_sample: UInt8(output.byteCount), intent: intent.number)
        return ccolor_create(&conversion)
      }
    }
    guard let handle else { return nil }
    means = .library(handle)
  }

  deinit {
    if case .library(let handle) = means { ccolor_free(handle) }
  }

  public func apply(_ row: UnsafeRawPointer, pixels: Int, to out: UnsafeMutableRawPointer) {
    switch means {
    case .matrices(let conversion, let channels): conversion.apply(row, channels: channels, pixels: pixels, to: out)
    case .library(let handle): ccolor_apply(handle, row, out, pixels)
    }
  }

  /// One pixel of 8-bit samples, in sRGB (or gray with its curve), in the space of a profile; nil where it cannot be used.
  public static func color(_ samples: [UInt8], in profile: [UInt8]) -> [UInt8]? {
    let isGray = samples.count == 1
    guard
      let srgb = isGray ? ToneCurve.srgb.grayProfile(named: "") : RGBSpace.srgb.iccProfile(named: ""),
      let conversion = ColorConversion(
        isGray ? .gray : .rgb, hasAlpha: false, from: srgb, .uint8, to: profile, .uint8, intent: .relative)
    else { return nil }
    var result = samples
    samples.withUnsafeBytes { from in
      result.withUnsafeMutableBytes { to in
        if let from = from.baseAddress, let to = to.baseAddress { conversion.apply(from, pixels: 1, to: to) }
      }
    }
    return result
  }

  private static func kind(_ pixels: Pixels) -> ccolor_pixels {
    switch pixels {
    case .gray: CCOLOR_GRAY
    case .rgb: CCOLOR_RGB
    case .cmyk(let isInverted): isInverted ? CCOLOR_CMYK_INVERTED : CCOLOR_CMYK
    }
  }
}

extension RenderingIntent {
  /// ICC.1:2022, 7.2.15.
  fileprivate var number: Int32 {
    switch self {
    case .perceptual: 0
    case .relative: 1
    case .saturation: 2
    case .absolute: 3
    }
  }
}
