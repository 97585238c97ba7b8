/// How colours that the output's space lacks are brought into it (ICC.1:2022, 6.2).
public enum RenderingIntent: String, Sendable, CaseIterable {
  /// As the profile's maker thought it pleasing.
  case perceptual
  /// Relative colorimetric, with black point compensation.
  case relative
  /// Vivid before true: for charts.
  case saturation
  /// ICC-absolute colorimetric: the white of the source's medium is kept.
  case absolute
}
