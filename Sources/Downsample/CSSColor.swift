import Raster

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension BackgroundColor {
  /// A colour as CSS Color 4 writes it: a name, `#rgb`, `#rrggbb` (either with alpha), `rgb()` or `hsl()` with commas or
  /// spaces; names and functions in any case. Other colour functions are not taken.
  ///
  /// - Throws: `.usage` when it is none, or not opaque: something has to lie under the picture.
  public init(css text: String) throws(DownsampleError) {
    let name = Self.trimmed(text.lowercased()[...])
    guard let parsed = Self.hexadecimal(name) ?? Self.function(name) ?? Self.named(name) else {
      throw DownsampleError(.usage, "'\(text)' is not a CSS colour such as white, #ff8800 or rgb(0 128 255)")
    }
    guard parsed.alpha >= 1 else {
      throw DownsampleError(.usage, "'\(text)' is not opaque; --background is what lies under everything else")
    }
    self = parsed.color
  }

  private typealias Parsed = (color: BackgroundColor, alpha: Double)

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0.isWhitespace }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }

  private init(bytes: [Int]) {
    self.init(red: Double(bytes[0]) / 255, green: Double(bytes[1]) / 255, blue: Double(bytes[2]) / 255)
  }

  private static func hexadecimal(_ text: Substring) -> Parsed? {
    guard text.first == "#" else { return nil }
    let digits = text.dropFirst().compactMap { $0.isASCII ? $0.hexDigitValue : nil }
    guard digits.count == text.count - 1 else { return nil }
    let bytes: [Int]
    switch digits.count {
    case 3, 4: bytes = digits.map { $0 * 17 }
    case 6, 8: bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 16 + digits[$0 + 1] }
    default: return nil
    }
    return (BackgroundColor(bytes: bytes), bytes.count > 3 ? Double(bytes[3]) / 255 : 1)
  }

  private static func function(_ text: Substring) -> Parsed? {
    guard text.last == ")", let open = text.firstIndex(of: "(") else { return nil }
    let arguments = text[text.index(after: open)...].dropLast()
    let kind = text[..<open]
    guard ["rgb", "rgba", "hsl", "hsla"].contains(kind), let words = words(arguments) else { return nil }
    guard let alpha = words.count < 4 ? 1 : amount(words[3], of: 1) else { return nil }
    guard let color = kind.hasPrefix("rgb") ? rgb(words) : hsl(words) else { return nil }
    return (color, min(max(alpha, 0), 1))
  }

  /// Three or four arguments: all by commas, or by spaces with a slash before alpha.
  private static func words(_ arguments: Substring) -> [Substring]? {
    var words: [Substring]
    if arguments.contains(",") {
      words = arguments.split(separator: ",", omittingEmptySubsequences: false).map(trimmed)
    } else {
      let parts = arguments.split(separator: "/", omittingEmptySubsequences: false)
      guard (1...2).contains(parts.count) else { return nil }
      words = parts[0].split { $0.isWhitespace }
      guard words.count == 3 else { return nil }
      if parts.count == 2 { words.append(trimmed(parts[1])) }
    }
    return (3...4).contains(words.count) && words.allSatisfy { !$0.isEmpty } ? words : nil
  }

  /// A number, or a percentage of `whole`.
  private static func amount(_ word: Substring, of whole: Double) -> Double? {
    if word.last == "%" { return number(word.dropLast()).map { $0 / 100 * whole } }
    return number(word)
  }

  private static func number(_ word: Substring) -> Double? {
    // Double(_:) takes "inf", "nan" and hexadecimal too.
    guard !word.isEmpty, word.allSatisfy({ "0123456789+-.e".contains($0) }), let value = Double(word), value.isFinite
    else { return nil }
    return value
  }

  private static func rgb(_ words: [Substring]) -> BackgroundColor? {
    let isPercent = words[0].last == "%"
    // CSS Color 4 lets them be mixed in the form without commas only; no harm is done in the other.
    let values = words[..<3].compactMap { amount($0, of: 255) }
    guard values.count == 3, !isPercent || words[..<3].allSatisfy({ $0.last == "%" }) else { return nil }
    let parts = values.map { min(max($0 / 255, 0), 1) }
    return BackgroundColor(red: parts[0], green: parts[1], blue: parts[2])
  }

  /// CSS Color 4, section 7.1.
  private static func hsl(_ words: [Substring]) -> BackgroundColor? {
    guard let degrees = angle(words[0]), let s = amount(words[1], of: 100), let l = amount(words[2], of: 100) else {
      return nil
    }
    let (saturation, lightness) = (min(max(s / 100, 0), 1), min(max(l / 100, 0), 1))
    var hue = fmod(degrees, 360)
    if hue < 0 { hue += 360 }
    func channel(_ n: Double) -> Double {
      let k = fmod(n + hue / 30, 12)
      return lightness - saturation * min(lightness, 1 - lightness) * max(-1, min(k - 3, 9 - k, 1))
    }
    return BackgroundColor(red: channel(0), green: channel(8), blue: channel(4))
  }

  /// In degrees.
  private static func angle(_ word: Substring) -> Double? {
    for (unit, degrees) in [("deg", 1), ("grad", 0.9), ("rad", 180 / Double.pi), ("turn", 360)]
    where word.hasSuffix(unit) { return number(word.dropLast(unit.count)).map { $0 * degrees } }
    return number(word)
  }

  private static func named(_ name: Substring) -> Parsed? {
    if name == "transparent" { return (BackgroundColor(bytes: [0, 0, 0]), 0) }
    guard let value = names[String(name)] else { return nil }
    return (BackgroundColor(bytes: [value >> 16, value >> 8 & 255, value & 255]), 1)
  }

  /// CSS Color 4, section 6.1.
  static let names: [String: Int] = [
    "aliceblue": 0xf0f8ff, "antiquewhite": 0xfaebd7, "aqua": 0x00ffff, "aquamarine": 0x7fffd4, "azure": 0xf0ffff,
    "beige": 0xf5f5dc, "bisque": 0xffe4c4, "black": 0x000000, "blanchedalmond": 0xffebcd, "blue": 0x0000ff,
    "blueviolet": 0x8a2be2, "brown": 0xa52a2a, "burlywood": 0xdeb887, "cadetblue": 0x5f9ea0, "chartreuse": 0x7fff00,
    "chocolate": 0xd2691e, "coral": 0xff7f50, "cornflowerblue": 0x6495ed, "cornsilk": 0xfff8dc, "crimson": 0xdc143c,
    "cyan": 0x00ffff, "darkblue": 0x00008b, "darkcyan": 0x008b8b, "darkgoldenrod": 0xb8860b, "darkgray": 0xa9a9a9,
    "darkgreen": 0x006400, "darkgrey": 0xa9a9a9, "darkkhaki": 0xbdb76b, "darkmagenta": 0x8b008b,
    "darkolivegreen": 0x556b2f, "darkorange": 0xff8c00, "darkorchid": 0x9932cc, "darkred": 0x8b0000,
    "darksalmon": 0xe9967a, "darkseagreen": 0x8fbc8f, "darkslateblue": 0x483d8b, "darkslategray": 0x2f4f4f,
    "darkslategrey": 0x2f4f4f, "darkturquoise": 0x00ced1, "darkviolet": 0x9400d3, "deeppink": 0xff1493,
    "deepskyblue": 0x00bfff, "dimgray": 0x696969, "dimgrey": 0x696969, "dodgerblue": 0x1e90ff, "firebrick": 0xb22222,
    "floralwhite": 0xfffaf0, "forestgreen": 0x228b22, "fuchsia": 0xff00ff, "gainsboro": 0xdcdcdc,
    "ghostwhite": 0xf8f8ff, "gold": 0xffd700, "goldenrod": 0xdaa520, "gray": 0x808080, "green": 0x008000,
    "greenyellow": 0xadff2f, "grey": 0x808080, "honeydew": 0xf0fff0, "hotpink": 0xff69b4, "indianred": 0xcd5c5c,
    "indigo": 0x4b0082, "ivory": 0xfffff0, "khaki": 0xf0e68c, "lavender": 0xe6e6fa, "lavenderblush": 0xfff0f5,
    "lawngreen": 0x7cfc00, "lemonchiffon": 0xfffacd, "lightblue": 0xadd8e6, "lightcoral": 0xf08080,
    "lightcyan": 0xe0ffff, "lightgoldenrodyellow": 0xfafad2, "lightgray": 0xd3d3d3, "lightgreen": 0x90ee90,
    "lightgrey": 0xd3d3d3, "lightpink": 0xffb6c1, "lightsalmon": 0xffa07a, "lightseagreen": 0x20b2aa,
    "lightskyblue": 0x87cefa, "lightslategray": 0x778899, "lightslategrey": 0x778899, "lightsteelblue": 0xb0c4de,
    "lightyellow": 0xffffe0, "lime": 0x00ff00, "limegreen": 0x32cd32, "linen": 0xfaf0e6, "magenta": 0xff00ff,
    "maroon": 0x800000, "mediumaquamarine": 0x66cdaa, "mediumblue": 0x0000cd, "mediumorchid": 0xba55d3,
    "mediumpurple": 0x9370db, "mediumseagreen": 0x3cb371, "mediumslateblue": 0x7b68ee, "mediumspringgreen": 0x00fa9a,
    "mediumturquoise": 0x48d1cc, "mediumvioletred": 0xc71585, "midnightblue": 0x191970, "mintcream": 0xf5fffa,
    "mistyrose": 0xffe4e1, "moccasin": 0xffe4b5, "navajowhite": 0xffdead, "navy": 0x000080, "oldlace": 0xfdf5e6,
    "olive": 0x808000, "olivedrab": 0x6b8e23, "orange": 0xffa500, "orangered": 0xff4500, "orchid": 0xda70d6,
    "palegoldenrod": 0xeee8aa, "palegreen": 0x98fb98, "paleturquoise": 0xafeeee, "palevioletred": 0xdb7093,
    "papayawhip": 0xffefd5, "peachpuff": 0xffdab9, "peru": 0xcd853f, "pink": 0xffc0cb, "plum": 0xdda0dd,
    "powderblue": 0xb0e0e6, "purple": 0x800080, "rebeccapurple": 0x663399, "red": 0xff0000, "rosybrown": 0xbc8f8f,
    "royalblue": 0x4169e1, "saddlebrown": 0x8b4513, "salmon": 0xfa8072, "sandybrown": 0xf4a460, "seagreen": 0x2e8b57,
    "seashell": 0xfff5ee, "sienna": 0xa0522d, "silver": 0xc0c0c0, "skyblue": 0x87ceeb, "slateblue": 0x6a5acd,
    "slategray": 0x708090, "slategrey": 0x708090, "snow": 0xfffafa, "springgreen": 0x00ff7f, "steelblue": 0x4682b4,
    "tan": 0xd2b48c, "teal": 0x008080, "thistle": 0xd8bfd8, "tomato": 0xff6347, "turquoise": 0x40e0d0,
    "violet": 0xee82ee, "wheat": 0xf5deb3, "white": 0xffffff, "whitesmoke": 0xf5f5f5, "yellow": 0xffff00,
    "yellowgreen": 0x9acd32,
  ]
}
