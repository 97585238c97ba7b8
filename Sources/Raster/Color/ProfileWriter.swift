extension RGBSpace {
  /// A matrix profile of the space (ICC.1:2010, version 4.3): the same bytes each time. Nil where its primaries span no space.
  ///
  /// - Parameter name: for people, ASCII.
  public func iccProfile(named name: String) -> [UInt8]? {
    guard let matrix = primaries.adaptedToXYZ else { return nil }
    var writer = ProfileWriter(space: "RGB ", name: name)
    writer.add(["chad"], ProfileWriter.matrix(primaries.adaptationToD50))
    for (column, tag) in ["rXYZ", "gXYZ", "bXYZ"].enumerated() {
      writer.add([tag], ProfileWriter.xyz((0..<3).map { matrix.values[3 * $0 + column] }))
    }
    writer.add(["rTRC", "gTRC", "bTRC"], ProfileWriter.curve(curve))
    return writer.profile
  }
}

extension ToneCurve {
  /// A profile of gray with this curve; the same bytes each time.
  public func grayProfile(named name: String) -> [UInt8] {
    var writer = ProfileWriter(space: "GRAY", name: name)
    writer.add(["kTRC"], ProfileWriter.curve(self))
    return writer.profile
  }
}

/// Puts a profile together; numbers of sections are those of ICC.1:2022.
private struct ProfileWriter {
  private let space: String
  private var table: [(tag: String, offset: Int, count: Int)] = []
  private var data: [UInt8] = []

  init(space: String, name: String) {
    self.space = space
    add(["desc"], Self.text(name))
    add(["cprt"], Self.text("No copyright, use freely"))
    add(["wtpt"], Self.xyz(Primaries.d50))
  }

  /// One element under several tags.
  mutating func add(_ tags: [String], _ element: [UInt8]) {
    table += tags.map { ($0, data.count, element.count) }
    data += element
    data += [UInt8](repeating: 0, count: -data.count & 3)
  }

  /// 7.2 and 7.3. The date is fixed, so that the same space gives the same bytes; the optional identifier is left out.
  var profile: [UInt8] {
    let first = 132 + 12 * table.count
    var bytes = Self.number(first + data.count) + Self.number(0) + Self.number(0x0430_0000)
    bytes += Array("mntr\(space)XYZ ".utf8)
    for part in [2026, 1, 1, 0, 0, 0] { bytes += [UInt8(part >> 8), UInt8(part & 255)] }
    bytes += Array("acsp".utf8)
    bytes += [UInt8](repeating: 0, count: 28)
    bytes += Primaries.d50.flatMap(Self.fixed)
    bytes += [UInt8](repeating: 0, count: 48)
    bytes += Self.number(table.count)
    for entry in table { bytes += Array(entry.tag.utf8) + Self.number(first + entry.offset) + Self.number(entry.count) }
    return bytes + data
  }

  static func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

  /// s15Fixed16Number, 4.6.
  static func fixed(_ value: Double) -> [UInt8] { number(Int((min(max(value, -32000), 32000) * 65536).rounded())) }

  /// 10.31.
  static func xyz(_ values: [Double]) -> [UInt8] { Array("XYZ ".utf8) + number(0) + values.flatMap(fixed) }

  /// 10.22.
  static func matrix(_ matrix: Matrix3) -> [UInt8] { Array("sf32".utf8) + number(0) + matrix.values.flatMap(fixed) }

  /// 10.18: a power where that is all, else type 3.
  static func curve(_ curve: ToneCurve) -> [UInt8] {
    let isPower = curve == .gamma(curve.g)
    return Array("para".utf8) + number(0) + number(isPower ? 0 : 3 << 16) + fixed(curve.g)
      + (isPower ? [] : [curve.a, curve.b, curve.c, curve.d].flatMap(fixed))
  }

  /// 10.15.
  static func text(_ text: String) -> [UInt8] {
    let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    return Array("mluc".utf8) + number(0) + number(1) + number(12) + Array("enUS".utf8) + number(units.count)
      + number(28) + units
  }
}
