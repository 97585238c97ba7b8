#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What this process holds of the machine's memory, in bytes, as the kernel counts it. All are 0 where there is no /proc.
public enum Footprint {
  /// The most that was resident at once since the process began: the kernel's VmHWM. Unlike ru_maxrss it is not carried
  /// over from the process that started this one.
  public static var peakResidentBytes: Int { status("VmHWM") }

  /// What is resident now: VmRSS. The kernel's count lags behind by up to 64 pages for each thread.
  public static var residentBytes: Int { status("VmRSS") }

  /// Anonymous memory, resident or swapped out: Linux's nearest thing to iOS's phys_footprint.
  public static var footprintBytes: Int { status("RssAnon") + status("VmSwap") }

  private static func status(_ name: String) -> Int { SystemFiles().value(of: name, in: "/proc/self/status") ?? 0 }

  /// A moment from which on the peak is wanted.
  public struct Mark: Sendable {
    let resident: Int
    let peak: Int

    /// The most that was resident at once since the mark, in bytes. Exact where it is above the peak of before; else the
    /// kernel does not tell, and what was resident at the mark or is now, the larger, stands for it.
    public var peakResidentBytes: Int {
      let now = Footprint.peakResidentBytes
      return now > peak ? now : max(resident, Footprint.residentBytes)
    }

    /// Whether the process's peak has grown since the mark, which makes `peakResidentBytes` exact.
    public var isExact: Bool { Footprint.peakResidentBytes > peak }
  }

  /// Marks this moment.
  ///
  /// - Parameter resetsPeak: sets the kernel's own high-water mark back to what is resident now (5 written to
  ///   /proc/self/clear_refs), so that the peak since the mark is exact. For the whole process, and for whoever watches it
  ///   from outside.
  public static func mark(resetsPeak: Bool = false) -> Mark {
    if resetsPeak {
      let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
      if file >= 0 {
        _ = write(file, "5", 1)
        close(file)
      }
    }
    return Mark(resident: residentBytes, peak: Footprint.peakResidentBytes)
  }
}
