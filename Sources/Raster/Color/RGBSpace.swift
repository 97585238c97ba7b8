/// CIE 1931 x and y.
public struct Chromaticity: Sendable, Equatable {
  public var x: Double
  public var y: Double

  public init(_ x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }

  /// XYZ at Y = 1. Only where y is not 0.
  fileprivate var xyz: [Double] { [x / y, 1, (1 - x - y) / y] }

  public static let d65 = Chromaticity(0.3127, 0.3290)
}

/// White, red, green and blue of a space.
public struct Primaries: Sendable, Equatable {
  public var white: Chromaticity
  public var red: Chromaticity
  public var green: Chromaticity
  public var blue: Chromaticity

  public init(white: Chromaticity = .d65, red: Chromaticity, green: Chromaticity, blue: Chromaticity) {
    self.white = white
    self.red = red
    self.green = green
    self.blue = blue
  }

  public static let bt709 = Primaries(red: .init(0.64, 0.33), green: .init(0.30, 0.60), blue: .init(0.15, 0.06))
  public static let bt2020 = Primaries(
    red: .init(0.708, 0.292), green: .init(0.170, 0.797), blue: .init(0.131, 0.046))
  /// SMPTE EG 432-1, with D65.
  public static let p3 = Primaries(red: .init(0.680, 0.320), green: .init(0.265, 0.690), blue: .init(0.15, 0.06))

  /// ColourPrimaries of ITU-T H.273, table 2; nil for reserved numbers and for "unspecified".
  public init?(number: Int) {
    switch number {
    case 1: self = .bt709
    case 4:
      self.init(
        white: .init(0.310, 0.316), red: .init(0.67, 0.33), green: .init(0.21, 0.71), blue: .init(0.14, 0.08))
    case 5: self.init(red: .init(0.64, 0.33), green: .init(0.29, 0.60), blue: .init(0.15, 0.06))
    case 6, 7: self.init(red: .init(0.630, 0.340), green: .init(0.310, 0.595), blue: .init(0.155, 0.070))
    case 8:
      self.init(
        white: .init(0.310, 0.316), red: .init(0.681, 0.319), green: .init(0.243, 0.692), blue: .init(0.145, 0.049))
    case 9: self = .bt2020
    case 11:
      self.init(
        white: .init(0.314, 0.351), red: .init(0.680, 0.320), green: .init(0.265, 0.690), blue: .init(0.15, 0.06))
    case 12: self = .p3
    case 22: self.init(red: .init(0.630, 0.340), green: .init(0.295, 0.605), blue: .init(0.155, 0.077))
    default: return nil
    }
  }

  /// Whether every coordinate is within `tolerance` of the other's.
  public func isClose(to other: Primaries, tolerance: Double) -> Bool {
    zip([white, red, green, blue], [other.white, other.red, other.green, other.blue]).allSatisfy {
      abs($0.x - $1.x) <= tolerance && abs($0.y - $1.y) <= tolerance
    }
  }

  /// From linear R, G, B to XYZ with white at Y = 1, by rows (SMPTE RP 177); nil where three colours span no space.
  public var toXYZ: Matrix3? {
    // The blue of ProPhoto has a y of 0.0001.
    guard [white, red, green, blue].allSatisfy({ $0.y > 0.00001 && $0.x.isFinite && $0.y.isFinite }) else { return nil }
    let columns = Matrix3(columns: red.xyz, green.xyz, blue.xyz)
    guard let inverse = columns.inverse else { return nil }
    let scales = inverse.times(white.xyz)
    guard scales.allSatisfy({ $0 > 0.000001 }) else { return nil }
    return columns.scalingColumns(by: scales)
  }

  /// Linear R, G, B of these to those of the others, whites to whites (Bradford); nil where either spans no space.
  public func matrix(to other: Primaries) -> Matrix3? {
    guard let from = adaptedToXYZ, let to = other.adaptedToXYZ?.inverse else { return nil }
    return to.times(from)
  }

  /// To XYZ relative to D50, as ICC profiles have it.
  var adaptedToXYZ: Matrix3? { toXYZ.map { adaptationToD50.times($0) } }

  /// Bradford's (ICC.1:2022, annex E).
  var adaptationToD50: Matrix3 {
    let cone = Matrix3([0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296])
    let (from, to) = (cone.times(white.xyz), cone.times(Self.d50))
    let scale = Matrix3([to[0] / from[0], 0, 0, 0, to[1] / from[1], 0, 0, 0, to[2] / from[2]])
    // Its determinant is 0.98.
    return cone.inverse!.times(scale).times(cone)
  }

  /// XYZ of the profile connection space's white.
  static let d50 = [0.9642, 1.0, 0.8249]
}

/// A matrix of three rows.
public struct Matrix3: Sendable, Equatable {
  /// Row by row.
  public var values: [Double]

  public init(_ values: [Double]) {
    precondition(values.count == 9)
    self.values = values
  }

  init(columns a: [Double], _ b: [Double], _ c: [Double]) {
    self.init([a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]])
  }

  public func times(_ vector: [Double]) -> [Double] {
    (0..<3).map { row in values[3 * row] * vector[0] + values[3 * row + 1] * vector[1] + values[3 * row + 2] * vector[2]
    }
  }

  public func times(_ other: Matrix3) -> Matrix3 {
    let columns = (0..<3).map { column in
      times([other.values[column], other.values[3 + column], other.values[6 + column]])
    }
    return Matrix3(columns: columns[0], columns[1], columns[2])
  }

  func scalingColumns(by scales: [Double]) -> Matrix3 {
    Matrix3(values.enumerated().map { $0.element * scales[$0.offset % 3] })
  }

  public var determinant: Double {
    let m = values
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6])
  }

  /// Nil where there is none worth the name.
  public var inverse: Matrix3? {
    let (m, whole) = (values, determinant)
    guard abs(whole) > 1e-6 else { return nil }
    func minor(_ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Double { (m[a] * m[d] - m[b] * m[c]) / whole }
    return Matrix3([
      minor(4, 5, 7, 8), -minor(1, 2, 7, 8), minor(1, 2, 4, 5),
      -minor(3, 5, 6, 8), minor(0, 2, 6, 8), -minor(0, 2, 3, 5),
      minor(3, 4, 6, 7), -minor(0, 1, 6, 7), minor(0, 1, 3, 4),
    ])
  }
}

/// A colour space of three primaries and one curve.
public struct RGBSpace: Sendable, Equatable {
  public var primaries: Primaries
  public var curve: ToneCurve

  public init(primaries: Primaries, curve: ToneCurve) {
    self.primaries = primaries
    self.curve = curve
  }

  public static let srgb = RGBSpace(primaries: .bt709, curve: .srgb)
  public static let displayP3 = RGBSpace(primaries: .p3, curve: .srgb)
}
