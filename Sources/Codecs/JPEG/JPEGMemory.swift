import Budget
import CJPEG

/// What decoding a JPEG holds, by its header: libjpeg's own allocations, after the source of libjpeg-turbo, and the store of
/// packed coefficients (docs/coefficient-store.md).
struct JPEGMemory {
  struct Component {
    var h: Int
    var v: Int
    /// The side that a block is decoded to.
    var scaledSize: Int
    /// In blocks.
    var width: Int
    var height: Int

    /// In whole MCUs.
    var paddedWidth: Int { (width + h - 1) / h * h }
    var paddedHeight: Int { (height + v - 1) / v * v }
  }

  let file: cjpeg_header
  let components: [Component]
  let eighths: Int
  /// Planes come as they are coded, else libjpeg joins them to pixels.
  let isRaw: Bool

  var held: [MemoryUse] {
    [
      MemoryUse("JPEG reader", cjpeg_reader_bytes()), MemoryUse("ICC profile", file.icc_bytes),
      MemoryUse("libjpeg", libraryBytes), MemoryUse("libjpeg, code", Self.codeBytes),
    ]
  }

  /// The library's pages that are first touched when decoding begins: most of it, as the kernel maps them in runs.
  private static let codeBytes = 640 << 10
  /// Tables and objects, and what libjpeg's pools take more than is asked for.
  private static let tableBytes = 128 << 10

  private var mostH: Int { components.map(\.h).max() ?? 1 }
  private var mostV: Int { components.map(\.v).max() ?? 1 }

  /// What libjpeg may allocate: rows of samples, and what does not depend on the picture's size.
  var libraryBytes: Int { Self.tableBytes + (isRaw ? rawRowBytes : pixelRowBytes) }

  /// As counted in memory.c: padded rows, and a pointer for each.
  private static func rows(_ count: Int, of samples: Int) -> Int { count * (samples + 64 + 8) + 64 }

  /// The rows of one row of MCUs.
  private var rawRowBytes: Int {
    components.reduce(0) { sum, component in
      let count = max(component.v * component.scaledSize, mostV * eighths)
      return sum + Self.rows(count, of: component.width * component.scaledSize)
    }
  }

  /// Rows before upsampling, with context above and below and pointers to both (jdmainct.c), upsampled rows (jdsample.c), and
  /// the row of pixels.
  private var pixelRowBytes: Int {
    let outputWidth = (Int(file.width) * eighths + 7) / 8
    let upsampledWidth = (outputWidth + mostH - 1) / mostH * mostH
    let pixels = outputWidth * (file.color == CJPEG_RGB ? 3 : 4) + 64
    return components.reduce(pixels) { sum, component in
      let group = max(1, component.v * component.scaledSize / eighths)
      let input = Self.rows(group * (eighths + 2), of: component.width * component.scaledSize)
      let pointers = 2 * group * (eighths + 4) * 8 + 64
      return sum + input + pointers + Self.rows(mostV, of: upsampledWidth)
    }
  }

  // MARK: Coefficients

  /// Sizes in store.c and blocks.h.
  private static let chunkBytes = 512
  private static let blockBytes = 128
  private static let mostPackedBytes = 167
  private static let rowBytes = 48

  func coefficients(fileBytes: Int?) -> DecodingStrategy.Spillable {
    let least = leastStoreBytes
    return .init(
      name: "coefficients", wanted: least + packedBytes(fileBytes: fileBytes), least: least)
  }

  /// Unpacked rows, as many as libjpeg may want at once (jdcoefct.c: five rows of MCUs for block smoothing), one packed row,
  /// and what is known of each row.
  private var leastStoreBytes: Int {
    let windows = components.reduce(0) { sum, component in
      let rows = component.v * (file.progressive ? 5 : 1)
      return sum + rows * (component.paddedWidth * Self.blockBytes + 16) + component.paddedHeight * Self.rowBytes
    }
    let longest = components.map(\.paddedWidth).max() ?? 0
    return windows + longest * Self.mostPackedBytes + (32 << 10)
  }

  private func packedBytes(fileBytes: Int?) -> Int {
    let blocks = components.reduce(0) { $0 + $1.width * $1.height }
    let rows = components.reduce(0) { $0 + $1.paddedHeight }
    let metadata = file.exif_bytes + file.icc_bytes
    let perBlock = fileBytes.map { Double(max(0, $0 - metadata)) / Double(max(1, blocks)) } ?? Self.usualBytesPerBlock
    // Arithmetic coding says the same in fewer bytes.
    let density = file.arithmetic ? perBlock * 1.15 : perBlock
    let packed = components.reduce(0.0) { sum, component in
      sum + Double(component.width * component.height) * Self.packedPerBlock(density, component.scaledSize)
    }
    // Each row ends in a chunk that is not full, for the first coefficients and for the others.
    return Int(packed) + rows * 2 * Self.chunkBytes
  }

  /// Where the file's size is not known: a photo of very high quality.
  private static let usualBytesPerBlock = 20.0

  /// Bytes that a packed block takes at most, by the bytes that it takes in the file: the envelope of what was measured on
  /// photos and noise at qualities of 30 to 100, for blocks decoded to 8, 4, 2 and 1 samples.
  private static let measured: [(inFile: Double, packed: (Double, Double, Double, Double))] = [
    (0, (2.2, 2.2, 2.2, 2.2)), (1, (5.3, 5.3, 5.3, 5.3)), (2, (7.8, 7.8, 7.6, 7.2)), (4, (11.5, 10.5, 10.2, 8.6)),
    (8, (15.4, 13.8, 12.2, 9.4)), (12, (21.2, 18.3, 14.4, 10.4)), (17, (29.9, 27.5, 20.6, 13.8)),
    (26, (40, 35, 25, 15)), (31, (47.5, 41.5, 30, 16)), (44, (66, 56, 38, 18)), (60, (115, 95, 60, 22)),
    (120, (175, 155, 115, 42)),
  ]

  private static func packedPerBlock(_ inFile: Double, _ scaledSize: Int) -> Double {
    func packed(_ index: Int) -> Double {
      let of = measured[index].packed
      return scaledSize > 4 ? of.0 : scaledSize > 2 ? of.1 : scaledSize > 1 ? of.2 : of.3
    }
    guard let next = measured.firstIndex(where: { $0.inFile > inFile }) else { return packed(measured.count - 1) }
    let part = (inFile - measured[next - 1].inFile) / (measured[next].inFile - measured[next - 1].inFile)
    return packed(next - 1) + (packed(next) - packed(next - 1)) * part
  }
}
