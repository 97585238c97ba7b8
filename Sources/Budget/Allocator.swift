import CMemory
import Synchronization

/// The C library's allocator, which decides how much of what was freed stays resident.
public enum Allocator {
  /// Sets it up for the whole process so that freed memory goes back to the system: predictions of the peak rely on it.
  /// The command line does this first of all; a host program that wants its pictures as predicted does it at its start.
  /// It also trims the process, now and before each plan. False where the C library has no such settings (it is not glibc).
  @discardableResult
  public static func configure() -> Bool {
    guard cmemory_configure_allocator() else { return false }
    isConfigured.store(true, ordering: .relaxed)
    trim()
    return true
  }

  /// Gives back to the system what is free, and the pages of code and constants that were needed once; those come back by
  /// themselves when they are needed again. Does nothing before `configure`.
  public static func trim() {
    if isConfigured.load(ordering: .relaxed) { cmemory_trim() }
  }

  private static let isConfigured = Atomic(false)
}
