/// New EXIF data that hold Artist and Copyright alone.
enum EXIFRights {
  /// Nil where the data are broken; empty where they have neither.
  static func extract(from bytes: [UInt8]) -> [UInt8]? {
    guard let tiff = TIFFReader(bytes), let (entries, _) = tiff.directory(at: tiff.firstDirectory) else { return nil }
    let kept = [EXIFTag.artist, EXIFTag.copyright].compactMap { tag in
      entries.first { $0.tag == tag && ($0.type == TIFFType.ascii || $0.type == TIFFType.utf8) }
    }.filter { $0.value?.contains { bytes[$0] != 0 && bytes[$0] != 0x20 } ?? false }
    if kept.isEmpty { return [] }

    var result: [UInt8] = [0x49, 0x49]
    func put(_ number: Int, bytes count: Int) {
      for i in 0..<count { result.append(UInt8(truncatingIfNeeded: number >> (8 * i))) }
    }
    put(42, bytes: 2)
    put(8, bytes: 4)
    put(kept.count, bytes: 2)
    var next = 8 + 2 + kept.count * 12 + 4
    for entry in kept {
      put(entry.tag, bytes: 2)
      put(entry.type, bytes: 2)
      put(entry.count, bytes: 4)
      if entry.count <= 4 {
        result += bytes[entry.value!]
        for _ in entry.count..<4 { result.append(0) }
      } else {
        put(next, bytes: 4)
        next += (entry.count + 1) & ~1
      }
    }
    put(0, bytes: 4)
    for entry in kept where entry.count > 4 {
      result += bytes[entry.value!]
      // Values begin at even offsets.
      if entry.count % 2 != 0 { result.append(0) }
    }
    return result
  }
}
