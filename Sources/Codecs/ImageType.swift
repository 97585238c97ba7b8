import Raster

/// A kind of data: what Apple's systems call a uniform type. Known are the kinds of pictures that are written or read here,
/// those that are recognised without being decoded, and the broader kinds above them.
///
/// The names are those of UTType. Identifiers, extensions and media types are compared without regard to case.
public struct ImageType: Sendable, Hashable, CustomStringConvertible {
  /// "public.jpeg" and the like.
  public let identifier: String
  /// "JPEG" and the like, for people.
  public let localizedDescription: String
  /// The extensions of its files without the dot, the preferred one first; none where the type is only a broader one.
  public let filenameExtensions: [String]
  /// Its media types without parameters, the preferred one first. The broader kinds have wildcards: `image/*`.
  public let mediaTypes: [String]
  /// The identifiers of the kinds directly above it.
  let parents: [String]

  init(
    identifier: String, localizedDescription: String, filenameExtensions: [String], mediaTypes: [String],
    parents: [String]
  ) {
    self.identifier = identifier
    self.localizedDescription = localizedDescription
    self.filenameExtensions = filenameExtensions
    self.mediaTypes = mediaTypes
    self.parents = parents
  }

  /// Two types are the same when their identifiers are.
  public static func == (left: ImageType, right: ImageType) -> Bool { left.identifier == right.identifier }

  public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }

  /// The identifier.
  public var description: String { identifier }

  /// The extension that a new file of it gets, without the dot; nil for the broader kinds.
  public var preferredFilenameExtension: String? { filenameExtensions.first }

  /// The media type that it is served as; nil for the broader kinds.
  public var preferredMIMEType: String? { isAbstract ? nil : mediaTypes.first }

  /// Whether it is only a broader kind, like `public.image`, which no data is by itself.
  public var isAbstract: Bool { filenameExtensions.isEmpty }

  // MARK: Looking it up

  /// The type with this identifier; nil where it is not known.
  public init?(_ identifier: String) {
    guard let type = Self.byIdentifier[identifier.lowercased()] else { return nil }
    self = type
  }

  /// The type whose files have this extension, without the dot; nil where it is not known.
  public init?(filenameExtension: String) {
    guard let type = Self.byExtension[filenameExtension.lowercased()] else { return nil }
    self = type
  }

  /// The type of a media type or range as RFC 9110 writes them: parameters are passed over, `image/*` is `public.image`,
  /// and `*/*` is `public.item`. Nil where it is not known, or not a media type.
  public init?(mimeType: String) {
    let range = mimeType.prefix { $0 != ";" }.lowercased()
    guard let type = Self.byMediaType[String(Self.trimmed(range[...]))] else { return nil }
    self = type
  }

  /// The type of data, by how it begins; nil where that is no kind that is known.
  ///
  /// - Parameter prefix: the first bytes of the file: 4096 or more, or all of them.
  public init?(contentOf prefix: some Sequence<UInt8>) {
    let prefix = Array(prefix.prefix(FileKind.mostBytes))
    switch FileKind(prefix: prefix) {
    case .jpeg: self = .jpeg
    case .png: self = .png
    case .heif: self = Self.heif(brands: FileKind.brands(prefix))
    case .unsupported(let name):
      guard let type = Self.byName[name] else { return nil }
      self = type
    case .unknown: return nil
    }
  }

  /// The type of what a source holds, by how that begins. Its position stays.
  ///
  /// - Throws: what the source throws.
  package init?(contentOf source: ByteSource) throws(DownsampleError) {
    self.init(contentOf: try FileKind.prefix(of: source))
  }

  /// By the brands of ISO/IEC 23008-12 (annex B) and AV1 Image File Format (section 6); the major one comes first. A picture
  /// counts before a sequence, as the picture is what is read.
  static func heif(brands: [String]) -> ImageType {
    let known: [(brands: [String], type: ImageType)] = [
      (["avif", "avio"], .avif), (["heic", "heix", "heim", "heis"], .heic), (["avis"], .avis),
      (["hevc", "hevx"], .heics), (["msf1"], .heifs),
    ]
    if let major = brands.first, let found = known.first(where: { $0.brands.contains(major) }) { return found.type }
    return known.first { $0.brands.contains(where: brands.contains) }?.type ?? .heif
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }

  // MARK: Broader and narrower

  /// All kinds above this one.
  public var supertypes: Set<ImageType> {
    var found: Set<ImageType> = []
    for parent in parents {
      guard let type = Self.byIdentifier[parent] else { continue }
      found.insert(type)
      found.formUnion(type.supertypes)
    }
    return found
  }

  /// Whether data of this type is of the other as well: it is the same, or one of those above it.
  public func conforms(to type: ImageType) -> Bool { self == type || supertypes.contains(type) }

  /// Whether the other type is above this one.
  public func isSubtype(of type: ImageType) -> Bool { self != type && conforms(to: type) }

  /// Whether the other type is below this one.
  public func isSupertype(of type: ImageType) -> Bool { type.isSubtype(of: self) }

  // MARK: What can be done with it

  /// Whether pictures of this kind can be decoded, as far as the kind says: a feature of one may still be missing.
  public var isDecodable: Bool { !isAbstract && (self == .jpeg || self == .png || conforms(to: .heifStandard)) }

  /// The format that writes exactly this type; nil where none does.
  public var outputFormat: OutputFormat? { OutputFormat.allCases.first { $0.type == self } }
}

extension OutputFormat {
  /// What its files are.
  public var type: ImageType {
    switch self {
    case .jpeg: .jpeg
    case .png: .png
    case .heic: .heic
    case .avif: .avif
    }
  }
}
