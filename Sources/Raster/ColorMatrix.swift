import CKernels

/// Luma and colour difference to RGB: the matrix coefficients and the range of the samples, numbered as in ITU-T H.273.
public struct ColorMatrix: Sendable, Equatable {
  /// MatrixCoefficients, H.273 table 4.
  public var number: Int
  public var isFullRange: Bool

  public init(number: Int, isFullRange: Bool) {
    self.number = number
    self.isFullRange = isFullRange
  }

  /// What JPEG files hold: BT.601, full range (JFIF 1.02).
  public static let jpeg = ColorMatrix(number: 6, isFullRange: true)

  /// The luma weights of red and blue; H.273 table 4. Unspecified (2) is taken for BT.601, as by libheif.
  private var lumaWeights: (red: Double, blue: Double)? {
    switch number {
    case 1: (0.2126, 0.0722)
    case 2, 5, 6: (0.299, 0.114)
    case 4: (0.30, 0.11)
    case 7: (0.212, 0.087)
    case 9: (0.2627, 0.0593)
    default: nil
    }
  }

  /// Whether samples can be made RGB by a matrix: not where luma is of linear light, or the difference is of LMS.
  public var isSupported: Bool { number == 0 || number == 8 || lumaWeights != nil }

  /// Whether samples mean the same as in JPEG, but maybe for their range.
  public var isJPEGMatrix: Bool { number == 2 || number == 5 || number == 6 }

  /// How a sample of the plane of luma (or of R, G, B, or gray) and of colour difference becomes an 8-bit or deeper one of full
  /// range: H.273, equations 20 to 31. `from` and `to` are maximal values, 255 for 8 bits.
  public static func fullRange(from: Int, isFullRange: Bool, isDifference: Bool, to: Int) -> PlaneResampler.Mapping {
    let unit = Double(from + 1) / 256  // a code value of 8 bits
    let scale =
      isFullRange ? Double(to) / Double(from) : Double(to) / ((isDifference ? 224 : 219) * unit)
    if isDifference {
      // Zero lies at 2^(bits - 1), whatever the range.
      return .init(scale: scale, bias: Double(to + 1) / 2 - Double(from + 1) / 2 * scale)
    }
    return .init(scale: scale, bias: isFullRange ? 0 : -16 * unit * scale)
  }

  /// The matrix for planes that are already of full range, as `fullRange` makes them, with a maximal value of `maximum`.
  func kernel(maximum: Int) -> ck_matrix {
    var result = ck_matrix()
    let zero = Float(maximum + 1) / 2
    result.maximum = Float(maximum)
    switch number {
    case 0:  // planes are G, B, R
      result.matrix = (0, 0, 1, 1, 0, 0, 0, 1, 0)
    case 8:  // YCgCo
      result.matrix = (1, -1, 1, 1, 1, 0, 1, -1, -1)
      result.offset = (0, zero, zero)
    default:
      let (red, blue) = lumaWeights ?? (0.299, 0.114)
      let green = 1 - red - blue
      result.matrix = (
        1, 0, Float(2 * (1 - red)),
        1, Float(-2 * (1 - blue) * blue / green), Float(-2 * (1 - red) * red / green),
        1, Float(2 * (1 - blue)), 0
      )
      result.offset = (0, zero, zero)
    }
    return result
  }
}
