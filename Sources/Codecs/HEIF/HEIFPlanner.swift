import CHEIF
import Raster

/// How a HEIF picture can be decoded.
struct HEIFPlanner: DecodingPlanner {
  let file: cheif_header
  let header: ImageHeader
  let options: ReadingOptions

  /// Which decoder is tried first.
  enum Choice: Sendable { case libavcodec, usual }

  func strategies(target: PixelSize, threads: Int, isLinear: Bool) -> [DecodingStrategy] {
    // A picture that is not tiled gains nothing by threads, and dav1d holds a frame more for each: 12 megapixels of AVIF took
    // 52 MB and 0.17 s of CPU on one, 106 MB and 0.23 s on two.
    let memory = HEIFMemory(file: file)
    let most = max(1, min(threads, memory.mostThreads))
    let choices: [Choice] = triesLibavcodec ? [.libavcodec, .usual] : [.usual]
    return (1...most).reversed().flatMap { threads in
      choices.map { choice in
        let (held, passing) = memory.uses(threads: threads, byLibavcodec: choice == .libavcodec)
        let tiles = "tiles of \(file.tile_width)x\(file.tile_height), \(threads) at once"
        return DecodingStrategy(
          name: !file.tiled ? "decoded whole" : choice == .libavcodec ? "\(tiles), by libavcodec" : tiles,
          layout: expectedLayout, threads: threads, held: held, passing: passing, detail: choice)
      }
    }
  }

  /// From so many pixels on what libavcodec gains is worth its 6 MB. It is a little faster from two million on
  /// (docs/performance.md).
  private static let leastForLibavcodec = 8_000_000

  private var triesLibavcodec: Bool {
    guard file.tiled, file.form.known, text(file.codec) == "hvc1", file.layout == CHEIF_LAYOUT_420, file.form.bits == 8,
      !options.salvages, options.usesLibavcodec ?? (Int(file.width) * Int(file.height) >= Self.leastForLibavcodec)
    else { return false }
    return cheif_finds_avcodec()
  }

  /// What the header announces.
  private var expectedLayout: DecodedLayout {
    let count = file.layout == CHEIF_LAYOUT_MONOCHROME ? 1 : 3
    var samples = (0..<count).map { index in
      let bits = Int(index == 0 || file.layout == CHEIF_LAYOUT_RGB ? file.luma_bits : file.chroma_bits)
      return (width: width(ofPlane: index), bits: bits, isDeep: bits > 8)
    }
    if file.has_alpha {
      samples.append((Int(file.alpha_width), Int(file.alpha_bits), file.alpha_bits > 8))
    }
    return layout(color: (try? color()) ?? .ycbcr(.jpeg), samples: samples)
  }

  /// - Parameter samples: of each plane, samples in a row, their bits, and whether they are 16-bit words; alpha last.
  func layout(color: DecodedColor, samples: [(width: Int, bits: Int, isDeep: Bool)]) -> DecodedLayout {
    DecodedLayout(
      color: color, alpha: !file.has_alpha ? .none : file.alpha_premultiplied ? .premultiplied : .straight,
      planes: samples.enumerated().map { index, plane in
        let isAlpha = file.has_alpha && index == samples.count - 1
        let layout = PlaneLayout(
          width: plane.width, height: height(ofPlane: index, isAlpha: isAlpha), channels: 1,
          sampleType: plane.isDeep ? .uint16 : .uint8, maximum: (1 << plane.bits) - 1)
        let (x, y) =
          isAlpha
          ? (Double(file.alpha_width) / Double(file.width), Double(file.alpha_height) / Double(file.height))
          : index == 0 ? (1, 1) : chromaScale
        let crop = header.crop
        return DecodedLayout.Plane(
          layout: layout,
          box: SourceBox(
            x: Double(crop.x) * x, y: Double(crop.y) * y, width: Double(crop.width) * x, height: Double(crop.height) * y
          ), siting: index == 0 || isAlpha ? .center : chromaSiting)
      })
  }

  /// - Throws: `.unsupported` for a matrix that is not known.
  func color() throws(DownsampleError) -> DecodedColor {
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
    return index == 0 || chromaScale.1 == 1 ? coded : (coded + 1) / 2
  }

  private func width(ofPlane index: Int) -> Int {
    let coded = Int(file.width)
    return index == 0 || chromaScale.0 == 1 ? coded : (coded + 1) / 2
  }

  /// Where nothing is said, chroma lies on the left column and between the rows: HEVC's chroma_sample_loc_type 0 is inferred
  /// (ITU-T H.265, E.3.1), and AV1's CSP_UNKNOWN taken for CSP_VERTICAL, which says the same, as its encoders do.
  private var chromaSiting: DecodedLayout.Plane.Siting {
    DecodedLayout.Plane.Siting(left: chromaScale.0 == 1 ? 0 : 0.25)
  }

  private var chromaScale: (Double, Double) {
    file.layout == CHEIF_LAYOUT_420 ? (0.5, 0.5) : file.layout == CHEIF_LAYOUT_422 ? (0.5, 1) : (1, 1)
  }
}
