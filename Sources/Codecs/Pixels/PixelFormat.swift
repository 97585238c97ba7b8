/// How pixels are handed over: interleaved, row by row. Samples of 16 bits are in native byte order, 0 to 65,535.
public enum PixelFormat: String, Sendable, CaseIterable {
  /// Red, green, blue. Alpha is laid over the background.
  case rgb8
  /// Red, green, blue, alpha, not premultiplied; 255 where the picture has none.
  case rgba8
  /// Blue, green, red, alpha, not premultiplied.
  case bgra8
  /// Red, green, blue, each multiplied by alpha, and alpha.
  case rgba8Premultiplied
  /// The same with blue first: Cairo's ARGB32 on little-endian machines.
  case bgra8Premultiplied
  /// Red, green, blue, 16 bits each. Alpha is laid over the background.
  case rgb16
  /// Red, green, blue, alpha, 16 bits each, not premultiplied; 65,535 where the picture has none.
  case rgba16

  /// Whether there is a fourth sample, alpha.
  public var hasAlpha: Bool { self != .rgb8 && self != .rgb16 }
  /// Whether the colours are multiplied by alpha.
  public var isPremultiplied: Bool { self == .rgba8Premultiplied || self == .bgra8Premultiplied }
  /// 8 or 16.
  public var bitsPerSample: Int { self == .rgb16 || self == .rgba16 ? 16 : 8 }
  /// 3 to 8.
  public var bytesPerPixel: Int { (hasAlpha ? 4 : 3) * bitsPerSample / 8 }

  var isBlueFirst: Bool { self == .bgra8 || self == .bgra8Premultiplied }
}
