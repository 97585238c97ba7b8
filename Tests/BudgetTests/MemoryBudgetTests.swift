import Foundation
import Testing

@testable import Budget

/// A tree of the kernel's files, made up.
private func files(_ contents: [String: String]) throws -> SystemFiles {
  let root = FileManager.default.temporaryDirectory.appending(path: "downsample-budget-\(UUID().uuidString)").path
  for (path, text) in contents {
    let file = URL(filePath: root + path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }
  return SystemFiles(root: root)
}

private let mb = 1 << 20
private let process = [
  "/proc/self/status": "Name:\tx\nVmHWM:\t   30720 kB\nVmRSS:\t   20480 kB\nRssAnon:\t   4096 kB\nVmSwap:\t  1024 kB\n",
  "/proc/meminfo": "MemTotal:       1048576 kB\nMemFree: 1 kB\nMemAvailable:    524288 kB\n",
]
private let mounts =
  "29 31 0:5 / /proc rw - proc proc rw\n35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
  + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

@Suite struct MemoryBudgetTests {
  private func budget(_ ceiling: Int, _ groups: [String: String] = [:]) throws -> MemoryBudget {
    MemoryBudget(ceiling: ceiling, files: try files(process.merging(groups) { $1 }))
  }

  @Test func ceilingLessWhatIsResident() throws {
    let budget = try budget(120 * mb)
    #expect(budget.residentBytes == 20 * mb)
    #expect(budget.footprint == 5 * mb)
    #expect(budget.available == 100 * mb)
    #expect(budget.canAfford(100 * mb))
    #expect(!budget.canAfford(100 * mb, safetyMargin: 1))
    #expect(!budget.canAfford(.max, safetyMargin: .max))
    #expect(try self.budget(10 * mb).available == 0)
  }

  @Test func whatTheMachineHas() throws {
    #expect(try budget(4096 * mb).available == 512 * mb)
    #expect(MemoryBudget.automatic(try files(process)).ceiling == 1024 * mb)
  }

  /// A group of version 1 within one that has less left.
  @Test func version1() throws {
    let groups = [
      "/proc/self/cgroup": "4:memory,blkio:/a/b\n1:cpu:/\n0::/\n", "/proc/self/mountinfo": mounts,
      "/sys/fs/cgroup/memory/cgroup.procs": "", "/sys/fs/cgroup/memory/a/cgroup.procs": "",
      "/sys/fs/cgroup/memory/a/b/cgroup.procs": "",
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
      "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "\(64 * mb)\n",
      "/sys/fs/cgroup/memory/a/memory.usage_in_bytes": "\(50 * mb)\n",
      "/sys/fs/cgroup/memory/a/memory.stat": "cache 9\ninactive_file 1\ntotal_inactive_file \(6 * mb)\n",
      "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "\(80 * mb)\n",
      "/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes": "\(20 * mb)\n",
    ]
    #expect(try budget(1000 * mb, groups).available == 20 * mb)
    let group = ControlGroup(files: try files(process.merging(groups) { $1 }))
    #expect(group.limit == 64 * mb)
    #expect(MemoryBudget.automatic(try files(process.merging(groups) { $1 })).ceiling == 64 * mb)
  }

  /// A container sees its group as the root, under the path that it has on the host.
  @Test(arguments: ["/", "/docker/17", "/../17"]) func version2(path: String) throws {
    let groups = [
      "/proc/self/cgroup": "0::\(path)\n",
      "/proc/self/mountinfo": "41 31 0:38 \(path == "/docker/17" ? path : "/") /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
      "/sys/fs/cgroup/cgroup.procs": "1\n", "/sys/fs/cgroup/memory.max": "\(48 * mb)\n",
      "/sys/fs/cgroup/memory.current": "\(40 * mb)\n",
      "/sys/fs/cgroup/memory.stat": "anon 1\ninactive_file \(10 * mb)\n",
    ]
    #expect(try budget(1000 * mb, groups).available == 18 * mb)
  }

  @Test func withoutLimit() throws {
    let groups = [
      "/proc/self/cgroup": "0::/a\n", "/proc/self/mountinfo": mounts, "/sys/fs/cgroup/unified/a/cgroup.procs": "",
      "/sys/fs/cgroup/unified/a/memory.max": "max\n", "/sys/fs/cgroup/unified/a/memory.current": "7\n",
    ]
    let group = ControlGroup(files: try files(process.merging(groups) { $1 }))
    #expect(group.limit == nil && group.available == nil)
  }

  @Test func nothingToRead() throws {
    let budget = MemoryBudget(ceiling: 7, files: SystemFiles(root: "/nowhere"))
    #expect(budget.available == 7 && budget.residentBytes == 0 && budget.footprint == 0)
  }

  @Test func thisProcess() {
    let budget = MemoryBudget()
    #expect(budget.ceiling == 120 * mb)
    #expect(budget.residentBytes > mb && budget.footprint > 0)
    // Other tests take memory meanwhile, and the kernel's counts lag behind a little.
    let resident = Footprint.residentBytes
    #expect(Footprint.peakResidentBytes + 4 * mb >= resident)
    #expect(MemoryBudget.automatic.available > 0)
  }

  @Test func peakSinceAMark() {
    let mark = Footprint.mark()
    let before = Footprint.peakResidentBytes
    let block = UnsafeMutableRawPointer.allocate(byteCount: 96 * mb, alignment: 4096)
    block.initializeMemory(as: UInt8.self, repeating: 1, count: 96 * mb)
    let peak = mark.peakResidentBytes
    block.deallocate()
    #expect(peak + 4 * mb >= before || !mark.isExact)
    #expect(peak >= 96 * mb)
  }
}
