#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// /proc/self/status: what the kernel says of this process, a line each.
enum ProcessStatus {
  /// The value of a line, "VmHWM" or "Cpus_allowed", without the spaces around it; nil where there is none.
  static func value(of name: String) -> String? {
    let file = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 1) { buffer in
      let count = read(file, buffer.baseAddress!, buffer.count)
      guard count > 0 else { return nil }
      let text = String(decoding: buffer[..<count], as: UTF8.self)
      guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name + ":") }) else { return nil }
      return String(line.dropFirst(name.count + 1).drop { $0 == "\t" || $0 == " " })
    }
  }
}
