#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What kind of file system a device number stands for, from /proc/self/mountinfo (Swift's view of the C library has no
/// statfs).
struct FileSystemKind {
  /// As mount(8) names it, `ext4` or `tmpfs`; nil where it cannot be told.
  let name: String?

  init(device: dev_t) {
    name = Self.find(Self.number(device))
  }

  /// Its files are in memory.
  var isInMemory: Bool { name == "tmpfs" || name == "ramfs" }

  /// Other machines may write there.
  var isShared: Bool {
    guard let name else { return false }
    return ["nfs", "cifs", "smb", "fuse", "9p", "virtiofs", "ceph", "lustre"].contains { name.hasPrefix($0) }
  }

  /// `major:minor`, taken apart as sys/sysmacros.h does.
  private static func number(_ device: dev_t) -> String {
    let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
    let minor = device & 0xFF | (device >> 12) & ~0xFF
    return "\(major & 0xFFFF_FFFF):\(minor & 0xFFFF_FFFF)"
  }

  private static func find(_ number: String) -> String? {
    guard let file = fopen("/proc/self/mountinfo", "re") else { return nil }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0, let text = line {
      // 36 35 98:0 /root /mount/point options [optional fields] - kind source options; see proc_pid_mountinfo(5).
      let fields = String(cString: text).split(separator: " ")
      guard fields.count > 6, fields[2] == number, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count
      else { continue }
      return String(fields[dash + 1])
    }
    return nil
  }
}
