import Budget
import Raster

extension PNGEncoder {
  /// What libpng and zlib hold while they encode.
  static func memory(layout: EncodedLayout, settings: EncoderSettings) -> [MemoryUse] {
    let iccProfileBytes = settings.iccProfile.count
    let plane = layout.planes[0]
    // This row, the one above, and two to try filters in, each with a byte for the filter.
    let rows = 4 * (plane.bytesPerRow + 1)
    var result = [MemoryUse("libpng: rows and filters", rows), MemoryUse("zlib and libpng", fixedBytes)]
    if iccProfileBytes > 0 {
      // libpng's copy, and what it becomes: at worst as much, in blocks of 8 KB. Both are gone when rows come.
      result.append(MemoryUse("profile", 2 * iccProfileBytes + iccProfileBytes / 100 + (16 << 10)))
    }
    let iptcBytes = settings.metadata.iptc.count
    if iptcBytes > 0 { result.append(MemoryUse("IPTC as text", PNGText.byteCount(iptc: iptcBytes))) }
    return result
  }

  /// zlib's windows and tables of 262 KB and its state of 6 (zlib 1.2.13, deflateInit2 with 15 bits and memory level 8), libpng's
  /// output buffer of 8 KB and its structures of 2 (libpng 1.6.39), and what other versions may differ by.
  private static let fixedBytes = 320 << 10
}
