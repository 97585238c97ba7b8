import CColor

/// What can be said of an ICC profile without a colour management library.
public enum ICCProfile {
  /// The data colour space of the header, "RGB ", "GRAY", "CMYK", ...; nil when the bytes are no whole profile.
  public static func dataColorSpace(of profile: [UInt8]) -> String? {
    var space: (CChar, CChar, CChar, CChar, CChar) = (0, 0, 0, 0, 0)
    let isProfile = withUnsafeMutablePointer(to: &space) {
      $0.withMemoryRebound(to: CChar.self, capacity: 5) { ccolor_profile_space(profile, profile.count, $0) }
    }
    guard isProfile else { return nil }
    return withUnsafeBytes(of: space) { String(decoding: $0.prefix(4), as: UTF8.self) }
  }
}
