import CKernels

/// From RGB by a profile of one matrix and three curves to sRGB or Display P3, without a colour management library: what Little
/// CMS does with such profiles, to one code value of 8 bits, whatever the intent but absolute.
struct MatrixConversion {
  private let light: [[Float]]
  /// Row by row.
  private let matrix: [Float]
  private let codes: [Float]
  private let bytes: [UInt8]
  private let input: SampleType
  private let output: SampleType

  /// What the tables of a conversion take, in bytes, at most.
  static func byteCount(from input: SampleType, to output: SampleType) -> Int {
    3 * 4 * lightCount(input, output) + (Int(CK_CODE_STEPS) + 1) * (output == .uint8 ? 1 : 4)
  }

  private static func lightCount(_ input: SampleType, _ output: SampleType) -> Int {
    if input == .uint8 { return 256 }
    return output == .uint8 ? Int(CK_WORD_LIGHTS) : Int(CK_LIGHT_STEPS) + 1
  }

  /// What a profile of RGB says, where that is one matrix and three curves whose black is black.
  private struct Source {
    var toXYZ: Matrix3
    var curves: [LightCurve]

    init?(_ profile: [UInt8]) {
      // Two colour spaces serve for connection: at 20 in the header.
      guard let tags = ICCProfile.Tags(profile), tags.dataSpace == ICCProfile.DataSpace.rgb.rawValue, !tags.hasTables,
        profile[20..<24].elementsEqual("XYZ ".utf8), let red = tags.xyz("rXYZ"), let green = tags.xyz("gXYZ"),
        let blue = tags.xyz("bXYZ"), let curves = ICCProfile.lightCurves(of: profile, isGray: false),
        // Another black would be compensated for.
        curves.allSatisfy({ abs($0.exactLight(of: 0)) < 1e-6 })
      else { return nil }
      toXYZ = Matrix3(columns: red, green, blue)
      self.curves = curves
    }
  }

  private static let srgbCurves = RGBSpace.srgb.iccProfile(named: "").flatMap {
    ICCProfile.lightCurves(of: $0, isGray: false)
  }

  /// A target is written by us: its curve is known, not only its values.
  private static func hasKnownCurves(_ target: Source) -> Bool { target.curves == srgbCurves }

  /// Whether there is such a conversion.
  static func serves(from profile: [UInt8], to target: [UInt8], intent: RenderingIntent) -> Bool {
    guard intent != .absolute, Source(profile) != nil, let target = Source(target) else { return false }
    return hasKnownCurves(target)
  }

  /// Nil where `serves` says no.
  init?(
    from profile: [UInt8], _ input: SampleType, to target: [UInt8], _ output: SampleType, intent: RenderingIntent
  ) {
    guard intent != .absolute, let source = Source(profile), let destination = Source(target),
      Self.hasKnownCurves(destination), let fromXYZ = destination.toXYZ.inverse
    else { return nil }
    matrix = fromXYZ.times(source.toXYZ).values.map(Float.init)
    let count = Self.lightCount(input, output)
    let last = input == .uint16 && output == .uint8 ? 65535.0 / 8 : Double(count - 1)
    func table(_ curve: LightCurve) -> [Float] {
      (0..<count).map {
        let light = curve.exactLight(of: min(1, Double($0) / last))
        return light.isFinite ? Float(min(max(light, -1), 2)) : 0
      }
    }
    let first = table(source.curves[0])
    light = [first] + source.curves[1...].map { $0 == source.curves[0] ? first : table($0) }
    let steps = Int(CK_CODE_STEPS)
    let maximum = output == .uint8 ? 255.0 : 65535.0
    func code(_ step: Int) -> Double { ToneCurve.srgb.code(of: Double(step) / Double(steps)) * maximum }
    codes = output == .uint16 ? (0...steps).map { Float(code($0)) } : []
    bytes = output == .uint8 ? (0...steps).map { UInt8(code($0).rounded()) } : []
    self.input = input
    self.output = output
  }

  /// - Parameter channels: 3, or 4 with alpha, which is only scaled.
  func apply(_ row: UnsafeRawPointer, channels: Int, pixels: Int, to out: UnsafeMutableRawPointer) {
    let m = matrix
    light[0].withUnsafeBufferPointer { red in
      light[1].withUnsafeBufferPointer { green in
        light[2].withUnsafeBufferPointer { blue in
          codes.withUnsafeBufferPointer { codes in
            bytes.withUnsafeBufferPointer { bytes in
              var shaper = ck_shaper(
                light: (red.baseAddress, green.baseAddress, blue.baseAddress),
                matrix: (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]), codes: codes.baseAddress,
                bytes: bytes.baseAddress)
              Self.shape(row, Int32(channels), pixels, &shaper, out, input, output)
            }
          }
        }
      }
    }
  }

  private static func shape(
    _ row: UnsafeRawPointer, _ channels: Int32, _ pixels: Int, _ shaper: inout ck_shaper,
    _ out: UnsafeMutableRawPointer, _ input: SampleType, _ output: SampleType
  ) {
    func words(_ pointer: UnsafeRawPointer) -> UnsafePointer<UInt16> { pointer.assumingMemoryBound(to: UInt16.self) }
    func bytes(_ pointer: UnsafeRawPointer) -> UnsafePointer<UInt8> { pointer.assumingMemoryBound(to: UInt8.self) }
    let (outBytes, outWords) = (out.assumingMemoryBound(to: UInt8.self), out.assumingMemoryBound(to: UInt16.self))
    switch (input, output) {
    case (.uint8, .uint8): ck_shape_u8_u8(bytes(row), channels, pixels, &shaper, outBytes)
    case (.uint8, .uint16): ck_shape_u8_u16(bytes(row), channels, pixels, &shaper, outWords)
    case (.uint16, .uint8): ck_shape_u16_u8(words(row), channels, pixels, &shaper, outBytes)
    case (.uint16, .uint16): ck_shape_u16_u16(words(row), channels, pixels, &shaper, outWords)
    }
  }
}
