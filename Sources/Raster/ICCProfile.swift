import CColor

/// What is to be known of an ICC profile; all but `libraryVersion` without a colour management library.
public enum ICCProfile {
  /// The version of Little CMS, "2.14"; nil when it cannot be opened.
  public static var libraryVersion: String? { ccolor_library_version().map { String(cString: $0) } }

  /// The data colour space of the header, "RGB ", "GRAY", "CMYK", ...; nil when the bytes are no whole profile.
  public static func dataColorSpace(of profile: [UInt8]) -> String? {
    var space: (CChar, CChar, CChar, CChar, CChar) = (0, 0, 0, 0, 0)
    let isProfile = withUnsafeMutablePointer(to: &space) {
      $0.withMemoryRebound(to: CChar.self, capacity: 5) { ccolor_profile_space(profile, profile.count, $0) }
    }
    guard isProfile else { return nil }
    return withUnsafeBytes(of: space) { String(decoding: $0.prefix(4), as: UTF8.self) }
  }

  /// Whether the three primaries of an RGB profile lie in one plane, so that different colours look alike and others
  /// differ without measure: such a profile describes no space in which a picture survives lossy compression. False where
  /// it states no primaries.
  public static func hasDegeneratePrimaries(_ profile: [UInt8]) -> Bool {
    guard let r = colorants(of: "rXYZ", in: profile), let g = colorants(of: "gXYZ", in: profile),
      let b = colorants(of: "bXYZ", in: profile)
    else { return false }
    let determinant =
      r[0] * (g[1] * b[2] - g[2] * b[1]) - g[0] * (r[1] * b[2] - r[2] * b[1]) + b[0] * (r[1] * g[2] - r[2] * g[1])
    // sRGB has 0.2, the narrowest real displays a fifth of that.
    return abs(determinant) < 0.001
  }

  /// The value of a tag of XYZType (ICC.1:2022, 10.31).
  private static func colorants(of tag: String, in profile: [UInt8]) -> [Double]? {
    func number(_ offset: Int) -> Int? {
      guard offset >= 0, offset + 4 <= profile.count else { return nil }
      return profile[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    guard let count = number(128) else { return nil }
    for entry in (0..<min(count, 200)).map({ 132 + $0 * 12 }) where entry + 12 <= profile.count {
      guard profile[entry..<entry + 4].elementsEqual(tag.utf8), let offset = number(entry + 4) else { continue }
      let values = (0..<3).compactMap { number(offset + 8 + $0 * 4) }
      return values.count == 3 ? values.map { Double(Int32(truncatingIfNeeded: $0)) / 65536 } : nil
    }
    return nil
  }
}
