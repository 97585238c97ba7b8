/// The filters that a picture can be resampled with, widened by the ratio when it is made smaller.
public enum ResamplingKernel: String, Sendable, CaseIterable {
  /// The mean of the samples under an output sample.
  case box
  /// Linear interpolation, radius 1.
  case triangle
  /// Catmull-Rom: Mitchell and Netravali's cubic with B = 0, C = 1/2, radius 2.
  case catrom
  /// Mitchell and Netravali's cubic with B = C = 1/3, radius 2.
  case mitchell
  /// Sinc windowed by a sinc of two lobes.
  case lanczos2
  /// Sinc windowed by a sinc of three lobes.
  case lanczos3
}
