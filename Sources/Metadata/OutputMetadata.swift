import Raster

/// The metadata that go into an output: made from those of the input before the output is planned, so that what they take is
/// known, and completed once its size and colours are.
public struct OutputMetadata: Sendable {
  /// As it will be written, but for the numbers that `complete` fills in, which make it no longer.
  public private(set) var metadata = ImageMetadata()
  /// What was left out though it was asked for, one sentence each.
  public private(set) var warnings: [String] = []

  private var exif: EXIFEditor.Result?
  private var xmpPatches: [XMPFilter.Patch] = []

  /// The most that each kind is read of, in bytes. A JPEG's hold at most 64 KB a segment; this leaves room for what PNG and HEIF
  /// may hold beside that.
  public static let largestPart = 4 << 20

  /// - Parameters:
  ///   - read: as the file holds them.
  ///   - stripsGPS: positions are taken out of what is kept, and with them the MakerNote, of which nobody can tell.
  ///   - isTurned: whether the output is turned upright; else it keeps its orientation.
  ///   - orientation: the input's. Regions that are given in stored pixels hold only where it is `.up`.
  public init(
    _ read: consuming ImageMetadata, choice: MetadataChoice, stripsGPS: Bool = false, orientation: Orientation = .up,
    isTurned: Bool = true
  ) {
    if choice == .none { return }
    var read = read
    for (name, part) in [("EXIF", \ImageMetadata.exif), ("XMP", \.xmp), ("IPTC", \.iptc)] {
      let count = read[keyPath: part].count
      guard count > Self.largestPart else { continue }
      warnings.append("the \(name) data were left out: they have \(count) bytes, the limit is \(Self.largestPart)")
      read[keyPath: part] = []
    }
    let written: Orientation = isTurned ? .up : orientation
    takeEXIF(&read.exif, choice, stripsGPS, written)
    takeXMP(
      &read.xmp,
      XMPRules(
        rightsOnly: choice == .rights, stripsGPS: stripsGPS, isTurned: isTurned && orientation != .up,
        keepsOrientation: !isTurned))
    if !read.iptc.isEmpty {
      if let edited = IPTCEditor.edit(read.iptc, rightsOnly: choice == .rights) {
        metadata.iptc = edited
      } else {
        warnings.append("the IPTC data were left out: they are damaged")
      }
    }
  }

  private mutating func takeEXIF(
    _ bytes: inout [UInt8], _ choice: MetadataChoice, _ stripsGPS: Bool, _ orientation: Orientation
  ) {
    if bytes.isEmpty { return }
    if choice == .rights {
      if let rights = EXIFRights.extract(from: bytes) {
        metadata.exif = rights
      } else {
        warnings.append(Self.damagedEXIF)
      }
      return
    }
    guard var result = EXIFEditor.edit(take(&bytes), stripsGPS: stripsGPS, orientation: orientation) else {
      warnings.append(Self.damagedEXIF)
      return
    }
    if result.hasDamage { warnings.append("a part of the EXIF data was left out: it is damaged") }
    metadata.exif = take(&result.bytes)
    exif = result
  }

  private static let damagedEXIF = "the EXIF data were left out: they are damaged"

  private mutating func takeXMP(_ bytes: inout [UInt8], _ rules: XMPRules) {
    if bytes.isEmpty { return }
    switch XMPFilter.filter(bytes, rules: rules) {
    case .success(let result):
      metadata.xmp = result.bytes
      xmpPatches = result.patches
    case .failure(.broken): warnings.append("the XMP data were left out: they are damaged")
    case .failure(.noLibrary): warnings.append("the XMP data were left out: reading them needs Expat (libexpat.so.1)")
    }
  }

  /// Fills in what only the output itself says.
  ///
  /// - Parameter size: as displayed, at most 65,535 pixels a side.
  public mutating func complete(size: PixelSize, colorSpace: EXIFColorSpace) {
    if var result = exif {
      exif = nil
      result.bytes = take(&metadata.exif)
      result.complete(width: size.width, height: size.height, colorSpace: colorSpace)
      metadata.exif = take(&result.bytes)
    }
    if !xmpPatches.isEmpty { metadata.xmp = XMPFilter.complete(take(&metadata.xmp), xmpPatches, size) }
    xmpPatches = []
  }

  /// The bytes, which then belong to the caller alone and are changed without being copied.
  private func take(_ bytes: inout [UInt8]) -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }
}
