/// The processors that this process may run on.
public enum Processors {
  /// Their number, 1 at least: the set bits of the affinity mask, which containers and taskset narrow.
  public static var availableCount: Int {
    let lines = SystemFiles().text("/proc/self/status")?.split(separator: "\n") ?? []
    let mask = lines.first { $0.hasPrefix("Cpus_allowed:") }?.split(separator: "\t").last ?? ""
    return max(1, mask.reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) })
  }
}
