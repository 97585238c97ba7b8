import Glibc

/// Something that is timed by itself.
struct MicroCase {
  let group: String
  let name: String
  /// Which code: the kernel as it ships, or one of its variants.
  let variant: String
  /// Bytes that one call takes in.
  let bytes: Int
  let call: () -> Void
}

struct Timing {
  /// Nanoseconds of processor time a call: the least and the median of the samples.
  let best: Double
  let median: Double

  /// MB of 1,048,576 bytes a second, at the best.
  func throughput(bytes: Int) -> Double { Double(bytes) / 1_048_576 / (best / 1e9) }

  /// The thread's own processor time: what others run does not count.
  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  private static func sample(calls: Int, _ call: () -> Void) -> Double {
    let start = now()
    for _ in 0..<calls { call() }
    return now() - start
  }

  /// Samples of a millisecond or more, until the best has stayed within half a percent for `patience` of them, or a second has
  /// passed.
  init(patience: Int, _ call: () -> Void) {
    call()
    var calls = 1
    while true {
      let time = Self.sample(calls: calls, call)
      if time >= 1e6 { break }
      calls *= time > 1e5 ? Int((1.2e6 / time).rounded(.up)) : 10
    }
    var samples: [Double] = []
    var best = Double.infinity
    var sinceBetter = 0
    let start = Self.now()
    while sinceBetter < patience, Self.now() - start < 1e9 {
      let time = Self.sample(calls: calls, call) / Double(calls)
      sinceBetter = time < best * 0.995 ? 0 : sinceBetter + 1
      best = min(best, time)
      samples.append(time)
    }
    samples.sort()
    self.best = best
    median = samples[samples.count / 2]
  }
}

/// Memory for the cases, kept until the program ends.
enum Memory {
  static func zeros<Element: BitwiseCopyable>(_ count: Int, of _: Element.Type) -> UnsafeMutablePointer<Element> {
    let size = max(1, count) * MemoryLayout<Element>.stride
    // 64 bytes past the end: packed coefficients are read so far.
    guard let memory = aligned_alloc(64, (size + 64 + 63) & ~63) else { fail("no memory") }
    memset(memory, 0, size + 64)
    return memory.bindMemory(to: Element.self, capacity: max(1, count))
  }

  static func filled<Element: BitwiseCopyable>(
    _ count: Int, _ value: (Int) -> Element
  ) -> UnsafeMutablePointer<Element> {
    let memory = zeros(count, of: Element.self)
    for i in 0..<count { memory[i] = value(i) }
    return memory
  }

  /// Noise that is the same every time.
  static func noise(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    var state: UInt32 = 1
    return filled(count) { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24)
    }
  }

  static func deepNoise(_ count: Int) -> UnsafeMutablePointer<UInt16> {
    let bytes = noise(count * 2)
    return filled(count) { UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) }
  }
}

/// Standard error, one line.
func fail(_ text: String, status: Int32 = 1) -> Never {
  let line = Array("bench-micro: \(text)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  exit(status)
}
