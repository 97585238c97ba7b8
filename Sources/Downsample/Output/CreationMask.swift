#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The process's umask. `umask()` can only read it by changing it, which other threads would see: the kernel also
/// writes it in /proc/self/status (since 4.7).
enum CreationMask {
  static func current() -> mode_t {
    let descriptor = SystemCalls.open("/proc/self/status", O_RDONLY)
    if descriptor >= 0 {
      defer { close(descriptor) }
      // The line is the second.
      let text = withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { buffer in
        let count = SystemCalls.read(descriptor, buffer)
        return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
      }
      for line in text.split(separator: "\n") where line.hasPrefix("Umask:") {
        if let value = mode_t(line.dropFirst(6).drop { $0 == "\t" || $0 == " " }, radix: 8) { return value }
      }
    }
    let mask = umask(0o077)
    umask(mask)
    return mask
  }
}
