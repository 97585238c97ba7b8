/// The processors that this process may run on.
public enum Processors {
  /// Their number, 1 at least: the set bits of the affinity mask, which containers and taskset narrow.
  public static var availableCount: Int {
    let lines = SystemFiles().words("/proc/self/status", separators: " \t:")
    let mask = lines.first { $0.count > 1 && $0[0].elementsEqual("Cpus_allowed".utf8) }?[1] ?? []
    return max(1, mask.reduce(0) { $0 + bits($1) })
  }

  /// Of a hexadecimal digit.
  private static func bits(_ digit: UInt8) -> Int {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): (digit - UInt8(ascii: "0")).nonzeroBitCount
    case UInt8(ascii: "a")...UInt8(ascii: "f"): (digit - UInt8(ascii: "a") + 10).nonzeroBitCount
    default: 0
    }
  }
}
