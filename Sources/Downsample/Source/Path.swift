#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The name of a file as the kernel knows it: bytes, not text. A name that is not valid UTF-8 stays what it is.
public struct Path: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The bytes, without a terminating zero.
  public let bytes: [UInt8]

  /// - Parameter bytes: without a terminating zero.
  public init(bytes: [UInt8]) { self.bytes = bytes }
  /// In UTF-8.
  public init(_ text: String) { bytes = Array(text.utf8) }
  public init(stringLiteral text: String) { self.init(text) }
  /// - Parameter cString: is copied, up to its zero.
  public init(cString: UnsafePointer<CChar>) {
    bytes = Array(UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
  }

  /// For people to read: what is not UTF-8 is shown as the replacement character.
  public var description: String { String(decoding: bytes, as: UTF8.self) }

  /// What stands after the last slash; nothing when the path ends in one.
  public var lastComponent: Path {
    guard let slash = bytes.lastIndex(of: Self.slash) else { return self }
    return Path(bytes: Array(bytes[(slash + 1)...]))
  }

  /// What stands before the last slash: `.` when there is none, `/` for what stands in the root.
  public var folder: Path {
    guard let slash = bytes.lastIndex(of: Self.slash) else { return "." }
    return slash == 0 ? "/" : Path(bytes: Array(bytes[..<slash]))
  }

  /// The last component without its extension: `photo` of `a/photo.jpg`, all of `.hidden`.
  public var stem: Path {
    let name = lastComponent.bytes
    guard let dot = Self.extensionDot(name) else { return Path(bytes: name) }
    return Path(bytes: Array(name[..<dot]))
  }

  /// What stands behind the last component's last dot, in lower case; nil when there is no dot, or only one at its
  /// beginning.
  public var fileExtension: String? {
    let name = lastComponent.bytes
    guard let dot = Self.extensionDot(name) else { return nil }
    return String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
  }

  /// Whether a folder stands there now; links are followed.
  public var isFolder: Bool { SystemCalls.status(of: self)?.kind == S_IFDIR }

  /// Whether both names lead to one file that exists; links are followed.
  public func isSameFile(as other: Path) -> Bool {
    guard let mine = SystemCalls.status(of: self), let theirs = SystemCalls.status(of: other) else { return false }
    return mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino
  }

  /// `other` as seen from this folder: itself when it is absolute.
  public func appending(_ other: Path) -> Path {
    if other.bytes.first == Self.slash { return other }
    return Path(bytes: bytes + (bytes.last == Self.slash ? [] : [Self.slash]) + other.bytes)
  }

  /// A zero byte would silently cut the name: such a path names no file.
  var isValid: Bool { !bytes.isEmpty && !bytes.contains(0) }

  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
      for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
      buffer[bytes.count] = 0
      // The buffer is never empty, so it has an address.
      return body(UnsafePointer(buffer.baseAddress!))
    }
  }

  private static func extensionDot(_ name: [UInt8]) -> Int? {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
    return dot
  }

  private static let slash = UInt8(ascii: "/")
}
