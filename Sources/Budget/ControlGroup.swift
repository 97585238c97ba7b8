/// The memory control groups that this process is in: containers and services are limited by them. Versions 1 and 2.
struct ControlGroup: Sendable {
  /// The lowest limit of the group and those above it, in bytes; nil where there is none.
  let limit: Int?
  /// What may still be taken before one of them is reached: its limit less its use, with inactive file cache, which the
  /// kernel drops first, not counted as use.
  let available: Int?

  init(files: SystemFiles = SystemFiles()) {
    var limit: Int?
    var available: Int?
    for group in Self.folders(files) {
      // Without a limit, v2 says "max" and v1 the largest multiple of a page that an Int holds.
      guard let most = files.number(group.folder + group.version.limit), most < 1 << 60 else { continue }
      let use = files.number(group.folder + group.version.use) ?? 0
      let cache = files.value(of: group.version.inactiveFile, in: group.folder + "/memory.stat") ?? 0
      limit = min(limit ?? .max, most)
      available = min(available ?? .max, max(0, most - max(0, use - cache)))
    }
    self.limit = limit
    self.available = available
  }

  private struct Version {
    let isSecond: Bool
    let limit: String
    let use: String
    let inactiveFile: String

    static let one = Version(
      isSecond: false, limit: "/memory.limit_in_bytes", use: "/memory.usage_in_bytes",
      inactiveFile: "total_inactive_file")
    static let two = Version(
      isSecond: true, limit: "/memory.max", use: "/memory.current", inactiveFile: "inactive_file")
  }

  /// The folders of the process's groups, each with those above it up to where its file system is mounted.
  private static func folders(_ files: SystemFiles) -> [(folder: String, version: Version)] {
    guard let groups = files.bytes("/proc/self/cgroup") else { return [] }
    let mounts = files.words("/proc/self/mountinfo")
    var result: [(folder: String, version: Version)] = []
    for line in groups.split(separator: UInt8(ascii: "\n")) {
      // number:controllers:path, see cgroups(7).
      let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let version: Version
      if has(parts[1], "memory") {
        version = .one
      } else if parts[0].elementsEqual("0".utf8), parts[1].isEmpty {
        version = .two
      } else {
        continue
      }
      guard let mount = find(version, in: mounts) else { continue }
      // Inside a container the path may be that of the host: what is mounted then is the group itself.
      var path = Array(parts[2])
      if mount.root != Array("/".utf8), path.starts(with: mount.root) { path.removeFirst(mount.root.count) }
      let point = String(decoding: mount.point, as: UTF8.self)
      if files.bytes(point + String(decoding: path, as: UTF8.self) + "/cgroup.procs") == nil { path = [] }
      while true {
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        result.append((point + String(decoding: path, as: UTF8.self), version))
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { break }
        path.removeSubrange(slash...)
      }
    }
    return result
  }

  private static func has(_ list: ArraySlice<UInt8>, _ word: String) -> Bool {
    list.split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual(word.utf8) }
  }

  private static func find(
    _ version: Version, in mounts: [[ArraySlice<UInt8>]]
  ) -> (root: [UInt8], point: ArraySlice<UInt8>)? {
    for fields in mounts {
      // 36 35 98:0 /root /mount/point options [optional fields] - kind source options; see proc_pid_mountinfo(5).
      guard fields.count > 6, let dash = fields.firstIndex(where: { $0.elementsEqual("-".utf8) }),
        dash + 3 < fields.count
      else { continue }
      let kind = fields[dash + 1]
      let isIt =
        version.isSecond
        ? kind.elementsEqual("cgroup2".utf8)
        : kind.elementsEqual("cgroup".utf8) && has(fields[dash + 3], "memory")
      if isIt { return (Array(fields[3]), fields[4]) }
    }
    return nil
  }
}
