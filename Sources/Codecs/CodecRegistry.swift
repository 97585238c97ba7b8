import Budget
import Raster

/// Every kind of picture that is known, and who decodes or encodes it.
public enum CodecRegistry {
  /// Tells the kind of picture by its content, never by a name, and reads its header.
  ///
  /// - Throws: `.overBudget` where `options.available` is not enough, `.damagedData`, `.unsupported`, and what the source throws.
  public static func decoder(
    for source: ByteSource, options: ReadingOptions = ReadingOptions()
  ) throws(DownsampleError) -> ImageDecoder {
    switch try FileKind(of: source) {
    case .jpeg: return try JPEGDecoder(source: source, options: options)
    case .png: return try PNGDecoder(source: source, options: options)
    case .heif: return try HEIFDecoder(source: source, options: options)
    case .unsupported(let name): throw DownsampleError(.unsupported, "\(name) is not supported")
    case .unknown(let cause): throw DownsampleError(.damagedData, cause)
    }
  }

  /// Whether the format's encoder is installed. JPEG's and PNG's always are; asking for HEIC's or AVIF's opens libheif, and no
  /// encoder.
  public static func canEncode(_ format: OutputFormat) -> Bool {
    switch format {
    case .jpeg, .png: true
    case .heic, .avif: HEIFEncoder.isAvailable(format)
    }
  }

  /// What an encoder will hold.
  public static func encoderMemory(for kind: OutputKind, layout: EncodedLayout, settings: EncoderSettings)
    -> [MemoryUse]
  {
    switch kind {
    case .file(.jpeg): return JPEGEncoder.memory(layout: layout, settings: settings)
    case .file(.png): return PNGEncoder.memory(layout: layout, settings: settings)
    case .file(let format): return HEIFEncoder.memory(layout: layout, settings: settings, format: format)
    case .pixels(let format): return PixelEncoder.memory(layout: layout, format: format)
    }
  }

  /// - Throws: `.usage` when the format cannot hold a picture of this size, `.unsupported` when libheif or its encoder is
  ///   missing, and what the sink throws.
  public static func encoder(
    for format: OutputFormat, layout: EncodedLayout, settings: EncoderSettings, sink: ByteSink
  ) throws(DownsampleError) -> ImageEncoder {
    switch format {
    case .jpeg: return try JPEGEncoder(layout: layout, settings: settings, sink: sink)
    case .png: return try PNGEncoder(layout: layout, settings: settings, sink: sink)
    case .heic, .avif: return try HEIFEncoder(layout: layout, settings: settings, format: format, sink: sink)
    }
  }

  /// - Throws: `.usage` when the sink's memory is too small, and what the sink throws.
  public static func encoder(
    for format: PixelFormat, layout: EncodedLayout, settings: EncoderSettings, sink: any PixelSink
  ) throws(DownsampleError) -> ImageEncoder {
    try PixelEncoder(layout: layout, settings: settings, format: format, sink: sink)
  }
}
