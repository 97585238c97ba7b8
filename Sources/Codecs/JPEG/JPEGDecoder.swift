import CJPEG
import Metadata
import Raster

/// JPEG by libjpeg-turbo: its inverse DCT makes the pre-shrink, and gray and YCbCr stay the planes that were coded.
final class JPEGDecoder: ImageDecoder {
  let header: ImageHeader
  private let handle: Handle
  private let bridge: JPEGBridge
  private let file: cjpeg_header
  private let options: ReadingOptions
  private var hasMetadata: Bool

  private struct Handle: ~Copyable {
    let reader: OpaquePointer
    deinit { cjpeg_close(reader) }
  }

  init(source: ByteSource, options: ReadingOptions = ReadingOptions()) throws(DownsampleError) {
    bridge = JPEGBridge(source)
    self.options = options
    let reading = cjpeg_reading(keeps_metadata: options.keepsMetadata, salvages: options.salvages)
    var error = cjpeg_error()
    guard let reader = cjpeg_open(bridge.callbacks, reading, &error) else { throw Self.failure(error, bridge) }
    handle = Handle(reader: reader)
    file = cjpeg_get_header(reader)
    var header = Self.header(of: reader, file)
    header.notes = JPEGNotes.of(file, source: source, keepsMetadata: options.keepsMetadata)
    self.header = header
    hasMetadata = options.keepsMetadata
    if !options.keepsMetadata { cjpeg_drop_metadata(reader) }
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
    let exif = cjpeg_get_metadata(reader).exif
    header.orientation = EXIFOrientation.find(in: UnsafeBufferPointer(start: exif.bytes, count: exif.count))
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

  func takeMetadata() throws(DownsampleError) -> ImageMetadata {
    guard hasMetadata else { return ImageMetadata() }
    hasMetadata = false
    defer { cjpeg_drop_metadata(handle.reader) }
    func bytes(_ part: cjpeg_bytes) -> UnsafeBufferPointer<UInt8> {
      UnsafeBufferPointer(start: part.bytes, count: part.count)
    }
    let all = cjpeg_get_metadata(handle.reader)
    return ImageMetadata(
      exif: Array(bytes(all.exif)), xmp: Array(bytes(all.xmp)), iptc: PhotoshopResources.iptc(in: bytes(all.photoshop)))
  }

  var warnings: [String] {
    JPEGNotes.of(cjpeg_get_findings(handle.reader), file, source: bridge.source.source)
  }

  var isSalvaged: Bool { !text(cjpeg_get_findings(handle.reader).damage).isEmpty }

  func begin(_ strategy: DecodingStrategy, resources: DecodingResources) throws(DownsampleError) -> DecodedLayout {
    let detail = strategy.detail as! JPEGPlanner.Detail
    bridge.resources = resources
    hasMetadata = false
    var limits = bridge.limits(
      libraryBytes: detail.libraryBytes, storeBytes: strategy.spillable?.share ?? 0,
      fileBytes: Self.mostSpilled(strategy.spillable))
    var error = cjpeg_error()
    guard cjpeg_start(handle.reader, Int32(detail.eighths), &limits, &error) == CJPEG_OK else {
      throw failure(error)
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
    guard cjpeg_next_band(handle.reader, &band, &error) == CJPEG_OK else { throw failure(error) }
    if band.plane_count == 0 { return nil }
    let planes = [band.planes.0, band.planes.1, band.planes.2]
    return DecodedBand(
      planes: planes.prefix(Int(band.plane_count)).map {
        DecodedBand.Rows(samples: UnsafeRawPointer($0.samples), stride: $0.stride, count: Int($0.row_count))
      })
  }

  private func failure(_ error: cjpeg_error) -> DownsampleError {
    if error.status == CJPEG_CUT, options.salvages {
      return DownsampleError(.damagedData, "nothing of the picture is there: \(text(error.message))")
    }
    return Self.failure(error, bridge)
  }

  private static func failure(_ error: cjpeg_error, _ bridge: JPEGBridge) -> DownsampleError {
    if let cause = bridge.error { return cause }
    let message = text(error.message)
    switch error.status {
    case CJPEG_UNSUPPORTED: return DownsampleError(.unsupported, "this JPEG cannot be decoded: \(message)")
    case CJPEG_NO_MEMORY: return DownsampleError(.overBudget, "there is not enough memory: \(message)")
    case CJPEG_READ_FAILED, CJPEG_WRITE_FAILED: return DownsampleError(.inputOutput, message)
    case CJPEG_FAULT, CJPEG_STOPPED: return DownsampleError(.internalFault, "libjpeg: \(message)")
    case CJPEG_CUT: return DownsampleError(.damagedData, "\(message); --salvage makes what there is")
    default: return DownsampleError(.damagedData, "the JPEG data is damaged: \(message)")
    }
  }
}
