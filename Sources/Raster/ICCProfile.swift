import CColor

/// What is to be known of an ICC profile; all but `libraryVersion` without a colour management library. Numbers of sections are
/// those of ICC.1:2022.
public enum ICCProfile {
  /// The version of Little CMS, "2.14"; nil when it cannot be opened.
  public static var libraryVersion: String? { ccolor_library_version().map { String(cString: $0) } }

  /// The kinds of data that a picture's profile describes.
  public enum DataSpace: String, Sendable {
    case gray = "GRAY"
    case rgb = "RGB "
    case cmyk = "CMYK"

    var name: String { rawValue.filter { $0 != " " } }
  }

  /// Why a profile does not serve a picture of such data: the end of a sentence. Nil when it does, as far as its header, its
  /// table of tags and the elements that colour needs say.
  public static func fault(of profile: [UInt8], for space: DataSpace) -> String? {
    guard let tags = Tags(profile) else { return "it is damaged" }
    guard ["scnr", "mntr", "prtr", "spac"].contains(tags.deviceClass) else {
      return "its class '\(tags.deviceClass)' is not one of pictures"
    }
    if tags.dataSpace != space.rawValue {
      return "it describes \(tags.dataSpace.filter { $0 != " " }) data, the picture is \(space.name)"
    }
    return tags.describesColor(of: space) ? nil : "it is damaged"
  }

  /// The bytes that belong to the profile, by the size in its header.
  public static func trimmed(_ profile: [UInt8]) -> [UInt8] {
    guard let tags = Tags(profile), tags.size < profile.count else { return profile }
    return Array(profile[..<tags.size])
  }

  /// Whether a profile of RGB, free of faults, says the same as a space, within what 8 bits show: by its matrix and curves, so
  /// that no library is needed. One with tables is never said to.
  public static func describes(_ space: RGBSpace, _ profile: [UInt8]) -> Bool {
    guard let tags = Tags(profile), tags.dataSpace == DataSpace.rgb.rawValue, !tags.hasTables,
      let matrix = space.primaries.adaptedToXYZ
    else { return false }
    for (column, tag) in ["rXYZ", "gXYZ", "bXYZ"].enumerated() {
      guard let values = tags.xyz(tag) else { return false }
      for row in 0..<3 where abs(values[row] - matrix.values[3 * row + column]) > 0.001 { return false }
    }
    return ["rTRC", "gTRC", "bTRC"].allSatisfy { isCurve($0, of: tags, like: space.curve) }
  }

  /// The same of a profile of gray.
  public static func describes(_ curve: ToneCurve, gray profile: [UInt8]) -> Bool {
    guard let tags = Tags(profile), tags.dataSpace == DataSpace.gray.rawValue, !tags.hasTables else { return false }
    return isCurve("kTRC", of: tags, like: curve)
  }

  private static func isCurve(_ tag: String, of tags: Tags, like curve: ToneCurve) -> Bool {
    (0...64).allSatisfy { step in
      let code = Double(step) / 64
      guard let light = tags.light(tag, of: code) else { return false }
      return abs(curve.code(of: light) - code) < 0.003
    }
  }

  /// Where a profile says of itself which transfer it stands for (version 4.4, 9.2.17): numbers of ITU-T H.273. Nil where not.
  public static func codedNumbers(_ profile: [UInt8]) -> (primaries: Int, transfer: Int)? {
    guard let tags = Tags(profile), let element = tags.element("cicp"), element.count >= 12 else { return nil }
    return (Int(profile[element.lowerBound + 8]), Int(profile[element.lowerBound + 9]))
  }

  /// Whether the three primaries of an RGB profile lie in one plane, so that different colours look alike and others
  /// differ without measure: such a profile describes no space in which a picture survives lossy compression. False where
  /// it states no primaries.
  public static func hasDegeneratePrimaries(_ profile: [UInt8]) -> Bool {
    guard let tags = Tags(profile), let red = tags.xyz("rXYZ"), let green = tags.xyz("gXYZ"),
      let blue = tags.xyz("bXYZ")
    else { return false }
    // sRGB has 0.2, the narrowest real displays a fifth of that.
    return abs(Matrix3(columns: red, green, blue).determinant) < 0.001
  }

  /// The header and the table of tags of a profile that is whole.
  struct Tags {
    private let bytes: [UInt8]
    let size: Int
    private let count: Int

    init?(_ bytes: [UInt8]) {
      self.bytes = bytes
      // 7.2: the size at 0, the version at 8, the signature at 36. Little CMS knows versions up to 4.
      guard bytes.count >= 132, bytes[36..<40].elementsEqual("acsp".utf8), bytes[8] <= 4 else { return nil }
      size = Self.number(bytes, 0)
      count = Self.number(bytes, 128)
      // 100 is what Little CMS reads.
      guard size >= 132, size <= bytes.count, count <= 100, 132 + 12 * count <= size else { return nil }
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
      Int(bytes[offset]) << 24 | Int(bytes[offset + 1]) << 16 | Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
    }

    private func number(_ offset: Int) -> Int { Self.number(bytes, offset) }
    private func half(_ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
    private func fixed(_ offset: Int) -> Double { Double(Int32(truncatingIfNeeded: number(offset))) / 65536 }

    private func text(_ offset: Int) -> String {
      // Whatever it is goes into messages.
      String(decoding: bytes[offset..<offset + 4].map { (32...126).contains($0) ? $0 : 63 }, as: UTF8.self)
    }

    var deviceClass: String { text(12) }
    var dataSpace: String { text(16) }

    /// Where a tag's element lies; nil where it is missing, outside the profile or shorter than its type's head.
    func element(_ tag: String) -> Range<Int>? {
      for entry in (0..<count).map({ 132 + $0 * 12 }) where bytes[entry..<entry + 4].elementsEqual(tag.utf8) {
        let (offset, length) = (number(entry + 4), number(entry + 8))
        guard offset >= 128, length >= 8, offset <= size, length <= size - offset else { return nil }
        return offset..<offset + length
      }
      return nil
    }

    /// Whether colour is described by tables of several dimensions.
    var hasTables: Bool { ["A2B0", "A2B1", "A2B2", "D2B0", "D2B1", "D2B2"].contains { element($0) != nil } }

    func describesColor(of space: DataSpace) -> Bool {
      if hasTables { return true }
      switch space {
      case .gray: return light("kTRC", of: 0.5) != nil
      case .rgb:
        return ["rXYZ", "gXYZ", "bXYZ"].allSatisfy { xyz($0) != nil }
          && ["rTRC", "gTRC", "bTRC"].allSatisfy { light($0, of: 0.5) != nil }
      case .cmyk: return false
      }
    }

    /// The value of a tag of XYZType (10.31).
    func xyz(_ tag: String) -> [Double]? {
      guard let element = element(tag), element.count >= 20, text(element.lowerBound) == "XYZ " else { return nil }
      return (0..<3).map { fixed(element.lowerBound + 8 + 4 * $0) }
    }

    /// What a curve (10.6, 10.18) makes of a coded value of 0 to 1.
    func light(_ tag: String, of code: Double) -> Double? {
      guard let element = element(tag), element.count >= 12 else { return nil }
      let start = element.lowerBound
      switch text(start) {
      case "curv":
        let entries = number(start + 8)
        guard entries <= (element.count - 12) / 2 else { return nil }
        if entries == 0 { return code }
        if entries == 1 { return ToneCurve.gamma(Double(half(start + 12)) / 256).light(of: code) }
        let place = code * Double(entries - 1)
        let index = min(Int(place), entries - 2)
        let (low, high) = (Double(half(start + 12 + 2 * index)), Double(half(start + 14 + 2 * index)))
        return (low + (high - low) * (place - Double(index))) / 65535
      case "para": return parametric(start, element.count, code)
      default: return nil
      }
    }

    private func parametric(_ start: Int, _ length: Int, _ code: Double) -> Double? {
      let type = half(start + 8)
      guard type <= 4, length >= 12 + 4 * [1, 3, 4, 5, 7][type] else { return nil }
      func parameter(_ index: Int) -> Double { fixed(start + 12 + 4 * index) }
      let g = parameter(0)
      if type == 0 { return ToneCurve.gamma(g).light(of: code) }
      let (a, b) = (parameter(1), parameter(2))
      switch type {
      case 3: return ToneCurve(g: g, a: a, b: b, c: parameter(3), d: parameter(4)).light(of: code)
      case 4:
        let (c, d, e, f) = (parameter(3), parameter(4), parameter(5), parameter(6))
        return code >= d ? ToneCurve.gamma(g).light(of: a * code + b) + e : c * code + f
      default:
        let offset = type == 2 ? parameter(3) : 0
        return code * a >= -b ? ToneCurve.gamma(g).light(of: a * code + b) + offset : offset
      }
    }
  }
}
