/// The kinds that somebody takes, with how much each is wanted: HTTP's Accept, as RFC 9110 (section 12.5.1) has it.
///
/// `image/avif,image/webp,*/*;q=0.8` wants AVIF or WebP, and takes anything else almost as gladly. Ranges that are not
/// known, and members that are not well formed, are passed over. Parameters other than q do not matter.
public struct AcceptedTypes: Sendable {
  private struct Range {
    let type: ImageType
    /// In thousandths.
    let quality: Int
  }

  private let ranges: [Range]
  private let isAnything: Bool

  /// - Parameter list: the field's value; an empty one takes anything.
  public init(_ list: String) {
    let members = Self.split(list[...], at: ",").filter { !$0.isEmpty }
    ranges = members.compactMap(Self.range)
    isAnything = members.isEmpty
  }

  /// How much the type is wanted, 0 (not at all) to 1: by the narrowest range that it is in.
  public func quality(of type: ImageType) -> Double { Double(thousandths(type)) / 1000 }

  /// The type that is wanted most, the first of those that are wanted alike; nil where none is taken at all.
  ///
  /// - Parameter types: in order of preference. They are gone through once, and no further than the first that is wanted as
  ///   much as any can be.
  public func best(of types: some Sequence<ImageType>) -> ImageType? {
    let most = isAnything ? 1000 : ranges.map(\.quality).max() ?? 0
    var best: (type: ImageType, quality: Int)?
    for type in types {
      let quality = thousandths(type)
      if quality > best?.quality ?? 0 { best = (type, quality) }
      if quality == most { break }
    }
    return best?.type
  }

  /// Whether the type is taken at all.
  public func takes(_ type: ImageType) -> Bool { thousandths(type) > 0 }

  private func thousandths(_ type: ImageType) -> Int {
    if isAnything { return 1000 }
    let matching = ranges.filter { type.conforms(to: $0.type) }
    guard let depth = matching.map(\.type.supertypes.count).max() else { return 0 }
    return matching.lazy.filter { $0.type.supertypes.count == depth }.map(\.quality).max() ?? 0
  }

  private static func range(_ member: Substring) -> Range? {
    let parts = split(member, at: ";")
    guard let type = ImageType(mimeType: String(parts[0])) else { return nil }
    for parameter in parts.dropFirst() {
      guard let equals = parameter.firstIndex(of: "="), parameter[..<equals].lowercased() == "q" else { continue }
      guard let quality = thousandths(parameter[parameter.index(after: equals)...]) else { return nil }
      return Range(type: type, quality: quality)
    }
    return Range(type: type, quality: 1000)
  }

  /// `qvalue` of RFC 9110, section 12.4.2: 0 to 1 with up to three digits behind the point. A leading 0 may be missing.
  private static func thousandths(_ text: Substring) -> Int? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first, !text.isEmpty, text != ".", ["", "0", "1"].contains(whole) else { return nil }
    let digits = parts.count == 2 ? parts[1] : ""
    guard digits.count <= 3, digits.allSatisfy({ "0123456789".contains($0) }) else { return nil }
    let value = (whole == "1" ? 1000 : 0) + (Int((digits + "000").prefix(3)) ?? 0)
    return value <= 1000 ? value : nil
  }

  /// Parts without the white space around them; what is in quotes is not parted.
  private static func split(_ text: Substring, at separator: Character) -> [Substring] {
    var parts: [Substring] = []
    var start = text.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in text.indices {
      let character = text[index]
      if isEscaped {
        isEscaped = false
      } else if character == "\"" {
        isQuoted.toggle()
      } else if isQuoted {
        isEscaped = character == "\\"
      } else if character == separator {
        parts.append(trimmed(text[start..<index]))
        start = text.index(after: index)
      }
    }
    return parts + [trimmed(text[start...])]
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}
