import CXML
import Raster

/// Writes an XMP packet again without what its rules drop: parsed and written as it is read, nothing of it is held but the
/// output.
struct XMPFilter {
  /// A number of the output's size, waiting to be filled in.
  struct Patch: Equatable {
    var isWidth: Bool
    /// Of its first digit.
    var offset: Int
  }

  struct Result: Equatable {
    /// UTF-8, in a packet wrapper without padding. Empty where no property is left.
    var bytes: [UInt8]
    var patches: [Patch]
  }

  enum Failure: Error { case broken, noLibrary }

  /// The room of a number that is filled in later: it has as many or fewer.
  static let digits = 5

  static func filter(_ bytes: [UInt8], rules: XMPRules) -> Swift.Result<Result, Failure> {
    let writer = XMPWriter(rules: rules, limit: bytes.count * 2 + 4096)
    var handlers = cxml_handlers()
    handlers.declare = { context, prefix, uri in
      XMPWriter.of(context).declare(
        prefix.map { String(cString: $0) } ?? "", uri: uri.map { String(cString: $0) } ?? "")
    }
    handlers.start = { context, name, attributes in
      var pairs: [(String, String)] = []
      var next = attributes!
      while let name = next[0], let value = next[1] {
        pairs.append((String(cString: name), String(cString: value)))
        next += 2
      }
      return XMPWriter.of(context).start(String(cString: name!), attributes: pairs)
    }
    handlers.end = { context, _ in XMPWriter.of(context).end() }
    handlers.text = { context, text, count in
      text!.withMemoryRebound(to: UInt8.self, capacity: count) {
        XMPWriter.of(context).text(UnsafeBufferPointer(start: $0, count: count))
      }
    }
    let status = trimmed(bytes).withUnsafeBufferPointer { bytes in
      cxml_parse(bytes.baseAddress, bytes.count, &handlers, Unmanaged.passUnretained(writer).toOpaque())
    }
    if status == CXML_NO_LIBRARY { return .failure(.noLibrary) }
    guard status == CXML_OK else { return .failure(.broken) }
    return .success(writer.result)
  }

  /// Fills in the numbers, which have as many digits as there is room for or fewer: what follows moves up, once.
  static func complete(_ bytes: consuming [UInt8], _ patches: [Patch], _ size: PixelSize) -> [UInt8] {
    var bytes = bytes
    var read = 0
    var written = 0
    func move(to end: Int) {
      if read == written {
        written = end
      } else {
        while read < end {
          put(bytes[read])
          read += 1
        }
      }
      read = end
    }
    func put(_ byte: UInt8) {
      bytes[written] = byte
      written += 1
    }
    for patch in patches {
      move(to: patch.offset)
      for digit in String(patch.isWidth ? size.width : size.height).utf8 { put(digit) }
      read += digits
    }
    move(to: bytes.count)
    bytes.removeLast(bytes.count - written)
    return bytes
  }

  /// Without white space and zeros around it: the one is not allowed before an XML declaration, the others nowhere.
  private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    func isPadding(_ byte: UInt8) -> Bool { [0, 0x09, 0x0A, 0x0D, 0x20].contains(byte) }
    // In UTF-16 zeros are halves of characters.
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) || bytes.prefix(2).contains(0) {
      return bytes[...]
    }
    guard let first = bytes.firstIndex(where: { !isPadding($0) }), let last = bytes.lastIndex(where: { !isPadding($0) })
    else { return [] }
    return bytes[first...last]
  }
}
