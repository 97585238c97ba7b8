import CJPEG
import Metadata
import Raster

/// JPEG by libjpeg-turbo: its inverse DCT makes the pre-shrink, and gray and YCbCr stay the planes that were coded.
final class JPEGDecoder: ImageDecoder {
  let header: ImageHeader
  private let handle: Handle
  private let bridge: JPEGBridge
  private let file: cjpeg_header
  private var plane: [cjpeg_plane] = []

  private struct Handle: ~Copyable {
    let reader: OpaquePointer
    deinit { cjpeg_close(reader) }
  }

  init(source: ByteSource, options: ReadingOptions = ReadingOptions()) throws(DownsampleError) {
    bridge = JPEGBridge(source)
    var error = cjpeg_error()
    guard let reader = cjpeg_open(bridge.callbacks, &error) else { throw Self.failure(error, bridge) }
    handle = Handle(reader: reader)
    file = cjpeg_get_header(reader)
    header = Self.header(of: reader, file)
  }

  private static func header(of reader: OpaquePointer, _ file: cjpeg_header) -> ImageHeader {
    let model: ImageHeader.ColorModel =
      switch file.color {
      case CJPEG_GRAY: .gray
      case CJPEG_RGB: .rgb
      case CJPEG_CMYK: .cmyk
      case CJPEG_YCCK: .ycck
      default: .ycbcr
      }
    var header = ImageHeader(
      kind: "JPEG", codedSize: PixelSize(width: Int(file.width), height: Int(file.height)), depth: Int(file.bits),
      colorModel: model, arrangement: file.progressive ? .progressive : file.multi_scan ? .multiScan : .sequential)
    if let exif = cjpeg_exif(reader) {
      header.orientation = EXIFOrientation.find(in: UnsafeBufferPointer(start: exif, count: file.exif_bytes))
    }
    if file.icc_bytes > 0 {
      header.iccProfile = [UInt8](unsafeUninitializedCapacity: file.icc_bytes) { buffer, count in
        cjpeg_take_icc(reader, buffer.baseAddress!)
        count = file.icc_bytes
      }
    }
    if model == .ycbcr || model == .ycck { header.subsampling = subsampling(file) }
    return header
  }

  /// In the notation of J:a:b where there is a name, else the sampling factors of each component.
  private static func subsampling(_ file: cjpeg_header) -> String {
    let h = file.h_samp
    let v = file.v_samp
    if h.1 == 1, v.1 == 1, h.2 == 1, v.2 == 1 {
      switch (h.0, v.0) {
      case (1, 1): return "4:4:4"
      case (2, 1): return "4:2:2"
      case (2, 2): return "4:2:0"
      case (1, 2): return "4:4:0"
      case (4, 1): return "4:1:1"
      case (4, 2): return "4:1:0"
      default: break
      }
    }
    return "\(h.0)x\(v.0),\(h.1)x\(v.1),\(h.2)x\(v.2)"
  }

  var planner: any DecodingPlanner {
    JPEGPlanner(file: file, size: header.codedSize, fileBytes: bridge.source.source.byteCount)
  }

  func takeMetadata() throws(DownsampleError) -> ImageMetadata { ImageMetadata() }

  let warnings: [String] = []

  func begin(_ strategy: DecodingStrategy, resources: DecodingResources) throws(DownsampleError) -> DecodedLayout {
    let detail = strategy.detail as! JPEGPlanner.Detail
    bridge.resources = resources
    var limits = bridge.limits(
      libraryBytes: detail.libraryBytes, storeBytes: strategy.spillable?.share ?? 0,
      fileBytes: Self.mostSpilled(strategy.spillable))
    var error = cjpeg_error()
    guard cjpeg_start(handle.reader, Int32(detail.eighths), &limits, &error) == CJPEG_OK else {
      throw Self.failure(error, bridge)
    }
    return strategy.layout
  }

  /// No picture's coefficients take so many times what its file's size says; data that were made up to fill the disk do.
  private static func mostSpilled(_ spillable: DecodingStrategy.Spillable?) -> Int {
    spillable.map { 4 * ($0.wanted - $0.least) + (64 << 20) } ?? 0
  }

  /// What decoding has used so far.
  var usage: cjpeg_usage { cjpeg_get_usage(handle.reader) }

  func nextBand() throws(DownsampleError) -> DecodedBand? {
    var error = cjpeg_error()
    var band = cjpeg_band()
    guard cjpeg_next_band(handle.reader, &band, &error) == CJPEG_OK else { throw Self.failure(error, bridge) }
    if band.plane_count == 0 { return nil }
    let planes = [band.planes.0, band.planes.1, band.planes.2]
    return DecodedBand(
      planes: planes.prefix(Int(band.plane_count)).map {
        DecodedBand.Rows(samples: UnsafeRawPointer($0.samples), stride: $0.stride, count: Int($0.row_count))
      })
  }

  private static func failure(_ error: cjpeg_error, _ bridge: JPEGBridge) -> DownsampleError {
    if let cause = bridge.error { return cause }
    let message = text(error.message)
    switch error.status {
    case CJPEG_UNSUPPORTED: return DownsampleError(.unsupported, "this JPEG cannot be decoded: \(message)")
    case CJPEG_NO_MEMORY: return DownsampleError(.overBudget, "there is not enough memory: \(message)")
    case CJPEG_READ_FAILED, CJPEG_WRITE_FAILED: return DownsampleError(.inputOutput, message)
    case CJPEG_FAULT, CJPEG_STOPPED: return DownsampleError(.internalFault, "libjpeg: \(message)")
    default: return DownsampleError(.damagedData, "the JPEG data is damaged: \(message)")
    }
  }
}
