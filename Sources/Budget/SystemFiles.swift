#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The small text files in which the kernel tells about itself.
struct SystemFiles: Sendable {
  /// What stands before every path: empty, but for tests.
  var root = ""

  /// The file's text, 64 KB of it at most; nil where it cannot be read.
  func text(_ path: String) -> String? {
    let file = open(root + path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var text: [UInt8] = []
    while text.count < 65536 {
      let count = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
        let count = read(file, buffer.baseAddress!, buffer.count)
        if count > 0 { text.append(contentsOf: buffer[..<count]) }
        return count
      }
      if count < 0 { return nil }
      if count == 0 { break }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The whole number that the file holds; nil where there is none, such as "max".
  func number(_ path: String) -> Int? {
    text(path).flatMap { Int($0.split(whereSeparator: \.isWhitespace).first ?? "") }
  }

  /// The value of a line "name value", "name: value" or "name: value kB"; with kB it is made bytes.
  func value(of name: String, in path: String) -> Int? {
    guard let text = text(path) else { return nil }
    for line in text.split(separator: "\n") {
      let words = line.split { $0 == " " || $0 == "\t" || $0 == ":" }
      guard words.count > 1, words[0] == name, let value = Int(words[1]) else { continue }
      return words.count > 2 && words[2] == "kB" ? value * 1024 : value
    }
    return nil
  }
}
