import CMemory

/// The C library's allocator, which decides how much of what was freed stays resident.
public enum Allocator {
  /// Sets it up for the whole process so that freed memory goes back to the system: predictions of the peak rely on it.
  /// The command line does this first of all; a host program that wants its pictures as predicted does it at its start.
  /// False where the C library has no such settings (it is not glibc).
  @discardableResult
  public static func configure() -> Bool { cmemory_configure_allocator() }
}
