import Raster

/// The bound on pictures that have to be held in memory as a whole, so that a small file which claims a large picture cannot
/// take the machine's memory.
enum HeldWhole {
  /// 2 GB: 340 megapixels of progressive 4:4:4, 700 of 4:2:0.
  static let mostBytes = 2 << 30

  /// - Throws: `.overBudget` with both figures.
  static func check(_ bytes: Int, _ what: String) throws(DownsampleError) {
    if bytes <= mostBytes { return }
    throw DownsampleError(
      .overBudget, "\(what) needs \(bytes >> 20) MB at once, \(mostBytes >> 20) MB are allowed")
  }
}
