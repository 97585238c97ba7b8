/// The names that stand beside an output while it is written, `.NAME.downsample-PID-RANDOM`: recognisable, so that the
/// next run can sweep what a killed one left, and hidden.
enum TemporaryName {
  /// More of the output's name would only come near the limits of file systems (255 bytes, 143 on eCryptfs).
  private static let longestStem = 80
  private static let marker = Array(".downsample-".utf8)
  private static let randomDigits = 16

  static func make(for name: Path, process: Int32) -> Path {
    var stem = name.bytes
    if stem.count > longestStem {
      var end = longestStem
      // Not through the middle of a UTF-8 sequence: some file systems refuse such names.
      while end > 0, stem[end] & 0xC0 == 0x80 { end -= 1 }
      stem.removeLast(stem.count - end)
    }
    let random = String(UInt64.random(in: .min ... .max), radix: 16)
    let padding = String(repeating: "0", count: randomDigits - random.count)
    return Path(bytes: [UInt8(ascii: ".")] + stem + marker + Array("\(process)-\(padding)\(random)".utf8))
  }

  /// Whether `name` is one of ours, to the last digit.
  static func matches(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard name.first == UInt8(ascii: "."), name.count > marker.count + randomDigits + 2 else { return false }
    var end = name.count
    for _ in 0..<randomDigits {
      end -= 1
      guard isDigit(name[end]) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(name[end]) else { return false }
    }
    end -= 1
    guard name[end] == UInt8(ascii: "-") else { return false }
    let digitsEnd = end
    while end > 0, isDigit(name[end - 1]) { end -= 1 }
    guard end < digitsEnd, end > marker.count else { return false }
    return name[(end - marker.count)..<end].elementsEqual(marker)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
