import Budget
import CHEIF

/// What decoding a HEIF picture holds, from its header alone. The constants were read out of libde265 1.0.11's and dav1d 1.0's
/// allocations and checked against measured peaks: see docs/heif.md. All sums are of sizes that the header claims, so they
/// stop at `Int.max`.
struct HEIFMemory {
  let file: cheif_header

  /// One picture or tile that libde265 or dav1d decodes.
  struct CodedPicture {
    /// What remains of it.
    var frame: Int
    /// What decoding takes beside that: notes about blocks, copies that filters make, the decoder itself.
    var work: Int
    /// The coded data, which libheif holds three times while it hands them out.
    var coded: Int

    /// What is held beside `frame` while it is being decoded.
    var passing: Int { max(work &+ coded, 3 * coded - frame) }
  }

  private static let megabyte = 1 << 20
  /// What libheif may keep of coded data before it is made to forget it, and more.
  private static let keptCodedBytes = megabyte

  /// Code and tables that come into memory only when decoding begins: up to 1.5 MB were measured with small pictures.
  private static let libraryPages = 2 * megabyte

  /// Bytes that no header can claim in earnest: sums of several are still no overflow.
  private static let most = Int.max >> 8

  private static func bytes(_ factors: Int...) -> Int {
    factors.reduce(1) { product, factor in
      let (result, isTooMuch) = product.multipliedReportingOverflow(by: factor)
      return isTooMuch || result > most ? most : result
    }
  }

  private static func up(_ value: Int, to multiple: Int) -> Int { (value + multiple - 1) / multiple * multiple }

  private static func planes(_ layout: cheif_layout) -> [(across: Int, down: Int)] {
    switch layout {
    case CHEIF_LAYOUT_MONOCHROME: [(1, 1)]
    case CHEIF_LAYOUT_420: [(1, 1), (2, 2), (2, 2)]
    case CHEIF_LAYOUT_422: [(1, 1), (2, 1), (2, 1)]
    default: [(1, 1), (1, 1), (1, 1)]
    }
  }

  /// - Parameter coded: the coded data's bytes.
  static func picture(_ form: cheif_coded_form, isAV1: Bool, coded: Int) -> CodedPicture {
    let (width, height) = (Int(form.width), Int(form.height))
    let sampleBytes = form.bits > 8 ? 2 : 1
    var frame = 0
    for (across, down) in planes(form.layout) {
      // dav1d wants whole blocks of 128, and a stride that is no power of two.
      let stride =
        isAV1
        ? up(width, to: 128) / across * sampleBytes + 64 : up((width + across - 1) / across * sampleBytes, to: 64)
      frame += bytes(stride, (isAV1 ? up(height, to: 128) : height + down - 1) / down) + 64
    }
    let pixels = bytes(width, height)
    var work = bytes(frame, Int(form.pictures) - 1)
    if isAV1 {
      // A pixel: 4/16 filter levels, 1.3 KB of masks in 128x128, 1/16 segments, 5/64 motion. Line buffers. Code and tables.
      work += pixels / 2 + bytes(width, 100 * sampleBytes) + 5 * megabyte / 2
    } else {
      // A pixel: 4/16 block addresses, 2/16 prediction modes, 3/64 coding blocks, 1/16 transform units, 1/16 edges.
      work += pixels / 16 * 9 + pixels % 16 + 3 * megabyte / 2
      if form.copies_plane { work += bytes(up(width * sampleBytes, to: 64), height) }
    }
    return CodedPicture(frame: frame, work: work, coded: coded)
  }

  /// - Returns: what is held from the beginning to the end, and what only until the first rows come.
  func uses(threads: Int, byLibavcodec: Bool = false) -> (held: [MemoryUse], passing: [MemoryUse]) {
    var uses = file.tiled ? tiled(threads: threads) : whole()
    if byLibavcodec {
      // Loaded before there are tiles or rows of them.
      let loading = Self.libavcodecLoading - Self.libavcodecPages - uses.held.totalBytes
      if loading > 0 { uses.passing.append(MemoryUse("loading libavcodec", loading)) }
      uses.held.append(MemoryUse("libavcodec", libavcodec(threads: threads)))
    }
    uses.held.append(MemoryUse("pages of the libraries", Self.libraryPages))
    return uses
  }

  /// What libavcodec takes while it is loaded, what of it stays, with the code that decodes, and each decoder beside the
  /// picture.
  private static let libavcodecLoading = 18 * megabyte
  private static let libavcodecPages = 8 * megabyte

  private func libavcodec(threads: Int) -> Int {
    let pixels = Self.bytes(Int(file.form.width), Int(file.form.height))
    // The planes' sides are rounded up; notes about blocks of 4x4; the coded data twice more.
    let rounded = Self.bytes(Self.up(Int(file.form.width), to: 128), Self.up(Int(file.form.height), to: 64)) / 2 * 3
    let each = rounded - pixels / 2 * 3 + pixels / 4 * 5 + 2 * coded(file.form) + Self.megabyte
    return Self.libavcodecPages + Self.bytes(each, threads)
  }

  /// Threads beyond that would find no tile to decode.
  var mostThreads: Int {
    guard file.tiled else { return 1 }
    let alphaColumns =
      file.alpha_tile_width > 0 ? (Int(file.width) + Int(file.alpha_tile_width) - 1) / Int(file.alpha_tile_width) : 0
    return max(1, Int(file.tile_columns) + alphaColumns)
  }

  private var isAV1: Bool { text(file.codec) == "av01" }
  private var fileBytes: Int { Int(clamping: file.file_bytes) }

  private func coded(_ form: cheif_coded_form) -> Int { min(Int(clamping: form.bytes), Self.most) }

  /// Alpha can be coded in another way than colour only where nothing is known of it.
  private func alpha() -> CodedPicture {
    let form = file.alpha_form
    if form.known { return Self.picture(form, isAV1: isAV1, coded: coded(form)) }
    return byLibrary(
      width: Int(file.alpha_width), height: Int(file.alpha_height), planes: 3, bits: Int(file.alpha_bits))
  }

  /// Where libheif decodes: the decoder's picture, a filter's copy of it and libheif's own; for derived pictures also that
  /// of their parts. The coded data can be the whole file.
  private func byLibrary(width: Int, height: Int, planes: Int, bits: Int) -> CodedPicture {
    let image = Self.bytes(width, height, planes, bits > 8 ? 2 : 1)
    return CodedPicture(
      frame: image, work: 3 * image + Self.bytes(width, height) + 6 * Self.megabyte, coded: min(fileBytes, image))
  }

  private func whole() -> (held: [MemoryUse], passing: [MemoryUse]) {
    guard file.form.known else {
      let samples = file.layout == CHEIF_LAYOUT_MONOCHROME ? 1 : 3
      let picture = byLibrary(
        width: Int(file.width), height: Int(file.height), planes: samples + (file.has_alpha ? 1 : 0),
        bits: file.layout_known ? Int(max(file.luma_bits, file.alpha_bits)) : 16)
      // libheif's picture may come with the decoder's memory still about.
      return ([MemoryUse("decoded picture", picture.frame)], [MemoryUse("libheif", picture.passing)])
    }
    let color = Self.picture(file.form, isAV1: isAV1, coded: coded(file.form))
    var held = [MemoryUse("decoded picture", color.frame)]
    var passing = color.passing
    if file.has_alpha {
      let alpha = alpha()
      held.append(MemoryUse("decoded alpha", alpha.frame))
      // Decoded one after the other: alpha's frame is not there yet when colour's work is.
      passing = max(color.passing - alpha.frame, alpha.passing)
    }
    return (held, [MemoryUse("decoder", max(passing, 0))])
  }

  private func tiled(threads: Int) -> (held: [MemoryUse], passing: [MemoryUse]) {
    let rows = Int(min(file.tile_height, file.height))
    let sampleBytes = file.luma_bits > 8 ? 2 : 1
    var band = 0
    for (across, down) in Self.planes(file.layout) {
      let stride = Self.up((Int(file.width) + across - 1) / across * sampleBytes, to: 64)
      band += Self.bytes(stride, (rows + down - 1) / down)
    }
    let tile =
      file.form.known
      ? Self.picture(file.form, isAV1: isAV1, coded: coded(file.form))
      : byLibrary(
        width: Int(file.tile_width), height: Int(file.tile_height), planes: Self.planes(file.layout).count,
        bits: Int(file.luma_bits))
    let all =
      file.form.known
      ? min(Int(clamping: file.form.all_bytes), Self.most) + min(Int(clamping: file.alpha_form.all_bytes), Self.most)
      : fileBytes
    let kept = min(Self.keptCodedBytes + Self.bytes(threads, tile.coded), all)
    var each = tile.frame + tile.work + 3 * tile.coded
    var passing: [MemoryUse] = []
    var held: [MemoryUse] = []
    if file.has_alpha, file.alpha_whole {
      let alpha = alpha()
      held.append(MemoryUse("decoded alpha", alpha.frame))
      // Decoded before the first tile.
      passing.append(MemoryUse("alpha's decoder", alpha.passing))
    } else if file.has_alpha {
      let stride = Self.up(Int(file.width) * (file.alpha_bits > 8 ? 2 : 1), to: 64)
      band += Self.bytes(stride, rows)
      let alpha = alpha()
      each = max(each, alpha.frame + alpha.work + 3 * alpha.coded)
    }
    // The next row is decoded while one is consumed.
    let isAhead = threads > 1 && file.tile_rows > 1
    held += [
      MemoryUse(isAhead ? "two rows of tiles" : "row of tiles", Self.bytes(band, isAhead ? 2 : 1)),
      MemoryUse("coded data", kept),
      MemoryUse(threads > 1 ? "\(threads) tile decoders" : "tile decoder", Self.bytes(each, threads)),
    ]
    return (held, passing)
  }
}
