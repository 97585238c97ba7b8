import CJPEG
import Raster

/// How a JPEG can be decoded: the inverse DCT at 8/8, 4/8, 2/8 or 1/8.
struct JPEGPlanner: DecodingPlanner {
  let file: cjpeg_header
  let size: PixelSize
  /// Of the whole file, where it is known.
  let fileBytes: Int?

  /// What the decoder needs to know of a strategy.
  struct Detail: Sendable {
    var eighths: Int
    /// What libjpeg may allocate.
    var libraryBytes: Int
  }

  func strategies(target: PixelSize, threads: Int, isLinear: Bool) -> [DecodingStrategy] {
    let ratio = min(Double(size.width) / Double(target.width), Double(size.height) / Double(target.height))
    let preferred = isLinear ? 8 : Self.eighths(for: ratio)
    let stronger = Self.fastEighths.reversed().filter { $0 < preferred && ratio * Double($0) / 8 >= 1 }
    return [strategy(preferred, warning: nil)]
      + stronger.map { eighths in
        let left = (ratio * Double(eighths) / 8 * 10).rounded(.down) / 10
        return strategy(
          eighths,
          warning: isLinear
            ? "decoded at \(eighths)/8 to save memory: what that averages is not averaged as light"
            : "decoded at \(eighths)/8 to save memory: \(left) times the result, where "
              + "\(leastPreshrinkRatio) looks best")
      }
  }

  private func strategy(_ eighths: Int, warning: String?) -> DecodingStrategy {
    let memory = JPEGMemory(file: file, components: components(eighths), eighths: eighths, isRaw: isPlanar)
    let packed = file.multi_scan ? ", packed coefficients" : ""
    return DecodingStrategy(
      name: "inverse DCT at \(eighths)/8, \(isPlanar ? "planes" : "interleaved")\(packed)", layout: layout(eighths),
      isStreamed: true, held: memory.held, spillable: file.multi_scan ? memory.coefficients(fileBytes: fileBytes) : nil,
      warning: warning,
      detail: Detail(eighths: eighths, libraryBytes: memory.libraryBytes))
  }

  /// Every component of the file, as libjpeg decodes it.
  private func components(_ eighths: Int) -> [JPEGMemory.Component] {
    let all = [
      (file.h_samp.0, file.v_samp.0), (file.h_samp.1, file.v_samp.1), (file.h_samp.2, file.v_samp.2),
      (file.h_samp.3, file.v_samp.3),
    ]
    let factors = all.prefix(Int(file.components)).map { (Int($0.0), Int($0.1)) }
    let mostH = factors.map(\.0).max() ?? 1
    let mostV = factors.map(\.1).max() ?? 1
    return factors.map { h, v in
      JPEGMemory.Component(
        h: h, v: v, scaledSize: Self.scaledSize(eighths, h: h, v: v, mostH: mostH, mostV: mostV),
        width: blocks(Int(file.width) * h, mostH), height: blocks(Int(file.height) * v, mostV))
    }
  }

  private func blocks(_ samples: Int, _ most: Int) -> Int { (samples + 8 * most - 1) / (8 * most) }

  private var isPlanar: Bool { file.color == CJPEG_GRAY || file.color == CJPEG_YCBCR }

  private func layout(_ eighths: Int) -> DecodedLayout {
    let factors = [
      (Int(file.h_samp.0), Int(file.v_samp.0)), (Int(file.h_samp.1), Int(file.v_samp.1)),
      (Int(file.h_samp.2), Int(file.v_samp.2)),
    ]
    let count = isPlanar ? Int(file.components) : 1
    let mostH = isPlanar ? factors.prefix(count).map(\.0).max()! : 1
    let mostV = isPlanar ? factors.prefix(count).map(\.1).max()! : 1
    let channels = isPlanar ? 1 : file.color == CJPEG_RGB ? 3 : 4
    let planes = (0..<count).map { index in
      let (h, v) = isPlanar ? factors[index] : (1, 1)
      let scaled = Self.scaledSize(eighths, h: h, v: v, mostH: mostH, mostV: mostV)
      let scale = Double(scaled) / 8
      // The picture covers a fraction of the last sample, where sides are odd or the decoder rounded up.
      let box = SourceBox(
        x: 0, y: 0, width: Double(file.width) * Double(h) / Double(mostH) * scale,
        height: Double(file.height) * Double(v) / Double(mostV) * scale)
      return DecodedLayout.Plane(
        layout: PlaneLayout(
          width: Int(box.width.rounded(.up)), height: Int(box.height.rounded(.up)), channels: channels,
          sampleType: .uint8, maximum: 255),
        box: box)
    }
    let color: DecodedColor =
      switch file.color {
      case CJPEG_GRAY: .gray(isFullRange: true)
      case CJPEG_YCBCR: .ycbcr(.jpeg)
      case CJPEG_RGB: .rgb
      default: .cmyk(isInverted: file.adobe_marker)
      }
    return DecodedLayout(color: color, alpha: .none, planes: planes)
  }

  /// The side that libjpeg makes of a block of a component: the scale's, doubled as long as that saves upsampling and stays
  /// within 8 (jdmaster.c).
  private static func scaledSize(_ eighths: Int, h: Int, v: Int, mostH: Int, mostV: Int) -> Int {
    var size = eighths
    while size < 8, (mostH * eighths) % (h * size * 2) == 0, (mostV * eighths) % (v * size * 2) == 0 { size *= 2 }
    return size
  }

  /// Those with fast transforms in libjpeg-turbo: at 5/8 to 7/8, chroma would come larger and cost more than is saved.
  private static let fastEighths = [1, 2, 4, 8]

  /// The smallest scale that still leaves enough pixels.
  private static func eighths(for ratio: Double) -> Int {
    fastEighths.first { ratio * Double($0) / 8 >= leastPreshrinkRatio } ?? 8
  }
}
