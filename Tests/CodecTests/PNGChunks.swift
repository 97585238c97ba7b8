import CPictures
import TestPictures

/// The chunks of a PNG file, to be taken apart and put together again.
struct PNGChunks {
  struct Chunk {
    var type: String
    var data: [UInt8]
    /// Nil: the right one.
    var checksum: UInt32?

    init(_ type: String, _ data: [UInt8], checksum: UInt32? = nil) {
      (self.type, self.data, self.checksum) = (type, data, checksum)
    }

    var bytes: [UInt8] {
      let body = Array(type.utf8) + data
      return PNGChunks.bigEndian(UInt32(data.count)) + body
        + PNGChunks.bigEndian(checksum ?? PNGChunks.checksum(body))
    }
  }

  var chunks: [Chunk] = []

  init(_ file: [UInt8]) {
    var at = 8
    while at + 12 <= file.count {
      let length = file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      let type = String(decoding: file[at + 4..<at + 8], as: UTF8.self)
      chunks.append(Chunk(type, Array(file[at + 8..<at + 8 + length])))
      at += 12 + length
    }
  }

  var file: [UInt8] { [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10] + chunks.flatMap(\.bytes) }

  func first(_ type: String) -> Chunk? { chunks.first { $0.type == type } }
  func index(of type: String) -> Int { chunks.firstIndex { $0.type == type }! }

  /// Behind the header, in the order given.
  func with(_ more: [Chunk]) -> [UInt8] {
    var result = self
    result.chunks.insert(contentsOf: more, at: 1)
    return result.file
  }

  /// Behind the picture's data.
  func withLate(_ more: [Chunk]) -> [UInt8] {
    var result = self
    result.chunks.insert(contentsOf: more, at: chunks.count - 1)
    return result.file
  }

  static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var crc = ~UInt32(0)
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    return ~crc
  }

  static func bigEndian(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }

  /// A zlib stream of `count` bytes that all are 65, or of given ones: what a picture of one row becomes.
  static func compressed(_ bytes: [UInt8]) -> [UInt8] {
    // The row's filter is its first byte.
    precondition(bytes[0] == 0 && bytes.count <= 1_000_001)
    let row = Picture(bytes.count - 1, 1, channels: 1) { x, _, _ in Int(bytes[x + 1]) }
    return PNGChunks(row.png { $0.filter = 0 }).chunks.filter { $0.type == "IDAT" }.flatMap(\.data)
  }

  /// A zlib stream of one stored block.
  static func stored(_ bytes: [UInt8]) -> [UInt8] {
    precondition(bytes.count < 65536)
    var (a, b) = (UInt32(1), UInt32(0))
    for byte in bytes {
      a = (a + UInt32(byte)) % 65521
      b = (b + a) % 65521
    }
    let length = UInt16(bytes.count)
    let sizes = [UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255), UInt8(~length >> 8)]
    return [0x78, 1, 1] + sizes + bytes + bigEndian(b << 16 | a)
  }
}
