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

  private let handle: OpaquePointer

  /// Nil where Little CMS is missing, or cannot use a profile, or it is not of such pixels.
  ///
  /// - Parameter hasAlpha: as the last sample of both; it is copied.
  public init?(
    _ pixels: Pixels, hasAlpha: Bool, from profile: [UInt8], _ input: SampleType, to target: [UInt8],
    _ output: SampleType, intent: RenderingIntent
  ) {
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
    self.handle = handle
  }

  deinit { ccolor_free(handle) }

  public func apply(_ row: UnsafeRawPointer, pixels: Int, to out: UnsafeMutableRawPointer) {
    ccolor_apply(handle, row, out, pixels)
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
