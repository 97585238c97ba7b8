import Glibc

/// CIE L*a*b*.
public struct Lab {
  public var l: Double
  public var a: Double
  public var b: Double

  public init(l: Double, a: Double, b: Double) {
    (self.l, self.a, self.b) = (l, a, b)
  }

  /// Of linear sRGB, relative to its own white.
  public init(linearSRGB rgb: [Double]) {
    let x = (0.4124564 * rgb[0] + 0.3575761 * rgb[1] + 0.1804375 * rgb[2]) / 0.9504700
    let y = 0.2126729 * rgb[0] + 0.7151522 * rgb[1] + 0.0721750 * rgb[2]
    let z = (0.0193339 * rgb[0] + 0.1191920 * rgb[1] + 0.9503041 * rgb[2]) / 1.0888300
    func f(_ t: Double) -> Double { t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116 }
    self.init(l: 116 * f(y) - 16, a: 500 * (f(x) - f(y)), b: 200 * (f(y) - f(z)))
  }

  /// CIEDE2000 (CIE 142-2001), with all weights 1.
  public func difference(from other: Lab) -> Double {
    let chroma = (hypot(a, b) + hypot(other.a, other.b)) / 2
    let g = 0.5 * (1 - sqrt(pow(chroma, 7) / (pow(chroma, 7) + pow(25, 7))))
    let (a1, a2) = ((1 + g) * a, (1 + g) * other.a)
    let (c1, c2) = (hypot(a1, b), hypot(a2, other.b))
    func hue(_ a: Double, _ b: Double) -> Double {
      if a == 0 && b == 0 { return 0 }
      let degrees = atan2(b, a) * 180 / .pi
      return degrees < 0 ? degrees + 360 : degrees
    }
    let (h1, h2) = (hue(a1, b), hue(a2, other.b))
    var turn = c1 * c2 == 0 ? 0 : h2 - h1
    if turn > 180 { turn -= 360 } else if turn < -180 { turn += 360 }
    let deltaH = 2 * sqrt(c1 * c2) * sin(turn / 2 * .pi / 180)
    let (l, c) = ((self.l + other.l) / 2, (c1 + c2) / 2)
    var h = h1 + h2
    if c1 * c2 != 0 { h = abs(h1 - h2) <= 180 ? h / 2 : h < 360 ? (h + 360) / 2 : (h - 360) / 2 }
    func cosine(_ degrees: Double) -> Double { cos(degrees * .pi / 180) }
    let t = 1 - 0.17 * cosine(h - 30) + 0.24 * cosine(2 * h) + 0.32 * cosine(3 * h + 6) - 0.20 * cosine(4 * h - 63)
    let sl = 1 + 0.015 * (l - 50) * (l - 50) / sqrt(20 + (l - 50) * (l - 50))
    let (sc, sh) = (1 + 0.045 * c, 1 + 0.015 * c * t)
    let rotation = 60 * exp(-((h - 275) / 25) * ((h - 275) / 25)) * .pi / 180
    let rt = -2 * sqrt(pow(c, 7) / (pow(c, 7) + pow(25, 7))) * sin(rotation)
    let (dl, dc, dh) = ((other.l - self.l) / sl, (c2 - c1) / sc, deltaH / sh)
    return sqrt(dl * dl + dc * dc + dh * dh + rt * dc * dh)
  }
}
