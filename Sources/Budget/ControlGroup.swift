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
    let controller: String
    let limit: String
    let use: String
    let inactiveFile: String

    static let one = Version(
      controller: "memory", limit: "/memory.limit_in_bytes", use: "/memory.usage_in_bytes",
      inactiveFile: "total_inactive_file")
    static let two = Version(
      controller: "", limit: "/memory.max", use: "/memory.current", inactiveFile: "inactive_file")
  }

  /// The folders of the process's groups, each with those above it up to where its file system is mounted.
  private static func folders(_ files: SystemFiles) -> [(folder: String, version: Version)] {
    guard let groups = files.text("/proc/self/cgroup"), let mounts = files.text("/proc/self/mountinfo") else {
      return []
    }
    var result: [(folder: String, version: Version)] = []
    for line in groups.split(separator: "\n") {
      // number:controllers:path, see cgroups(7).
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let controllers = parts[1].split(separator: ",")
      let version: Version
      if controllers.contains("memory") {
        version = .one
      } else if parts[0] == "0", controllers.isEmpty {
        version = .two
      } else {
        continue
      }
      guard let mount = find(version, in: mounts) else { continue }
      // Inside a container the path may be that of the host: what is mounted then is the group itself.
      var path = String(parts[2])
      if mount.root != "/", path.hasPrefix(mount.root) { path = String(path.dropFirst(mount.root.count)) }
      if files.text(mount.point + path + "/cgroup.procs") == nil { path = "" }
      while true {
        while path.hasSuffix("/") { path.removeLast() }
        result.append((mount.point + path, version))
        guard let slash = path.lastIndex(of: "/") else { break }
        path = String(path[..<slash])
      }
    }
    return result
  }

  private static func find(_ version: Version, in mounts: String) -> (root: String, point: String)? {
    for line in mounts.split(separator: "\n") {
      // 36 35 98:0 /root /mount/point options [optional fields] - kind source options; see proc_pid_mountinfo(5).
      let fields = line.split(separator: " ")
      guard fields.count > 6, let dash = fields.firstIndex(of: "-"), dash + 3 < fields.count else { continue }
      let kind = fields[dash + 1]
      let options = fields[dash + 3].split(separator: ",")
      let isIt = version.controller.isEmpty ? kind == "cgroup2" : kind == "cgroup" && options.contains("memory")
      if isIt { return (String(fields[3]), String(fields[4])) }
    }
    return nil
  }
}
