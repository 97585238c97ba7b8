import Budget
import CPNG
import Raster

/// How a PNG can be decoded.
struct PNGPlanner: DecodingPlanner {
  let file: cpng_header
  let salvages: Bool
  var inflating = CPNG_INFLATE_BY_SIZE

  func strategies(target: PixelSize, threads: Int, isLinear: Bool) -> [DecodingStrategy] {
    let byRow = DecodingStrategy(
      name: file.interlaced ? "interlaced, pass by pass" : "row by row", layout: layout,
      isStreamed: true, held: held)
    guard file.interlaced && salvages else { return [byRow] }
    // What is missing of later passes can be made of the earlier ones where these are still there.
    var whole = layout
    whole.order = .topDown
    let plane = whole.planes[0].layout
    let (bytes, isTooMuch) = plane.bytesPerRow.multipliedReportingOverflow(by: plane.height)
    let picture = MemoryUse("whole picture, to be salvaged", isTooMuch ? .max >> 8 : bytes)
    return [
      DecodingStrategy(name: "interlaced, held whole to be salvaged", layout: whole, held: held + [picture]), byRow,
    ]
  }

  /// What libpng and zlib hold, and the row that is handed on.
  private var held: [MemoryUse] {
    let plane = layout.planes[0].layout
    // libpng rounds its rows up to whole bytes of one-bit pixels, and adds a pixel, the filter's byte and room to align them.
    let row = (plane.width + 7) / 8 * 8 * plane.bytesPerPixel + plane.bytesPerPixel + 1 + 48
    var result = [
      MemoryUse("libpng: this row and the one above", 2 * row), MemoryUse("libpng and zlib", Self.fixedBytes),
      MemoryUse("row", plane.bytesPerRow),
    ]
    let inflater = withUnsafePointer(to: file) { cpng_inflater_memory($0, inflating) }
    if inflater > 0 {
      result += [MemoryUse("ISA-L and its buffers", inflater), MemoryUse("ISA-L's code", Self.libraryBytes)]
    }
    return result
  }

  /// What does not depend on the picture: zlib's window of 32 KB and its state of 7 (zlib 1.2.13), libpng's input buffer of 8 KB,
  /// its structures and tables of 3 (libpng 1.6.39), and as much again as other versions may differ by.
  private static let fixedBytes = 72 << 10

  /// The pages of the library that come with opening it and are used: 330 KB were seen (ISA-L 2.30), 390 now and then.
  static let libraryBytes = 448 << 10

  /// After libpng's expansion: palettes become RGB, tRNS becomes alpha, fewer bits than 8 become 8.
  private var layout: DecodedLayout {
    let size = PixelSize(width: Int(file.width), height: Int(file.height))
    let isColor = file.color_type & 2 != 0
    let channels = (isColor ? 3 : 1) + (file.has_alpha ? 1 : 0)
    let isDeep = file.bits == 16
    return DecodedLayout(
      color: isColor ? .rgb : .gray(isFullRange: true), alpha: file.has_alpha ? .straight : .none,
      planes: [
        .init(
          layout: PlaneLayout(
            width: size.width, height: size.height, channels: channels, sampleType: isDeep ? .uint16 : .uint8,
            maximum: isDeep ? 65535 : 255),
          box: SourceBox(x: 0, y: 0, width: Double(size.width), height: Double(size.height)))
      ], order: file.interlaced ? .adam7 : .topDown)
  }
}
