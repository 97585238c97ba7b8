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
  private let options: ReadingOptions
  private var metadata: ImageMetadata
  /// An interlaced picture is held until all of it is there.
  private var isWhole = false

  private struct Handle: ~Copyable {
    let reader: OpaquePointer
    deinit { cpng_close(reader) }
  }

  private let inflating: cpng_inflating

  convenience init(source: ByteSource, options: ReadingOptions = ReadingOptions()) throws(DownsampleError) {
    try self.init(source: source, options: options, inflating: CPNG_INFLATE_BY_SIZE)
  }

  /// - Parameter inflating: what inflates the picture data. The rows are the same.
  init(
    source: ByteSource, options: ReadingOptions = ReadingOptions(), inflating: cpng_inflating
  ) throws(DownsampleError) {
    self.options = options
    self.inflating = inflating
    bridge = SourceBridge(source)
    var error = cpng_error()
    let callbacks = cpng_source(
      context: bridge.context,
      read: { context, buffer, count in SourceBridge.from(context).read(buffer, count: count) },
      byte_count: source.byteCount.map(UInt64.init) ?? .max)
    let reading = cpng_options(
      keeps_metadata: options.keepsMetadata, most_metadata: options.mostMetadataBytes, salvages: options.salvages,
      inflating: inflating)
    guard let reader = cpng_open(callbacks, reading, &error) else { throw Self.failure(error, bridge) }
    handle = Handle(reader: reader)
    file = cpng_get_header(reader)
    Self.readTail(of: bridge, reader, file, options)
    if let cause = bridge.error { throw cause }
    header = Self.header(of: reader, file)
    metadata = options.keepsMetadata ? Self.metadata(of: reader) : ImageMetadata()
    cpng_drop_metadata(reader)
  }

  /// Enough for EXIF with a thumbnail, and for most XMP.
  private static let tailBytes = 128 << 10

  /// Some programs write metadata behind the picture, and the orientation has to be known before it is decoded.
  private static func readTail(
    of bridge: SourceBridge, _ reader: OpaquePointer, _ file: cpng_header, _ options: ReadingOptions
  ) {
    guard bridge.source.isSeekable, let byteCount = bridge.source.byteCount, !file.has_exif || options.keepsMetadata
    else { return }
    let types = options.keepsMetadata ? ["eXIf", "iTXt", "tEXt", "zTXt"] : ["eXIf"]
    let count = min(byteCount, tailBytes)
    guard mayHold(types.map { Array($0.utf8) }, bridge, byteCount - count..<byteCount) else { return }
    let tail = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
    defer { tail.deallocate() }
    let got = bridge.read(tail.baseAddress, count: count, at: byteCount - count)
    if got == count { cpng_take_tail(reader, tail.baseAddress, count) }
  }

  /// Whether the letters of a chunk's type are anywhere in a part of the file: looked for in little memory, since most files have
  /// nothing there.
  private static func mayHold(_ types: [[UInt8]], _ bridge: SourceBridge, _ range: Range<Int>) -> Bool {
    let blockBytes = 4096
    return withUnsafeTemporaryAllocation(byteCount: blockBytes, alignment: 16) { block in
      var at = range.lowerBound
      while at < range.upperBound {
        let got = bridge.read(block.baseAddress, count: min(blockBytes, range.upperBound - at), at: at)
        if got < 4 { return false }
        for type in types {
          for i in 0...got - 4 where block[i] == type[0] {
            if block[i + 1] == type[1] && block[i + 2] == type[2] && block[i + 3] == type[3] { return true }
          }
        }
        // A type may lie across the blocks' border.
        at += max(1, got - 3)
      }
      return false
    }
  }

  private static func header(of reader: OpaquePointer, _ file: cpng_header) -> ImageHeader {
    let model: ImageHeader.ColorModel = file.color_type == 3 ? .palette : file.color_type & 2 == 0 ? .gray : .rgb
    var header = ImageHeader(
      kind: "PNG", codedSize: PixelSize(width: Int(file.width), height: Int(file.height)), depth: Int(file.bits),
      colorModel: model, arrangement: file.interlaced ? .interlaced : .sequential,
      hasAlpha: file.has_alpha)
    if cpng_has_exif_chunk(reader) {
      let exif = cpng_exif(reader)
      header.orientation = EXIFOrientation.find(in: UnsafeBufferPointer(start: exif.bytes, count: exif.count))
    }
    header.iccProfile = copy(cpng_icc(reader))
    let damaged = cpng_get_findings(reader).damaged
    if file.lost_icc && !(damaged.count > 0 && text(damaged.type) == "iCCP") {
      header.notes.append("the ICC profile was left out: it is damaged, or not one for this kind of picture")
    }
    PNGColor.describe(file.color, hasProfile: !header.iccProfile.isEmpty, in: &header)
    if file.is_animated { header.notes.append("the animation is not used: only the default picture") }
    return header
  }

  private static func metadata(of reader: OpaquePointer) -> ImageMetadata {
    ImageMetadata(exif: copy(cpng_exif(reader)), xmp: copy(cpng_xmp(reader)), iptc: copy(cpng_iptc(reader)))
  }

  private static func copy(_ bytes: cpng_bytes) -> [UInt8] {
    [UInt8](UnsafeBufferPointer(start: bytes.bytes, count: bytes.count))
  }

  var planner: any DecodingPlanner { PNGPlanner(file: file, salvages: options.salvages, inflating: inflating) }

  func takeMetadata() throws(DownsampleError) -> ImageMetadata {
    defer { metadata = ImageMetadata() }
    return metadata
  }

  func begin(_ strategy: DecodingStrategy, resources: DecodingResources) throws(DownsampleError) -> DecodedLayout {
    var error = cpng_error()
    var layout = cpng_layout()
    isWhole = file.interlaced && strategy.layout.order == .topDown
    guard cpng_start(handle.reader, strategy.held.totalBytes, isWhole, &layout, &error) == CPNG_OK else {
      throw Self.failure(error, bridge)
    }
    return strategy.layout
  }

  /// What the strategy's bytes came to so far.
  var mostHeld: Int { cpng_most_held(handle.reader) }

  func nextBand() throws(DownsampleError) -> DecodedBand? {
    var error = cpng_error()
    var band = cpng_band()
    guard cpng_next_band(handle.reader, &band, &error) == CPNG_OK else {
      let failure = Self.failure(error, bridge)
      guard failure.code == .damagedData && !options.salvages else { throw failure }
      throw DownsampleError(failure.code, "\(failure.message); --salvage makes what there is")
    }
    guard band.row_count > 0 else { return nil }
    return DecodedBand(planes: [.init(samples: band.samples, stride: band.stride, count: Int(band.row_count))])
  }

  // MARK: What was odd

  var isSalvaged: Bool {
    let findings = cpng_get_findings(handle.reader)
    return !text(findings.loss).isEmpty || findings.damaged_data > 0
  }

  var warnings: [String] {
    let findings = cpng_get_findings(handle.reader)
    var warnings: [String] = []
    let loss = text(findings.loss)
    if !loss.isEmpty { warnings.append("\(loss): the rest is \(filling)") }
    if findings.damaged_data > 0 {
      warnings.append(
        "\(Self.chunks(Int(findings.damaged_data), "IDAT")) with a wrong checksum: the picture may be damaged")
    }
    if findings.damaged.count > 0 {
      warnings.append(
        "\(Self.chunks(Int(findings.damaged.count), text(findings.damaged.type))) with a wrong checksum, left out")
    }
    if findings.has_extra_data { warnings.append("the file holds more data than the picture has rows") }
    if findings.lacks_end { warnings.append("the file ends before its last chunk: every row is there") }
    if findings.has_late_exif { warnings.append("the EXIF data come after the picture: no orientation was applied") }
    if findings.has_late_metadata { warnings.append("metadata that come after the picture were left out") }
    if findings.lost_metadata {
      warnings.append("metadata that are damaged or larger than \(options.mostMetadataBytes) bytes were left out")
    }
    return warnings
  }

  private var filling: String {
    isWhole ? "made of coarser passes" : file.has_alpha ? "transparent" : "gray"
  }

  private static func chunks(_ count: Int, _ type: String) -> String {
    count == 1 ? "there is a chunk \(type)" : "there are \(count) chunks (the first \(type))"
  }

  private static func failure(_ error: cpng_error, _ bridge: SourceBridge) -> DownsampleError {
    if let cause = bridge.error { return cause }
    let message = text(error.message)
    switch error.status {
    case CPNG_UNSUPPORTED: return DownsampleError(.unsupported, message)
    case CPNG_NO_MEMORY: return DownsampleError(.overBudget, "there is not enough memory: \(message)")
    default:
      let isSentence = message.hasPrefix("the ")
      return DownsampleError(.damagedData, isSentence ? message : "the PNG data are damaged: \(message)")
    }
  }
}
