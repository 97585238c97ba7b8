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
    switch try FileKind(of: source).decodable() {
    case .jpeg: return try JPEGDecoder(source: source, options: options)
    case .png: return try PNGDecoder(source: source, options: options)
    case .heif: return try HEIFDecoder(source: source, options: options)
    }
  }

  /// The type of a picture that can be decoded, as far as how it begins says. The source's position stays.
  ///
  /// - Throws: `.damagedData`, `.unsupported`, as for its decoder, and what the source throws.
  public static func type(of source: ByteSource) throws(DownsampleError) -> ImageType {
    let prefix = try FileKind.prefix(of: source)
    switch try FileKind(prefix: prefix).decodable() {
    case .jpeg: return .jpeg
    case .png: return .png
    case .heif: return .heif(brands: FileKind.brands(prefix))
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
