#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Carries rows from a thread that decodes them to the one that resamples and encodes them, so that both work at once. Rows
/// are copied into blocks, which are handed over when they are full; whoever is ahead waits.
public final class RowRelay {
  /// Enough that a hand-over costs little beside what the rows in it do, and few enough to stay in a processor's cache.
  private static let usualBlockBytes = 128 << 10
  private static let blockCount = 3
  private static let mostRowsPerBlock = 1024
  private static let stackBytes = 512 << 10
  /// What of the stack libjpeg, libpng and their callbacks touch, and the thread itself takes.
  private static let touchedStackBytes = 96 << 10

  private let rowBytes: [Int]
  private let strides: [Int]
  private let blockBytes: Int
  private let blocks: RowBuffer
  /// Of each row in each block: its plane.
  private let planes: UnsafeMutablePointer<UInt8>

  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  // Under the lock: blocks handed over and given back since the beginning, and how it ends.
  private var handedOver = 0
  private var givenBack = 0
  private var rowCounts = [Int](repeating: 0, count: RowRelay.blockCount)
  private var isOver = false
  private var isStopped = false
  private var failure: DownsampleError?

  // The decoding thread's own: the block that is being filled.
  private var filled = 0
  private var rowsFilled = 0
  private var hasBlock = false

  /// - Parameter planes: those whose rows come.
  /// - Throws: `.overBudget` when the system has not the memory.
  private init(planes layouts: [PlaneLayout]) throws(DownsampleError) {
    rowBytes = layouts.map(\.bytesPerRow)
    strides = rowBytes.map(Self.stride)
    blockBytes = Self.blockBytes(layouts)
    blocks = try RowBuffer(byteCount: blockBytes * Self.blockCount)
    planes = .allocate(capacity: Self.mostRowsPerBlock * Self.blockCount)
    pthread_mutex_init(lock, nil)
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(lock)
    changed.deallocate()
    lock.deallocate()
    planes.deallocate()
  }

  private static func stride(_ bytes: Int) -> Int { (bytes + 63) & ~63 }

  private static func blockBytes(_ planes: [PlaneLayout]) -> Int {
    max(usualBlockBytes, planes.map { stride($0.bytesPerRow) }.max() ?? 0)
  }

  /// What it holds, in bytes, at most: its thread too.
  public static func byteCount(planes: [PlaneLayout]) -> Int {
    (blockBytes(planes) + mostRowsPerBlock) * blockCount + touchedStackBytes
  }

  /// Has `decode` called on a thread of its own, with a sink for its rows, and gives them to `next` on this one. Both are done
  /// when it returns. Where no thread can be started, all is done on this one.
  ///
  /// - Parameters:
  ///   - planes: those that `decode` brings rows of.
  ///   - decode: brings all rows, and does not call `finish`.
  ///   - next: gets them in order. `finish` is not called.
  /// - Throws: what `next` throws, after `decode` was stopped at its next row; else what `decode` throws, after all rows that
  ///   it brought before were given on.
  public static func run(
    planes: [PlaneLayout], decode: @escaping (RowSink) throws(DownsampleError) -> Void, to next: RowSink
  ) throws(DownsampleError) {
    let relay = try RowRelay(planes: planes)
    guard let thread = relay.start(decode) else { return try decode(next) }
    defer { pthread_join(thread, nil) }
    do throws(DownsampleError) {
      try relay.giveRows(to: next)
    } catch {
      relay.stop()
      throw error
    }
    if let failure = relay.failure { throw failure }
  }

  // MARK: The thread that decodes

  private struct Task {
    let relay: RowRelay
    let decode: (RowSink) throws(DownsampleError) -> Void
  }

  private func start(_ decode: @escaping (RowSink) throws(DownsampleError) -> Void) -> pthread_t? {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return nil }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, Self.stackBytes)
    let task = UnsafeMutablePointer<Task>.allocate(capacity: 1)
    task.initialize(to: Task(relay: self, decode: decode))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, &attributes,
      { context in
        let place = context!.assumingMemoryBound(to: Task.self)
        let task = place.move()
        place.deallocate()
        var failure: DownsampleError?
        do throws(DownsampleError) { try task.decode(Entry(relay: task.relay)) } catch { failure = error }
        task.relay.end(failure)
        return nil
      }, task)
    if status == 0 { return thread }
    task.deinitialize(count: 1)
    task.deallocate()
    return nil
  }

  /// Where the decoding thread writes its rows.
  private final class Entry: RowSink {
    private let relay: RowRelay
    init(relay: RowRelay) { self.relay = relay }
    func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) { try relay.append(row, plane) }
    func finish() {}
  }

  private func append(_ row: UnsafeRawPointer, _ plane: Int) throws(DownsampleError) {
    let stride = strides[plane]
    if hasBlock && (filled + stride > blockBytes || rowsFilled == Self.mostRowsPerBlock) { handOver() }
    if !hasBlock { try takeBlock() }
    let slot = handedOver % Self.blockCount
    (blocks.bytes + slot * blockBytes + filled).copyMemory(from: row, byteCount: rowBytes[plane])
    planes[slot * Self.mostRowsPerBlock + rowsFilled] = UInt8(plane)
    filled += stride
    rowsFilled += 1
  }

  private func takeBlock() throws(DownsampleError) {
    pthread_mutex_lock(lock)
    while handedOver - givenBack == Self.blockCount && !isStopped { pthread_cond_wait(changed, lock) }
    let isStopped = isStopped
    pthread_mutex_unlock(lock)
    // Nobody sees this: whoever stopped it has an error of its own.
    if isStopped { throw DownsampleError(.internalFault, "decoding was stopped") }
    hasBlock = true
    filled = 0
    rowsFilled = 0
  }

  private func handOver() {
    pthread_mutex_lock(lock)
    rowCounts[handedOver % Self.blockCount] = rowsFilled
    handedOver += 1
    pthread_cond_signal(changed)
    pthread_mutex_unlock(lock)
    hasBlock = false
  }

  private func end(_ failure: DownsampleError?) {
    if hasBlock { handOver() }
    pthread_mutex_lock(lock)
    self.failure = failure
    isOver = true
    pthread_cond_signal(changed)
    pthread_mutex_unlock(lock)
  }

  // MARK: The thread that takes the rows

  private func giveRows(to next: RowSink) throws(DownsampleError) {
    var taken = 0
    while let rowCount = waitForBlock(taken) {
      let slot = taken % Self.blockCount
      var row = UnsafeRawPointer(blocks.bytes + slot * blockBytes)
      for i in 0..<rowCount {
        let plane = Int(planes[slot * Self.mostRowsPerBlock + i])
        try next.write(row, plane: plane)
        row += strides[plane]
      }
      taken += 1
      pthread_mutex_lock(lock)
      givenBack = taken
      pthread_cond_signal(changed)
      pthread_mutex_unlock(lock)
    }
  }

  /// The rows of the block, nil at the end.
  private func waitForBlock(_ index: Int) -> Int? {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while handedOver == index && !isOver { pthread_cond_wait(changed, lock) }
    return handedOver > index ? rowCounts[index % Self.blockCount] : nil
  }

  private func stop() {
    pthread_mutex_lock(lock)
    isStopped = true
    pthread_cond_signal(changed)
    pthread_mutex_unlock(lock)
  }
}
