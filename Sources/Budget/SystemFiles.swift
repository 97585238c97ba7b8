#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The small text files in which the kernel tells about itself. They are read as bytes: what Unicode needs of String would
/// cost every run memory.
struct SystemFiles: Sendable {
  /// What stands before every path: empty, but for tests.
  var root = ""

  /// The file's bytes, 64 KB of them at most; nil where it cannot be read.
  func bytes(_ path: String) -> [UInt8]? {
    let file = open(root + path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    while bytes.count < 65536 {
      let count = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
        let count = read(file, buffer.baseAddress!, buffer.count)
        if count > 0 { bytes.append(contentsOf: buffer[..<count]) }
        return count
      }
      if count < 0 { return nil }
      if count == 0 { break }
    }
    return bytes
  }

  /// The lines of a file, each in its words.
  func words(_ path: String, separators: StaticString = " ") -> [[ArraySlice<UInt8>]] {
    guard let bytes = bytes(path) else { return [] }
    return bytes.split(separator: UInt8(ascii: "\n")).map { Self.split($0, separators) }
  }

  static func split(_ bytes: ArraySlice<UInt8>, _ separators: StaticString) -> [ArraySlice<UInt8>] {
    separators.withUTF8Buffer { separators in bytes.split { separators.contains($0) } }
  }

  /// The whole number that the file holds; nil where there is none, such as "max".
  func number(_ path: String) -> Int? {
    words(path).first?.first.flatMap(Self.number)
  }

  /// The value of a line "name value", "name: value" or "name: value kB"; with kB it is made bytes.
  func value(of name: String, in path: String) -> Int? {
    for words in words(path, separators: " \t:") where words.count > 1 && words[0].elementsEqual(name.utf8) {
      guard let value = Self.number(words[1]) else { continue }
      return words.count > 2 && words[2].elementsEqual("kB".utf8) ? value * 1024 : value
    }
    return nil
  }

  /// A decimal number; nil for anything else and for more than an Int holds.
  static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    if digits.isEmpty { return nil }
    var result = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      let (tenfold, isTooMuch) = result.multipliedReportingOverflow(by: 10)
      let (sum, isStillTooMuch) = tenfold.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
      if isTooMuch || isStillTooMuch { return nil }
      result = sum
    }
    return result
  }
}
