import CHEIF
import Metadata
import Raster

/// HEIC and AVIF by libheif: grids a row of tiles at a time, anything else whole; native planes always.
final class HEIFDecoder: ImageDecoder {
  private(set) var header: ImageHeader
  private let handle: Handle
  private let bridge: SourceBridge
  private var file: cheif_header
  private var threads = 1
  private let options: ReadingOptions
  private var hasTakenMetadata = false
  /// Decoded in `begin`, because only the decoded picture tells some files' colour; handed out first.
  private var first: cheif_rows?

  private struct Handle: ~Copyable {
    let reader: OpaquePointer
    deinit { cheif_close(reader) }
  }

  init(source: ByteSource, options: ReadingOptions = ReadingOptions()) throws(DownsampleError) {
    try source.makeSeekable()
    bridge = SourceBridge(source)
    self.options = options
    var error = cheif_error()
    let callbacks = cheif_source(
      context: bridge.context,
      read: { context, offset, buffer, count in
        Int64(SourceBridge.from(context).read(buffer, count: Int(count), at: Int(offset)))
      }, size: Int64(source.byteCount ?? 0),
      may_go_on: { SourceBridge.from($0).mayGoOn() }, most_bytes: Int64(max(1, options.available)),
      salvages: options.salvages)
    guard let reader = cheif_open(callbacks, &error) else { throw Self.failure(error, bridge) }
    handle = Handle(reader: reader)
    file = cheif_get_header(reader)
    header = try Self.header(of: reader, file, bridge, options)
  }

  private static func header(
    of reader: OpaquePointer, _ file: cheif_header, _ bridge: SourceBridge, _ options: ReadingOptions
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
    if file.content_luminance > 0 || file.mastering_luminance > 0 {
      header.luminance = .init(
        maximumContent: file.content_luminance > 0 ? file.content_luminance : nil,
        masteringMaximum: file.mastering_luminance > 0 ? file.mastering_luminance : nil)
    }
    if let note = gainMapNote(file.gain_map) { header.notes.append(note) }
    if file.metadata_cut { header.notes.append("the file ends within its metadata: the picture is whole") }
    if options.keepsMetadata {
      for (name, count) in [("EXIF", file.exif_bytes), ("XMP", file.xmp_bytes)] where count > options.mostMetadataBytes
      {
        header.notes.append(
          "the \(name) data were left out: they have \(count) bytes, the limit is \(options.mostMetadataBytes)")
      }
    }
    if file.is_sequence_file { header.notes.append("the image sequence is not used, only the primary picture") }
    return header
  }

  /// Which gain map is left out, for people.
  private static func gainMapNote(_ map: cheif_gain_map) -> String? {
    let name: String
    switch map {
    case CHEIF_GAIN_MAP_NONE: return nil
    case CHEIF_GAIN_MAP_APPLE: name = "the gain map (Apple)"
    case CHEIF_GAIN_MAP_ISO: name = "the gain map (ISO 21496-1)"
    default: name = "the gain map"
    }
    return "\(name) is not used, only the base picture"
  }

  private static func transforms(of file: cheif_header) -> [cheif_transform] {
    withUnsafeBytes(of: file.transforms) {
      Array($0.bindMemory(to: cheif_transform.self).prefix(Int(file.transform_count)))
    }
  }

  var planner: any DecodingPlanner { HEIFPlanner(file: file, header: header, options: options) }

  func takeMetadata() throws(DownsampleError) -> ImageMetadata {
    guard options.keepsMetadata, !hasTakenMetadata else { return ImageMetadata() }
    hasTakenMetadata = true
    var error = cheif_error()
    var status = CHEIF_OK
    var metadata = ImageMetadata()
    if file.exif_bytes > 0, file.exif_bytes <= options.mostMetadataBytes {
      metadata.exif = [UInt8](unsafeUninitializedCapacity: file.exif_bytes) { buffer, count in
        status = cheif_get_exif(handle.reader, buffer.baseAddress, &count, &error)
      }
    }
    if file.xmp_bytes > 0, file.xmp_bytes <= options.mostMetadataBytes, status == CHEIF_OK {
      metadata.xmp = [UInt8](unsafeUninitializedCapacity: file.xmp_bytes) { buffer, count in
        status = cheif_get_xmp(handle.reader, buffer.baseAddress, &error)
        count = status == CHEIF_OK ? file.xmp_bytes : 0
      }
    }
    if status != CHEIF_OK { throw Self.failure(error, bridge) }
    return metadata
  }

  var warnings: [String] {
    let losses = cheif_get_losses(handle.reader)
    func tiles(_ lost: UInt32, _ all: UInt32) -> String {
      "\(lost) of \(all) tiles \(lost == 1 ? "is" : "are") missing or damaged"
    }
    var result: [String] = []
    if losses.lost_tiles > 0 { result.append("\(tiles(losses.lost_tiles, losses.tiles)): gray is in their place") }
    if losses.lost_rows > 0 {
      result.append("the last \(losses.lost_rows) of \(file.height) rows are missing: gray is in their place")
    }
    if losses.is_damaged { result.append("the picture is damaged: some of it may look wrong") }
    if losses.lost_alpha_tiles > 0 {
      result.append("alpha: \(tiles(losses.lost_alpha_tiles, losses.alpha_tiles)): the picture is opaque there")
    }
    if losses.lost_alpha { result.append("alpha is missing or damaged: the picture is opaque where it is") }
    return result
  }

  /// Tiles that libavcodec decoded, so far.
  var tilesByLibavcodec: Int { Int(cheif_count_by_avcodec(handle.reader)) }

  var isSalvaged: Bool {
    let losses = cheif_get_losses(handle.reader)
    return losses.lost_tiles > 0 || losses.lost_rows > 0 || losses.is_damaged || losses.lost_alpha_tiles > 0
      || losses.lost_alpha
  }

  func begin(_ strategy: DecodingStrategy, resources: DecodingResources) throws(DownsampleError) -> DecodedLayout {
    threads = strategy.threads
    bridge.permission = resources.mayGoOn
    var error = cheif_error()
    if !file.layout_known {
      guard cheif_settle(handle.reader, Int32(threads), &error) == CHEIF_OK else {
        throw Self.failure(error, bridge)
      }
      file = cheif_get_header(handle.reader)
      header = try Self.header(of: handle.reader, file, bridge, options)
    }
    if let choice = strategy.detail as? HEIFPlanner.Choice, choice == .libavcodec { cheif_use_avcodec(handle.reader) }
    let rows = try decodeRows()
    first = rows
    if header.codedColor == nil, rows.has_nclx {
      header.codedColor = .init(
        primaries: Int(rows.primaries), transfer: Int(rows.transfer), matrix: Int(rows.matrix),
        isFullRange: rows.full_range)
    }
    let planner = HEIFPlanner(file: file, header: header, options: options)
    return planner.layout(
      color: try planner.color(),
      samples: Self.planes(of: rows).map {
        (width: Int($0.width), bits: Int($0.bits), isDeep: $0.bytes_per_sample == 2)
      })
  }

  private static func planes(of rows: cheif_rows) -> [cheif_plane_rows] {
    Array([rows.planes.0, rows.planes.1, rows.planes.2, rows.planes.3].prefix(Int(rows.plane_count)))
  }

  private func decodeRows() throws(DownsampleError) -> cheif_rows {
    var error = cheif_error()
    var rows = cheif_rows()
    guard cheif_next_rows(handle.reader, Int32(threads), &rows, &error) == CHEIF_OK else {
      let failure = Self.failure(error, bridge)
      let mayBeSalvaged = !options.salvages && (file.tiled || file.form.known)
      guard failure.code == .damagedData, mayBeSalvaged else { throw failure }
      throw DownsampleError(.damagedData, "\(failure.message); --salvage makes what there is")
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
    default: return DownsampleError(.damagedData, "the HEIF data are damaged: \(message)")
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
