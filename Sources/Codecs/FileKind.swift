import Raster

/// What a file is, by its first bytes.
enum FileKind: Equatable {
  case jpeg
  case png
  /// HEIC, AVIF and their relatives.
  case heif
  /// A known kind that nothing here decodes.
  case unsupported(String)
  /// Not an image that is known, and why.
  case unknown(String)

  init(of source: ByteSource) throws(DownsampleError) { self.init(prefix: try Self.prefix(of: source)) }

  /// The kinds that a decoder reads.
  enum Decodable {
    case jpeg, png, heif
  }

  /// - Throws: `.unsupported` and `.damagedData` for all others.
  func decodable() throws(DownsampleError) -> Decodable {
    switch self {
    case .jpeg: .jpeg
    case .png: .png
    case .heif: .heif
    case .unsupported(let name): throw DownsampleError(.unsupported, "\(name) is not supported")
    case .unknown(let cause): throw DownsampleError(.damagedData, cause)
    }
  }

  /// What of a file is looked at, in bytes.
  static let mostBytes = 4096

  /// How the source goes on: up to `mostBytes` bytes.
  static func prefix(of source: ByteSource) throws(DownsampleError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: mostBytes)
    var failure: DownsampleError?
    var count = 0
    bytes.withUnsafeMutableBytes { buffer in
      do throws(DownsampleError) { count = try source.peek(into: buffer) } catch { failure = error }
    }
    if let failure { throw failure }
    return Array(bytes[..<count])
  }

  /// - Parameter prefix: the first bytes of the file, up to `mostBytes`.
  init(prefix: [UInt8]) {
    self =
      Self.decodable(prefix) ?? Self.signature(prefix) ?? Self.isoMedia(prefix) ?? Self.tiff(prefix)
      ?? Self.textual(prefix)
      ?? .unknown(prefix.isEmpty ? "the file is empty" : "this is not an image of a known kind")
  }

  private static func decodable(_ prefix: [UInt8]) -> FileKind? {
    if prefix.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
    guard prefix.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else { return nil }
    // Xcode's PNG for iOS: raw deflate, blue and red exchanged, alpha premultiplied.
    return has(prefix, "CgBI", at: 12) ? .unsupported("a PNG made for iOS by Xcode (CgBI)") : .png
  }

  private static func has(_ prefix: [UInt8], _ text: String, at offset: Int = 0) -> Bool {
    prefix.dropFirst(offset).starts(with: text.utf8)
  }

  static let signatures: [(text: String, offset: Int, name: String)] = [
    ("GIF8", 0, "GIF"), ("BM", 0, "BMP"), ("%PDF-", 0, "PDF"), ("8BPS", 0, "Photoshop's PSD"),
    ("%!PS", 0, "PostScript"), ("qoif", 0, "QOI"), ("DDS ", 0, "DDS"), ("#?RADIANCE", 0, "Radiance HDR"),
    ("FLIF", 0, "FLIF"), ("AT&TFORM", 0, "DjVu"), ("JXL ", 4, "JPEG XL"), ("jP  ", 4, "JPEG 2000"),
    ("WEBP", 8, "WebP"), ("FUJIFILMCCD-RAW", 0, "camera raw (RAF)"), ("FOVb", 0, "camera raw (X3F)"),
    ("\0MRM", 0, "camera raw (MRW)"), ("IIRO", 0, "camera raw (ORF)"), ("IIRS", 0, "camera raw (ORF)"),
    ("MMOR", 0, "camera raw (ORF)"), ("IIU\0", 0, "camera raw (RW2)"), ("HEAPCCDR", 6, "camera raw (CRW)"),
    ("\0\0\u{1}\0", 0, "ICO"), ("\0\0\u{2}\0", 0, "ICO"),
  ]

  private static func signature(_ prefix: [UInt8]) -> FileKind? {
    if prefix.starts(with: [0xFF, 0x0A]) { return .unsupported("JPEG XL") }
    if prefix.starts(with: [0xFF, 0x4F, 0xFF, 0x51]) { return .unsupported("JPEG 2000") }
    if prefix.starts(with: [0xFF, 0xD8]) { return .unknown("the JPEG data is damaged: no marker follows the first") }
    if prefix.starts(with: [0x76, 0x2F, 0x31, 0x01]) { return .unsupported("OpenEXR") }
    if prefix.count > 2, prefix[0] == UInt8(ascii: "P"), (0x31...0x37).contains(prefix[1]),
      [0x0A, 0x0D, 0x20].contains(prefix[2])
    {
      return .unsupported("PNM")
    }
    for known in signatures where has(prefix, known.text, at: known.offset) {
      // Two letters are too few to be sure: BMP's header also has its own length.
      if known.name == "BMP", prefix.count < 18 || ![12, 40, 52, 56, 64, 108, 124].contains(prefix[14]) { continue }
      return .unsupported(known.name)
    }
    return nil
  }

  private static let heifBrands: Set<String> = [
    "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "mif2", "mif3", "msf1", "avif", "avis", "avio", "miaf",
    "jpeg", "jpgs", "j2ki", "j2is", "vvic", "vvis", "evbi", "evbs", "avci", "avcs",
  ]

  /// The brands of a file type box of ISO/IEC 14496-12: its length, "ftyp", the major brand, a version, compatible brands.
  /// None where there is no such box.
  static func brands(_ prefix: [UInt8]) -> [String] {
    guard has(prefix, "ftyp", at: 4), prefix.count >= 12 else { return [] }
    let length = prefix[..<4].reduce(0) { $0 << 8 | Int($1) }
    func brand(_ offset: Int) -> String { String(decoding: prefix[offset..<offset + 4], as: UTF8.self) }
    let end = min(max(length, 16), prefix.count)
    return [brand(8)] + stride(from: 16, through: end - 4, by: 4).map(brand)
  }

  private static func isoMedia(_ prefix: [UInt8]) -> FileKind? {
    let brands = Self.brands(prefix)
    guard let major = brands.first else { return nil }
    if major == "crx " { return .unsupported("camera raw (CR3)") }
    if !heifBrands.isDisjoint(with: brands) { return .heif }
    return .unsupported("a video or another ISO media file (\(major.filter(\.isASCII)))")
  }

  /// TIFF (6.0, section 2), and the raw files of cameras that are built like it.
  private static func tiff(_ prefix: [UInt8]) -> FileKind? {
    let isLittleEndian = has(prefix, "II*\0")
    guard isLittleEndian || has(prefix, "MM\0*") || has(prefix, "II+\0") || has(prefix, "MM\0+") else { return nil }
    if has(prefix, "CR", at: 8) { return .unsupported("camera raw (CR2)") }
    func value(_ offset: Int, _ bytes: Int) -> Int? {
      guard offset >= 0, offset + bytes <= prefix.count else { return nil }
      return (0..<bytes).reduce(0) { $0 << 8 | Int(prefix[offset + (isLittleEndian ? bytes - 1 - $1 : $1)]) }
    }
    guard let directory = value(4, 4), let count = value(directory, 2) else { return .unsupported("TIFF") }
    let tags = Set((0..<count).compactMap { value(directory + 2 + $0 * 12, 2) })
    let dngVersion = 0xC612
    let (make, subdirectories) = (0x010F, 0x014A)
    if tags.contains(dngVersion) { return .unsupported("camera raw (DNG)") }
    if tags.contains(make), tags.contains(subdirectories) { return .unsupported("camera raw") }
    return .unsupported("TIFF")
  }

  private static func textual(_ prefix: [UInt8]) -> FileKind? {
    let text = String(decoding: prefix, as: UTF8.self)
    if text.contains("<svg") { return .unsupported("SVG") }
    return nil
  }
}
