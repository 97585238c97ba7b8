import Raster

/// Takes out of EXIF data what does not hold for the output, in place: what is kept stays at its offset, since the MakerNote's
/// own offsets, which nobody but its maker knows for sure, count from the TIFF header. See docs/metadata.md.
struct EXIFEditor {
  /// A number that is only known once the output is.
  struct Patch: Equatable {
    enum Value { case width, height, colorSpace, interoperabilityIndex }

    var value: Value
    /// Of the value in the edited data.
    var offset: Int
    var isLong: Bool
  }

  struct Result {
    var bytes: [UInt8]
    var isLittleEndian: Bool
    var patches: [Patch]
    /// Whether something had to be left out because it could not be read.
    var hasDamage: Bool
  }

  fileprivate enum Kind { case main, exif, gps, interoperability }

  /// What becomes of an entry that is kept.
  fileprivate enum Edit {
    case none
    case number(Int)
    case patch(Patch.Value)
    /// "Y, Cb, Cr", the only components that EXIF has for compressed pictures beside RGB.
    case components
  }

  fileprivate struct Directory {
    var kind: Kind
    var table: Range<Int>
    var entryCount: Int
    var kept: [(entry: TIFFReader<[UInt8]>.Entry, edit: Edit)]

    /// The table once the kept entries are together, with the offset of the next directory behind them.
    var keptTable: Range<Int> {
      table.lowerBound..<table.upperBound - (entryCount - kept.count) * 12
    }
  }

  private let tiff: TIFFReader<[UInt8]>
  private let stripsGPS: Bool
  private let orientation: Orientation
  private var directories: [Directory] = []
  private var tables: [Range<Int>]
  private var removed: [Range<Int>] = []
  private var hasDamage = false
  /// The values of positions that are taken out, which others may lie over.
  private var positions: [Range<Int>] = []
  private var notedDirectories = 0

  /// Nil where the data are no TIFF structure, or where the first directory is broken. Without bytes where nothing is left.
  ///
  /// - Parameter orientation: of the output; EXIF's number stands where one stood.
  static func edit(_ bytes: consuming [UInt8], stripsGPS: Bool, orientation: Orientation = .up) -> Result? {
    guard let edits = Edits(copy bytes, stripsGPS: stripsGPS, orientation: orientation) else { return nil }
    return edits.apply(to: bytes)
  }

  private init?(_ bytes: [UInt8], stripsGPS: Bool, orientation: Orientation) {
    guard let tiff = TIFFReader(bytes) else { return nil }
    self.tiff = tiff
    self.stripsGPS = stripsGPS
    self.orientation = orientation
    tables = [0..<8]
    guard read(.main, at: tiff.firstDirectory) else { return nil }
    dropValuesOverTables()
    dropEmptyDirectories()
  }

  // MARK: Reading

  /// Reads a directory and those that it points to; false where it is broken, lies over another one, or is a second one.
  private mutating func read(_ kind: Kind, at offset: Int) -> Bool {
    guard !directories.contains(where: { $0.kind == kind }), let (entries, table) = tiff.directory(at: offset),
      !tables.contains(where: { $0.overlaps(table) })
    else { return false }
    tables.append(table)
    let index = directories.count
    directories.append(Directory(kind: kind, table: table, entryCount: entries.count, kept: []))
    for entry in entries {
      if let edit = fate(of: entry, in: kind) {
        directories[index].kept.append((entry, edit))
      } else if let value = entry.value, !entry.isInside {
        removed.append(value)
      }
    }
    if kind == .main {
      removePictures(entries)
      if table.count == 2 + entries.count * 12 + 4 { removeDirectories(at: tiff.long(at: table.upperBound - 4)!) }
    }
    return true
  }

  /// Nil for an entry that is left out.
  private mutating func fate(of entry: TIFFReader<[UInt8]>.Entry, in kind: Kind) -> Edit? {
    guard let value = entry.value else {
      hasDamage = true
      return nil
    }
    let isNumber = entry.count == 1 && (entry.type == TIFFType.short || entry.type == TIFFType.long)
    switch entry.tag {
    case EXIFTag.exifDirectory where kind == .main: return pointer(entry, to: .exif)
    case EXIFTag.interoperabilityDirectory where kind == .exif: return pointer(entry, to: .interoperability)
    case EXIFTag.gpsDirectory where kind == .main && !stripsGPS: return pointer(entry, to: .gps)
    case EXIFTag.gpsDirectory where kind != .gps:
      if stripsGPS { notePositions(of: entry) }
      return nil
    // GPS tags that a writer put beside the others. Of interoperability the index and the version have four bytes, as no
    // part of a position has.
    case 0x0000...0x001F where stripsGPS && !(kind == .interoperability && value.count == 4):
      positions.append(value)
      return nil
    case _ where stripsGPS && EXIFTag.geoTIFF.contains(entry.tag):
      positions.append(value)
      return nil
    case EXIFTag.makerNote:
      // Some are a preview and nothing else.
      let isPicture = tiff.bytes[value].starts(with: [0xFF, 0xD8, 0xFF])
      return kind == .exif && !stripsGPS && !isPicture ? Edit.none : nil
    case EXIFTag.orientation where kind == .main: return isNumber ? .number(orientation.rawValue) : nil
    case EXIFTag.imageWidth where kind == .main, EXIFTag.pixelWidth where kind == .exif,
      EXIFTag.relatedWidth where kind == .interoperability:
      return isNumber ? .patch(.width) : nil
    case EXIFTag.imageLength where kind == .main, EXIFTag.pixelHeight where kind == .exif,
      EXIFTag.relatedHeight where kind == .interoperability:
      return isNumber ? .patch(.height) : nil
    case EXIFTag.chromaPositioning where kind == .main: return isNumber ? .number(1) : nil
    case EXIFTag.colorSpace where kind == .exif: return isNumber ? .patch(.colorSpace) : nil
    case EXIFTag.componentsConfiguration where kind == .exif: return value.count == 4 ? .components : nil
    case 0x0001 where kind == .interoperability: return value.count == 4 ? .patch(.interoperabilityIndex) : Edit.none
    case _ where kind == .main && EXIFTag.stale.contains(entry.tag): return nil
    case _ where kind == .exif && EXIFTag.staleOfEXIF.contains(entry.tag): return nil
    // A directory that is not known here could not be kept whole.
    case _ where entry.type == TIFFType.directory: return nil
    default: return Edit.none
    }
  }

  private mutating func pointer(_ entry: TIFFReader<[UInt8]>.Entry, to kind: Kind) -> Edit? {
    if let offset = tiff.number(entry), read(kind, at: offset) { return Edit.none }
    hasDamage = true
    return nil
  }

  private mutating func notePositions(of entry: TIFFReader<[UInt8]>.Entry) {
    // More than there are in files: each may be as long as the data.
    guard notedDirectories < 8, let offset = tiff.number(entry), let (entries, _) = tiff.directory(at: offset) else {
      return
    }
    notedDirectories += 1
    positions += entries.filter { $0.tag <= 0x1F && !$0.isInside }.compactMap(\.value)
  }

  /// Pictures that lie in the TIFF structure as the entries of a directory say, and the directories of others.
  private mutating func removePictures(_ entries: [TIFFReader<[UInt8]>.Entry]) {
    // More strips and tiles than previews have: data could name a million, that lie over each other.
    func numbers(_ tag: Int) -> [Int] { entries.first { $0.tag == tag }.map { tiff.numbers($0, most: 4096) } ?? [] }
    for (offsets, counts) in [
      (EXIFTag.jpegOffset, EXIFTag.jpegByteCount), (EXIFTag.stripOffsets, EXIFTag.stripByteCounts),
      (EXIFTag.tileOffsets, EXIFTag.tileByteCounts),
    ] {
      for (offset, count) in zip(numbers(offsets), numbers(counts)) where offset < tiff.bytes.count {
        removed.append(offset..<min(offset + count, tiff.bytes.count))
      }
    }
  }

  /// A chain of directories, with their values and pictures.
  private mutating func removeDirectories(at start: Int) {
    var offset = start
    // More than there are in files; loops end here too.
    for _ in 0..<8 {
      guard offset != 0, let (entries, table) = tiff.directory(at: offset) else { return }
      removed.append(table)
      removed += entries.compactMap { $0.isInside ? nil : $0.value }
      removePictures(entries)
      guard table.count == 2 + entries.count * 12 + 4 else { return }
      offset = tiff.long(at: table.upperBound - 4)!
    }
  }

  /// A value that lies over a directory would change with it; one that lies over a position would keep it.
  private mutating func dropValuesOverTables() {
    let tables = ByteRanges(tables + positions)
    for i in directories.indices {
      let count = directories[i].kept.count
      directories[i].kept.removeAll { !$0.entry.isInside && tables.overlaps($0.entry.value!) }
      if directories[i].kept.count < count { hasDamage = true }
    }
  }

  /// A directory without entries is none: it goes with what points to it, and then maybe the one that this is in.
  private mutating func dropEmptyDirectories() {
    while let i = directories.indices.last(where: { $0 > 0 && directories[$0].kept.isEmpty }) {
      let table = directories.remove(at: i).table
      tables.removeAll { $0 == table }
      removed.append(table)
      for k in directories.indices {
        directories[k].kept.removeAll {
          Self.pointers.contains($0.entry.tag) && tiff.number($0.entry) == table.lowerBound
        }
      }
    }
  }

  private static let pointers = [
    EXIFTag.exifDirectory, EXIFTag.gpsDirectory, EXIFTag.interoperabilityDirectory,
  ]

  // MARK: What goes

  /// The bytes of the values outside of the directories that are kept, but for MakerNotes.
  private var values: ByteRanges {
    ByteRanges(
      directories.flatMap(\.kept).map(\.entry).filter { $0.tag != EXIFTag.makerNote && !$0.isInside }
        .compactMap(\.value))
  }

  private var makerNotes: ByteRanges {
    ByteRanges(directories.flatMap(\.kept).filter { $0.entry.tag == EXIFTag.makerNote }.compactMap(\.entry.value))
  }

  /// The bytes that are not kept.
  private func gone(known: ByteRanges, makerNotes: ByteRanges) -> ByteRanges {
    // A MakerNote may point to anything that no directory names.
    if makerNotes.ranges.isEmpty { return ByteRanges([0..<tiff.bytes.count]).subtracting(known) }
    return ByteRanges(removed).subtracting(makerNotes).union(ByteRanges(EmbeddedJPEG.ranges(in: tiff.bytes)))
      .subtracting(known)
  }

  // MARK: Writing

  /// What there is to do, without the bytes: they are then changed without being copied.
  private struct Edits {
    let directories: [Directory]
    let zeroed: [Range<Int>]
    /// Behind all that is kept. What a MakerNote points to behind that are previews.
    let end: Int
    let isLittleEndian: Bool
    let hasDamage: Bool

    init?(_ bytes: [UInt8], stripsGPS: Bool, orientation: Orientation) {
      guard let editor = EXIFEditor(bytes, stripsGPS: stripsGPS, orientation: orientation) else { return nil }
      let known = editor.values.union(ByteRanges(editor.tables))
      let makerNotes = editor.makerNotes
      directories = editor.directories
      zeroed = editor.gone(known: known, makerNotes: makerNotes).ranges
      end = max(
        editor.values.ranges.last?.upperBound ?? 0, makerNotes.ranges.last?.upperBound ?? 0,
        directories.map(\.keptTable.upperBound).max() ?? 0)
      isLittleEndian = editor.tiff.isLittleEndian
      hasDamage = editor.hasDamage
    }

    func apply(to bytes: consuming [UInt8]) -> Result {
      var result = Result(bytes: bytes, isLittleEndian: isLittleEndian, patches: [], hasDamage: hasDamage)
      if directories[0].kept.isEmpty {
        result.bytes = []
        return result
      }
      for range in zeroed { result.zero(range) }
      for directory in directories { result.rewrite(directory) }
      result.bytes.removeLast(result.bytes.count - end)
      return result
    }
  }
}

extension EXIFEditor.Result {
  fileprivate mutating func zero(_ range: Range<Int>) {
    for i in range { bytes[i] = 0 }
  }

  /// Moves the kept entries together. None follows the first directory, and none should follow another.
  fileprivate mutating func rewrite(_ directory: EXIFEditor.Directory) {
    let start = directory.table.lowerBound
    put(directory.kept.count, at: start, bytes: 2)
    for (i, (entry, edit)) in directory.kept.enumerated() {
      let position = start + 2 + i * 12
      if position < entry.position {
        for k in 0..<12 { bytes[position + k] = bytes[entry.position + k] }
      }
      apply(edit, at: position + 8, isLong: entry.type == TIFFType.long)
    }
    zero(start + 2 + directory.kept.count * 12..<directory.table.upperBound)
  }

  private mutating func apply(_ edit: EXIFEditor.Edit, at field: Int, isLong: Bool) {
    switch edit {
    case .none: break
    case .number(let number): put(number, at: field, bytes: isLong ? 4 : 2)
    case .patch(let value): patches.append(EXIFEditor.Patch(value: value, offset: field, isLong: isLong))
    case .components: for i in 0..<4 { bytes[field + i] = [1, 2, 3, 0][i] }
    }
  }

  private mutating func put(_ number: Int, at offset: Int, bytes count: Int) {
    for i in 0..<count {
      bytes[offset + (isLittleEndian ? i : count - 1 - i)] = UInt8(truncatingIfNeeded: number >> (8 * i))
    }
  }

  /// Fills in what was waited for.
  mutating func complete(width: Int, height: Int, colorSpace: EXIFColorSpace) {
    for patch in patches {
      let count = patch.isLong ? 4 : 2
      switch (patch.value, colorSpace) {
      case (.width, _): put(width, at: patch.offset, bytes: count)
      case (.height, _): put(height, at: patch.offset, bytes: count)
      case (.colorSpace, .srgb): put(1, at: patch.offset, bytes: count)
      case (.colorSpace, .uncalibrated): put(0xFFFF, at: patch.offset, bytes: count)
      // "R98", DCF's basic file in sRGB: what was "R03" is not Adobe RGB any more.
      case (.interoperabilityIndex, .srgb):
        bytes.replaceSubrange(patch.offset..<patch.offset + 4, with: Array("R98\0".utf8))
      // Nor where it became another space, for which DCF has no name.
      case (.interoperabilityIndex, .uncalibrated):
        bytes.replaceSubrange(patch.offset..<patch.offset + 4, with: [0, 0, 0, 0])
      case (.colorSpace, .kept), (.interoperabilityIndex, .kept): break
      }
    }
  }
}

/// What EXIF is to say of the output's colours.
public enum EXIFColorSpace: Sendable {
  /// What it said: they were not converted.
  case kept
  case srgb
  /// A space that EXIF has no number for.
  case uncalibrated
}
