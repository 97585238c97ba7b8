import CPNG
import Raster

/// How a PNG can be decoded.
struct PNGPlanner: DecodingPlanner {
  let file: cpng_header

  func strategies(target: PixelSize, threads: Int) -> [DecodingStrategy] {
    [
      DecodingStrategy(
        name: file.interlaced ? "interlaced, decoded whole" : "row by row", layout: layout, held: [])
    ]
  }

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
      ])
  }
}
