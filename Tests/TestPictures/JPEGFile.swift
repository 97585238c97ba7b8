/// A JPEG's bytes as segments, to make odd files of whole ones.
public struct JPEGFile: Sendable {
  public struct Segment: Sendable {
    public var marker: UInt8
    /// Without the length.
    public var body: [UInt8]

    public init(_ marker: UInt8, _ body: [UInt8]) { (self.marker, self.body) = (marker, body) }

    public var bytes: [UInt8] {
      let length = body.count + 2
      return [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + body
    }
  }

  /// Up to the first scan's header and with it.
  public var segments: [Segment] = []
  /// What follows: entropy-coded data, more segments, the end marker.
  public var rest: [UInt8]

  public init(_ bytes: [UInt8]) {
    var position = 2
    while true {
      let marker = bytes[position + 1]
      let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
      segments.append(Segment(marker, Array(bytes[position + 4..<position + 2 + length])))
      position += 2 + length
      if marker == 0xDA { break }
    }
    rest = Array(bytes[position...])
  }

  public var bytes: [UInt8] { [0xFF, 0xD8] + segments.flatMap(\.bytes) + rest }

  /// With more segments, after the first ones.
  public func adding(_ more: [Segment]) -> JPEGFile {
    var file = self
    file.segments.insert(contentsOf: more, at: 0)
    return file
  }

  public func changing(_ marker: UInt8, _ change: (inout [UInt8]) -> Void) -> JPEGFile {
    var file = self
    for index in file.segments.indices where file.segments[index].marker == marker {
      change(&file.segments[index].body)
    }
    return file
  }

  /// Ends before its scan.
  public var headerBytes: Int { bytes.count - rest.count }
}

extension JPEGFile.Segment {
  public static func xmp(_ packet: String) -> Self {
    Self(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(packet.utf8))
  }

  public static func exif(_ tiff: [UInt8]) -> Self { Self(0xE1, Array("Exif\0\0".utf8) + tiff) }

  public static func icc(_ number: Int, of count: Int, _ part: some Sequence<UInt8>) -> Self {
    Self(0xE2, Array("ICC_PROFILE\0".utf8) + [UInt8(number), UInt8(count)] + Array(part))
  }

  public static func photoshop(_ resources: some Sequence<UInt8>) -> Self {
    Self(0xED, Array("Photoshop 3.0\0".utf8) + Array(resources))
  }

  /// An index of pictures; of each its type and its offset from the index. The first is the one that the file begins with.
  public static func pictures(_ pictures: [(type: UInt32, offset: UInt32)], bigEndian: Bool) -> Self {
    func number(_ value: UInt32, _ count: Int) -> [UInt8] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
      return bigEndian ? bytes.reversed() : bytes
    }
    func entry(_ tag: UInt32, _ type: UInt32, _ count: Int, _ value: UInt32) -> [UInt8] {
      number(tag, 2) + number(type, 2) + number(UInt32(count), 4) + number(value, 4)
    }
    let list = pictures.flatMap { number($0.type, 4) + number(1000, 4) + number($0.offset, 4) + [0, 0, 0, 0] }
    let directory =
      number(2, 2) + entry(0xB001, 4, 1, UInt32(pictures.count)) + entry(0xB002, 7, list.count, 8 + 2 + 24 + 4)
      + number(0, 4)
    return Self(
      0xE2,
      Array("MPF\0".utf8) + Array((bigEndian ? "MM" : "II").utf8) + number(42, 2) + number(8, 4) + directory + list)
  }
}

/// One of Photoshop's resources, its data filled up to an even number of bytes.
public func photoshopResource(_ number: UInt16, name: String = "", _ data: [UInt8]) -> [UInt8] {
  let pascal = [UInt8(name.utf8.count)] + Array(name.utf8)
  let count = UInt32(data.count)
  return Array("8BIM".utf8) + [UInt8(number >> 8), UInt8(number & 0xFF)] + pascal + (pascal.count % 2 == 0 ? [] : [0])
    + [UInt8(count >> 24), UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)] + data
    + (data.count % 2 == 0 ? [] : [0])
}
