import Budget
import CPNG
import Metadata
import Raster

/// PNG by libpng: a row at a time as it inflates, an interlaced picture pass by pass.
final class PNGDecoder: ImageDecoder {
  let header: ImageHeader
  private let handle: Handle
  private let bridge: SourceBridge
  private let file: cpng_header

  private struct Handle: ~Copyable {
    let reader: OpaquePointer
    deinit { cpng_close(reader) }
  }

  init(source: ByteSource, options: ReadingOptions = ReadingOptions()) throws(DownsampleError) {
    bridge = SourceBridge(source)
    var error = cpng_error()
    let callbacks = cpng_source(context: bridge.context) { context, buffer, count in
      SourceBridge.from(context).read(buffer, count: count)
    }
    guard let reader = cpng_open(callbacks, &error) else { throw Self.failure(error, bridge) }
    handle = Handle(reader: reader)
    file = cpng_get_header(reader)
    header = Self.header(of: reader, file)
    cpng_drop_metadata(reader)
  }

  private static func header(of reader: OpaquePointer, _ file: cpng_header) -> ImageHeader {
    let model: ImageHeader.ColorModel = file.color_type == 3 ? .palette : file.color_type & 2 == 0 ? .gray : .rgb
    var header = ImageHeader(
      kind: "PNG", codedSize: PixelSize(width: Int(file.width), height: Int(file.height)), depth: Int(file.bits),
      colorModel: model, arrangement: file.interlaced ? .interlaced : .sequential,
      hasAlpha: file.has_alpha)
    if let exif = cpng_exif(reader) {
      header.orientation = EXIFOrientation.find(in: UnsafeBufferPointer(start: exif, count: file.exif_bytes))
    }
    if let icc = cpng_icc(reader) {
      header.iccProfile = [UInt8](UnsafeBufferPointer(start: icc, count: file.icc_bytes))
    }
    if file.has_cicp {
      header.codedColor = .init(
        primaries: Int(file.primaries), transfer: Int(file.transfer), matrix: 0, isFullRange: true)
    }
    return header
  }

  var planner: any DecodingPlanner { PNGPlanner(file: file) }

  func takeMetadata() throws(DownsampleError) -> ImageMetadata { ImageMetadata() }

  let warnings: [String] = []

  func begin(_ strategy: DecodingStrategy, resources: DecodingResources) throws(DownsampleError) -> DecodedLayout {
    var error = cpng_error()
    var layout = cpng_layout()
    guard cpng_start(handle.reader, strategy.held.totalBytes, &layout, &error) == CPNG_OK else {
      throw Self.failure(error, bridge)
    }
    return strategy.layout
  }

  /// What the strategy's bytes came to so far.
  var mostHeld: Int { cpng_most_held(handle.reader) }

  func nextBand() throws(DownsampleError) -> DecodedBand? {
    var error = cpng_error()
    var band = cpng_band()
    guard cpng_next_band(handle.reader, &band, &error) == CPNG_OK else { throw Self.failure(error, bridge) }
    guard band.row_count > 0 else { return nil }
    return DecodedBand(planes: [.init(samples: band.samples, stride: band.stride, count: Int(band.row_count))])
  }

  private static func failure(_ error: cpng_error, _ bridge: SourceBridge) -> DownsampleError {
    if let cause = bridge.error { return cause }
    let message = text(error.message)
    switch error.status {
    case CPNG_UNSUPPORTED: return DownsampleError(.unsupported, message)
    case CPNG_NO_MEMORY: return DownsampleError(.overBudget, "there is not enough memory: \(message)")
    default: return DownsampleError(.damagedData, "the PNG data is damaged: \(message)")
    }
  }
}
