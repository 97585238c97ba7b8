import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The temporary names that exist at this moment, in a table that a signal handler can read: no lock, no allocation,
/// and an entry that the handler has taken is never changed again.
enum PendingNames {
  /// One entry of the table, to be given back with `disarm`.
  struct Entry {
    fileprivate let index: Int
  }

  /// Notes `name` in the open folder `folder`, before the name is made. Nil when the table is full or the name too
  /// long: then a signal leaves the name, and the next run sweeps it.
  static func arm(_ name: Path, folder: Int32) -> Entry? {
    guard name.isValid, name.bytes.count <= longestName else { return nil }
    for index in 0..<capacity {
      let (claimed, _) = states[index].compareExchange(
        expected: free, desired: claimed, ordering: .acquiringAndReleasing)
      guard claimed else { continue }
      folders[index] = folder
      let text = names + index * (longestName + 1)
      for (offset, byte) in name.bytes.enumerated() { text[offset] = CChar(bitPattern: byte) }
      text[name.bytes.count] = 0
      states[index].store(armed, ordering: .releasing)
      return Entry(index: index)
    }
    return nil
  }

  /// The name is gone, or is the output's now.
  static func disarm(_ entry: Entry) {
    // Fails only when a handler is at work in another thread; then the process is about to end.
    _ = states[entry.index].compareExchange(expected: armed, desired: free, ordering: .acquiringAndReleasing)
  }

  /// Touches everything that `removeAll` reads, so that nothing is initialised inside a handler.
  static func prepare() {
    _ = states
    _ = folders
    _ = names
  }

  /// Removes every name in the table. Safe in a signal handler, once `prepare` has run.
  static func removeAll() {
    for index in 0..<capacity {
      let (mine, _) = states[index].compareExchange(expected: armed, desired: taken, ordering: .acquiringAndReleasing)
      if mine { _ = unlinkat(folders[index], names + index * (longestName + 1), 0) }
    }
  }

  private static let capacity = 64
  private static let longestName = 255

  private static let free = 0
  private static let claimed = 1
  private static let armed = 2
  private static let taken = 3

  // Allocated once and kept for the life of the process. What an entry holds is written between `claimed` and `armed`
  // and read after `taken`, never at the same time.
  private nonisolated(unsafe) static let states: UnsafeMutablePointer<Atomic<Int>> = {
    let states = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: capacity)
    for index in 0..<capacity { (states + index).initialize(to: Atomic(free)) }
    return states
  }()
  private nonisolated(unsafe) static let folders = UnsafeMutablePointer<Int32>.allocate(capacity: capacity)
  private nonisolated(unsafe) static let names = UnsafeMutablePointer<CChar>.allocate(
    capacity: capacity * (longestName + 1))
}
