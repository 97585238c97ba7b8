import Budget
import CHEIF
import Raster

extension HEIFEncoder {
  /// What encoding will hold. The formulas are fitted to the peaks of whole runs (docs/heif-output.md); where the content
  /// decides, they assume the worst: noise of black and white.
  static func memory(layout: EncodedLayout, settings: EncoderSettings, format: OutputFormat) -> [MemoryUse] {
    let tiling = tiling(layout.size, format: format)
    let area = Int(tiling.width) * Int(tiling.height)
    let count = Int(tiling.columns) * Int(tiling.rows)
    let color = coded(layout, settings)
    let perSample = codedBytes(perThousandSamples: settings.quality)
    // A picture of one plane is all luma, which takes more.
    let colorBytes = perSample * (color == CHEIF_LAYOUT_MONOCHROME ? 5 : 4) / 4 * samples(area, color) / 1000
    let alphaBytes = layout.hasAlpha ? perSample * 5 / 4 * area / 1000 : 0
    let coded = count * (colorBytes + alphaBytes + bytesPerTile)

    let ahead = layout.color == .ycbcr420 ? mostRowsAhead * layout.size.width * 3 / 2 : 0
    let band = Int(tiling.columns) * (samples(area, color) + (layout.hasAlpha ? area : 0)) + ahead
    let encoder = encoderBytes(area: area, color: color, format: format, effort: settings.effort)
    let encoding = band + encoder + copiesOfTile * max(colorBytes, alphaBytes) + coded
    // libheif puts the file together beside the coded tiles, in a buffer that doubles as it grows; the tiles' places and
    // the encoder are gone by then. What that takes beyond the rest is named here as the coded data's.
    let writing = 3 * coded
    var uses = [
      MemoryUse("code and tables of libheif and the encoder", format == .heic ? 17 << 19 : 15 << 19),
      MemoryUse("row of tiles", band), MemoryUse("encoder, one tile", encoder),
      MemoryUse("coded data", max(encoding, writing) - band - encoder),
      MemoryUse("colour conversion", layout.size.width * 8),
      // In our copy and box, in libheif's, and in the file that it puts together, in buffers that double.
      MemoryUse("ICC profile", settings.iccProfile.count * 6),
    ]
    // Ours, libheif's, and in the file that it puts together, in a buffer that doubles.
    let metadata = settings.metadata.exif.count + settings.metadata.xmp.count
    if metadata > 0 { uses.append(MemoryUse("metadata in the file", metadata * 5)) }
    return uses
  }

  /// Boxes and places of an item, in bytes.
  private static let bytesPerTile = 2048

  /// The coded data of a tile while it passes from the encoder's own buffers to libheif.
  private static let copiesOfTile = 3

  /// Rows by which a plane is ahead of another that the pipeline fills in step.
  private static let mostRowsAhead = 48

  private static func samples(_ area: Int, _ layout: cheif_layout) -> Int {
    switch layout {
    case CHEIF_LAYOUT_MONOCHROME: return area
    case CHEIF_LAYOUT_420: return area * 3 / 2
    case CHEIF_LAYOUT_422: return area * 2
    default: return area * 3
    }
  }

  /// libaom codes gray as 4:2:0 with empty chroma, and searches more, in more buffers, the slower it is.
  private static func encoderBytes(area: Int, color: cheif_layout, format: OutputFormat, effort: Int) -> Int {
    // The slowest searches touch more of x265's code.
    if format == .heic { return samples(area, color) * 10 + (effort >= 7 ? 1 << 20 : 0) }
    let planes = color == CHEIF_LAYOUT_MONOCHROME ? CHEIF_LAYOUT_420 : color
    let perSample = effort <= 3 ? 14 : effort == 4 ? 18 : effort == 5 ? 22 : 26
    // The slowest search tables are of one size.
    return samples(area, planes) * perSample + (effort >= 6 ? 1 << 20 : 0)
  }

  /// What black and white noise takes, of both encoders the one that takes more; straight lines between the measured
  /// qualities. Photos take a quarter of it.
  private static func codedBytes(perThousandSamples quality: Int) -> Int {
    let points = [(1, 210), (10, 270), (30, 410), (50, 550), (70, 660), (85, 780), (95, 980), (100, 1320)]
    let next = points.firstIndex { $0.0 >= quality } ?? points.count - 1
    if next == 0 { return points[0].1 }
    let ((x0, y0), (x1, y1)) = (points[next - 1], points[next])
    return y0 + (quality - x0) * (y1 - y0) / (x1 - x0)
  }
}
