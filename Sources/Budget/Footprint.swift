/// What this process holds of the machine's memory, as the kernel counts it.
public enum Footprint {
  /// The most that was resident at once since the process began, in bytes: the kernel's VmHWM. Unlike ru_maxrss it is not
  /// carried over from the process that started this one. 0 where there is no /proc.
  public static var peakResidentBytes: Int {
    guard let kibibytes = ProcessStatus.value(of: "VmHWM")?.split(separator: " ").first.flatMap({ Int($0) }) else {
      return 0
    }
    return kibibytes * 1024
  }
}
