import CHEIF
import Raster

/// HEIC and AVIF by libheif: grids a row of tiles at a time, anything else whole; native planes always.
final class HEIFDecoder: ImageDecoder {
  private(set) var header: ImageHeader
  private let handle: Handle
  private let bridge: SourceBridge
  private var file: cheif_header
  private var threads = 1
  /// Decoded in `begin`, because only the decoded picture tells some files' colour; handed out first.
  private var first: cheif_rows?

  private struct Handle: ~Copyable {
    let reader: OpaquePointer
    deinit { cheif_close(reader) }
  }

  init(source: ByteSource) throws(DownsampleError) {
    try source.makeSeekable()
    bridge = SourceBridge(source)
    var error = cheif_error()
    let callbacks = cheif_source(
      context: bridge.context,
      read: { context, offset, buffer, count in
        Int64(SourceBridge.from(context).read(buffer, count: Int(count), at: Int(offset)))
      }, size: Int64(source.byteCount ?? 0))
    guard let reader = cheif_open(callbacks, &error) else { throw Self.failure(error, bridge) }
    handle = Handle(reader: reader)
    file = cheif_get_header(reader)
    header = try Self.header(of: reader, file, bridge)
  }

  private static func header(
    of reader: OpaquePointer, _ file: cheif_header, _ bridge: SourceBridge
  ) throws(DownsampleError) -> ImageHeader {
    let codec = text(file.codec)
    var header = ImageHeader(
      kind: codec == "av01" ? "AVIF" : codec == "hvc1" ? "HEIC" : "HEIF",
      codedSize: PixelSize(width: Int(file.width), height: Int(file.height)), depth: Int(file.luma_bits),
      colorModel: .ycbcr, arrangement: file.tiled ? .tiled : .whole, hasAlpha: file.has_alpha)
    header.describe(layout: file.layout)
    if file.tiled { header.tileSize = PixelSize(width: Int(file.tile_width), height: Int(file.tile_height)) }
    if file.has_nclx {
      header.codedColor = .init(
        primaries: Int(file.primaries), transfer: Int(file.transfer), matrix: Int(file.matrix),
        isFullRange: file.full_range)
    }
    if file.icc_bytes > 0 {
      var error = cheif_error()
      var status = CHEIF_OK
      header.iccProfile = [UInt8](unsafeUninitializedCapacity: file.icc_bytes) { buffer, count in
        status = cheif_get_icc(reader, buffer.baseAddress, &error)
        count = status == CHEIF_OK ? file.icc_bytes : 0
      }
      if status != CHEIF_OK { throw failure(error, bridge) }
    }
    try header.apply(transforms(of: file))
    if file.has_gain_map { header.notes.append("the gain map is not used") }
    if file.is_sequence_file { header.notes.append("the image sequence is not used, only the primary picture") }
    return header
  }

  private static func transforms(of file: cheif_header) -> [cheif_transform] {
    withUnsafeBytes(of: file.transforms) {
      Array($0.bindMemory(to: cheif_transform.self).prefix(Int(file.transform_count)))
    }
  }

  func begin(target: PixelSize, threads: Int) throws(DownsampleError) -> DecodedLayout {
    // A picture that is not tiled gains nothing by threads, and dav1d holds a frame more for each: 12 megapixels of AVIF took
    // 52 MB and 0.17 s of CPU on one, 106 MB and 0.23 s on two.
    self.threads = file.tiled ? threads : 1
    var error = cheif_error()
    if !file.layout_known {
      guard cheif_settle(handle.reader, Int32(self.threads), &error) == CHEIF_OK else {
        throw Self.failure(error, bridge)
      }
      file = cheif_get_header(handle.reader)
      header = try Self.header(of: handle.reader, file, bridge)
    }
    let rows = try decodeRows()
    first = rows
    if header.codedColor == nil, rows.has_nclx {
      header.codedColor = .init(
        primaries: Int(rows.primaries), transfer: Int(rows.transfer), matrix: Int(rows.matrix),
        isFullRange: rows.full_range)
    }
    let color = try decodedColor()
    let planes = Self.planes(of: rows)
    return DecodedLayout(
      color: color, alpha: !file.has_alpha ? .none : file.alpha_premultiplied ? .premultiplied : .straight,
      planes: planes.enumerated().map { index, plane in
        let isAlpha = file.has_alpha && index == planes.count - 1
        let layout = PlaneLayout(
          width: Int(plane.width), height: height(ofPlane: index, isAlpha: isAlpha), channels: 1,
          sampleType: plane.bytes_per_sample == 2 ? .uint16 : .uint8, maximum: (1 << Int(plane.bits)) - 1)
        let (x, y) =
          isAlpha
          ? (Double(file.alpha_width) / Double(file.width), Double(file.alpha_height) / Double(file.height))
          : index == 0 ? (1, 1) : Self.chromaScale(file.layout)
        let crop = header.crop
        return DecodedLayout.Plane(
          layout: layout,
          box: SourceBox(
            x: Double(crop.x) * x, y: Double(crop.y) * y, width: Double(crop.width) * x, height: Double(crop.height) * y
          ))
      },
      strategy: file.tiled
        ? "tiles of \(file.tile_width)x\(file.tile_height), \(self.threads) at once" : "decoded whole")
  }

  private func decodedColor() throws(DownsampleError) -> DecodedColor {
    let isFullRange = header.codedColor?.isFullRange ?? true
    switch file.layout {
    case CHEIF_LAYOUT_MONOCHROME: return .gray(isFullRange: isFullRange)
    case CHEIF_LAYOUT_RGB: return .rgbPlanes
    default:
      let matrix = ColorMatrix(number: header.codedColor?.matrix ?? 2, isFullRange: isFullRange)
      guard matrix.isSupported else {
        throw DownsampleError(
          .unsupported, "colour with matrix coefficients number \(matrix.number) of ITU-T H.273 is not supported")
      }
      return .ycbcr(matrix)
    }
  }

  /// Of the rows that will come in all; a band shows only its own.
  private func height(ofPlane index: Int, isAlpha: Bool) -> Int {
    if isAlpha { return Int(file.alpha_height) }
    let coded = Int(file.height)
    return index == 0 || Self.chromaScale(file.layout).1 == 1 ? coded : (coded + 1) / 2
  }

  private static func chromaScale(_ layout: cheif_layout) -> (Double, Double) {
    layout == CHEIF_LAYOUT_420 ? (0.5, 0.5) : layout == CHEIF_LAYOUT_422 ? (0.5, 1) : (1, 1)
  }

  private static func planes(of rows: cheif_rows) -> [cheif_plane_rows] {
    Array([rows.planes.0, rows.planes.1, rows.planes.2, rows.planes.3].prefix(Int(rows.plane_count)))
  }

  private func decodeRows() throws(DownsampleError) -> cheif_rows {
    var error = cheif_error()
    var rows = cheif_rows()
    guard cheif_next_rows(handle.reader, Int32(threads), &rows, &error) == CHEIF_OK else {
      throw Self.failure(error, bridge)
    }
    return rows
  }

  func nextBand() throws(DownsampleError) -> DecodedBand? {
    let rows: cheif_rows
    if let first {
      rows = first
      self.first = nil
    } else {
      rows = try decodeRows()
    }
    guard rows.plane_count > 0 else { return nil }
    return DecodedBand(
      planes: Self.planes(of: rows).map { .init(samples: $0.samples, stride: $0.stride, count: Int($0.row_count)) })
  }

  private static func failure(_ error: cheif_error, _ bridge: SourceBridge) -> DownsampleError {
    if let cause = bridge.error { return cause }
    let message = text(error.message)
    switch error.status {
    case CHEIF_UNSUPPORTED: return DownsampleError(.unsupported, message)
    case CHEIF_NO_MEMORY: return DownsampleError(.overBudget, "there is not enough memory: \(message)")
    case CHEIF_FAULT: return DownsampleError(.internalFault, message)
    default: return DownsampleError(.damagedData, "the HEIF data is damaged: \(message)")
    }
  }
}

extension ImageHeader {
  fileprivate mutating func describe(layout: cheif_layout) {
    colorModel = layout == CHEIF_LAYOUT_MONOCHROME ? .gray : layout == CHEIF_LAYOUT_RGB ? .rgb : .ycbcr
    subsampling =
      switch layout {
      case CHEIF_LAYOUT_420: "4:2:0"
      case CHEIF_LAYOUT_422: "4:2:2"
      case CHEIF_LAYOUT_444: "4:4:4"
      default: nil
      }
  }

  /// The item's transformative properties, in their order, as one crop of stored pixels and one orientation.
  fileprivate mutating func apply(_ transforms: [cheif_transform]) throws(DownsampleError) {
    for transform in transforms {
      switch transform.kind {
      case CHEIF_ROTATE:
        orientation = orientation.followed(
          by: transform.degrees_ccw == 90 ? .left : transform.degrees_ccw == 180 ? .down : .right)
      case CHEIF_MIRROR: orientation = orientation.followed(by: transform.left_right ? .upMirrored : .downMirrored)
      default:
        // Borders are those of the picture as turned so far.
        var (left, right) = (Int(transform.left), Int(transform.right))
        var (top, bottom) = (Int(transform.top), Int(transform.bottom))
        if orientation.swapsAxes { (left, top, right, bottom) = (top, left, bottom, right) }
        if orientation.mirrorsX { swap(&left, &right) }
        if orientation.mirrorsY { swap(&top, &bottom) }
        crop.x += left
        crop.y += top
        crop.width -= left + right
        crop.height -= top + bottom
        guard left >= 0, right >= 0, top >= 0, bottom >= 0, crop.width > 0, crop.height > 0 else {
          throw DownsampleError(.damagedData, "the picture is cropped to nothing")
        }
      }
    }
  }
}
