/// Builds a TIFF structure, directory by directory, each followed by its values.
struct TIFFBuilder {
  enum Value {
    case short(Int)
    case long(Int)
    case bytes(type: Int, [UInt8])
    /// A directory, by a LONG that points to it.
    case directory([Entry])

    static func ascii(_ text: String) -> Value { .bytes(type: 2, Array(text.utf8) + [0]) }
    static func undefined(_ bytes: [UInt8]) -> Value { .bytes(type: 7, bytes) }
    static func rationals(_ count: Int) -> Value {
      .bytes(type: 5, (0..<count * 8).map { UInt8($0 % 8 == 7 ? 1 : 0x5A) })
    }
  }

  struct Entry {
    var tag: Int
    var value: Value

    init(_ tag: Int, _ value: Value) {
      self.tag = tag
      self.value = value
    }
  }

  let isBigEndian: Bool
  private(set) var bytes: [UInt8] = []

  /// - Parameter thumbnail: what a second directory points to, which there is where this is not empty.
  static func build(
    _ entries: [Entry], isBigEndian: Bool = false, thumbnail: [UInt8] = [], isThumbnailFirst: Bool = false
  ) -> [UInt8] {
    var builder = TIFFBuilder(isBigEndian: isBigEndian)
    builder.bytes = isBigEndian ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0]
    builder.put(0, 4)
    var position = 0
    if isThumbnailFirst {
      position = builder.bytes.count
      builder.bytes += thumbnail
    }
    builder.align()
    builder.patch(builder.bytes.count, at: 4)
    let next = builder.directory(entries)
    guard !thumbnail.isEmpty else { return builder.bytes }
    builder.align()
    builder.patch(builder.bytes.count, at: next)
    if !isThumbnailFirst { position = builder.bytes.count + 2 + 3 * 12 + 4 }
    _ = builder.directory([
      Entry(0x0103, .short(6)), Entry(0x0201, .long(position)), Entry(0x0202, .long(thumbnail.count)),
    ])
    if !isThumbnailFirst { builder.bytes += thumbnail }
    return builder.bytes
  }

  /// Where the offset of the next directory lies.
  private mutating func directory(_ entries: [Entry]) -> Int {
    put(entries.count, 2)
    let start = bytes.count
    for _ in entries { put(0, 12) }
    let next = bytes.count
    put(0, 4)
    for (i, entry) in entries.enumerated() { fill(entry, at: start + i * 12) }
    return next
  }

  private mutating func fill(_ entry: Entry, at position: Int) {
    var fields = TIFFBuilder(isBigEndian: isBigEndian)
    fields.put(entry.tag, 2)
    switch entry.value {
    case .short(let number):
      fields.put(3, 2)
      fields.put(1, 4)
      fields.put(number, 2)
      fields.put(0, 2)
    case .long(let number):
      fields.put(4, 2)
      fields.put(1, 4)
      fields.put(number, 4)
    case .bytes(let type, let value):
      fields.put(type, 2)
      fields.put(value.count / ([5: 8, 4: 4, 3: 2][type] ?? 1), 4)
      if value.count <= 4 {
        fields.bytes += value + [UInt8](repeating: 0, count: 4 - value.count)
      } else {
        align()
        fields.put(bytes.count, 4)
        bytes += value
      }
    case .directory(let entries):
      align()
      fields.put(4, 2)
      fields.put(1, 4)
      fields.put(bytes.count, 4)
      _ = directory(entries)
    }
    bytes.replaceSubrange(position..<position + 12, with: fields.bytes)
  }

  private init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

  private mutating func align() { if bytes.count % 2 != 0 { bytes.append(0) } }

  private mutating func put(_ number: Int, _ count: Int) {
    let little = (0..<count).map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> (8 * $0)) : 0 }
    bytes += isBigEndian ? little.reversed() : little
  }

  private mutating func patch(_ number: Int, at offset: Int) {
    var field = TIFFBuilder(isBigEndian: isBigEndian)
    field.put(number, 4)
    bytes.replaceSubrange(offset..<offset + 4, with: field.bytes)
  }
}
