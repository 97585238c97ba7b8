/// Numbers of bytes, as they are written and read by people.
public enum ByteCount {
  /// Bytes of one MB: 1,048,576, here and everywhere in this project.
  public static let megabyte = 1 << 20

  /// The bytes that a text says: "120MB", "64 MiB", "1.5G", "4096", in any case. K, M, G and T are powers of 1,024, with
  /// B or iB behind them or not. Nil for anything else, for less than a byte, and for more than an Int holds.
  public static func parse(_ text: String) -> Int? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
    let shifts = ["": 0, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40]
    let name =
      unit.hasSuffix("ib") ? unit.dropLast(2) : unit.count > 1 && unit.hasSuffix("b") ? unit.dropLast(1) : unit[...]
    guard let shift = shifts[String(name)], !(name.isEmpty && unit.hasSuffix("ib")), !(name == "b" && unit.count > 1)
    else { return nil }
    let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }), let number = Double(digits) else {
      return nil
    }
    if parts.count == 2, shift == 0 { return nil }
    let bytes = (number * Double(1 << shift)).rounded()
    return bytes >= 1 && bytes < 0x1p62 ? Int(bytes) : nil
  }

  /// "143 MB", "2.4 MB" below 10, "12 KB" and "900 bytes" for less; rounded up, since what is needed is meant.
  public static func describe(_ bytes: Int) -> String {
    if bytes < 1024 { return "\(bytes) bytes" }
    if bytes < megabyte { return "\((bytes + 1023) >> 10) KB" }
    let tenths = (Double(bytes) * 10 / Double(megabyte)).rounded(.up)
    if tenths < 100 { return "\(Int(tenths) / 10).\(Int(tenths) % 10) MB" }
    return "\(megabytes(bytes)) MB"
  }

  /// Whole MB, rounded up.
  public static func megabytes(_ bytes: Int) -> Int { bytes / megabyte + (bytes % megabyte == 0 ? 0 : 1) }
}
