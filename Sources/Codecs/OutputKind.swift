import Raster

/// What a picture becomes: a file, or pixels for the caller.
public enum OutputKind: Sendable, Equatable {
  case file(OutputFormat)
  case pixels(PixelFormat)

  public var holdsAlpha: Bool {
    switch self {
    case .file(let format): format.holdsAlpha
    case .pixels(let format): format.hasAlpha
    }
  }

  /// Bits of a sample, 8 or 16.
  ///
  /// - Parameters:
  ///   - asked: nil: as deep as the input, where the format holds that.
  ///   - input: of what is decoded.
  public func depth(asked: Int?, input: Int) -> Int {
    switch self {
    case .file(let format): format.holdsDeepSamples ? asked ?? input : 8
    case .pixels(let format): format.bitsPerSample
    }
  }

  /// Whether colour is coded as luma and colour differences, with loss.
  public var codesColorDifferences: Bool {
    if case .file(let format) = self { return format.codesColorDifferences }
    return false
  }

  /// See `OutputFormat.chroma(asked:size:)`; pixels have full chroma.
  public func chroma(asked: ChromaSubsampling, size: PixelSize) -> ChromaSubsampling {
    if case .file(let format) = self { return format.chroma(asked: asked, size: size) }
    return .full
  }
}
