/// How much memory the process may hold, and how much of that is left.
public struct MemoryBudget: Sendable {
  /// The most resident memory that the process may reach, in bytes.
  public var ceiling: Int

  private let files: SystemFiles

  /// 120 MB, about where iOS ends a share extension.
  public static let defaultCeiling = 120 * ByteCount.megabyte

  /// - Parameter ceiling: the most resident memory that the process may reach, in bytes.
  public init(ceiling: Int = MemoryBudget.defaultCeiling) {
    self.init(ceiling: ceiling, files: SystemFiles())
  }

  init(ceiling: Int, files: SystemFiles) {
    self.ceiling = ceiling
    self.files = files
  }

  /// The ceiling that the process's control group sets; the machine's memory where no group limits it.
  public static var automatic: MemoryBudget { automatic(SystemFiles()) }

  static func automatic(_ files: SystemFiles) -> MemoryBudget {
    let machine = files.value(of: "MemTotal", in: "/proc/meminfo") ?? defaultCeiling
    return MemoryBudget(ceiling: min(ControlGroup(files: files).limit ?? machine, machine), files: files)
  }

  /// What is resident now, in bytes; 0 where there is no /proc.
  public var residentBytes: Int { files.value(of: "VmRSS", in: "/proc/self/status") ?? 0 }

  /// Anonymous memory, resident or swapped out, in bytes: see `Footprint.footprintBytes`.
  public var footprint: Int {
    (files.value(of: "RssAnon", in: "/proc/self/status") ?? 0)
      + (files.value(of: "VmSwap", in: "/proc/self/status") ?? 0)
  }

  /// What may still be taken, in bytes, 0 at least: the ceiling less what is resident; less where the control group (its
  /// limit minus its use, inactive file cache not counted) or the machine (MemAvailable) has less.
  public var available: Int { state.available }

  /// One look at all of it.
  public struct State: Sendable {
    /// `residentBytes`.
    public var resident: Int
    /// The most that was resident so far: `Footprint.peakResidentBytes`.
    public var peak: Int
    /// `available`.
    public var available: Int
    /// Whether a higher ceiling would leave more: the control group and the machine have enough.
    public var isLimitedByCeiling: Bool
  }

  /// All of it now.
  public var state: State {
    let resident = residentBytes
    let machine = files.value(of: "MemAvailable", in: "/proc/meminfo") ?? .max
    let others = min(ControlGroup(files: files).available ?? .max, machine)
    return State(
      resident: resident, peak: files.value(of: "VmHWM", in: "/proc/self/status") ?? resident,
      available: max(0, min(ceiling - resident, others)),
      isLimitedByCeiling: ceiling - resident <= others)
  }

  /// Whether so many bytes more can be taken and `safetyMargin` bytes still be left. Both 0 or more.
  public func canAfford(_ bytes: Int, safetyMargin: Int = 0) -> Bool {
    let (sum, isTooMuch) = bytes.addingReportingOverflow(safetyMargin)
    return !isTooMuch && sum <= available
  }
}
