#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A stopwatch on the monotonic clock.
struct Stopwatch {
  private var start = Self.now

  /// Nanoseconds since some moment.
  static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
  }

  /// Nanoseconds since this was made, or since the last call of `lap`.
  var elapsed: Int { Self.now - start }

  /// The same, and starts again.
  mutating func lap() -> Int {
    let now = Self.now
    defer { start = now }
    return now - start
  }
}
