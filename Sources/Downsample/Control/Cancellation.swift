import Synchronization

/// Ends work that is going on, from any thread. It is noticed within 50 ms, but while one call of a library cannot be left, such
/// as the decoding of an undivided HEIC: see the article on cancelling.
public final class Cancellation: Sendable {
  private let isSet = Atomic(false)
  private let poll: (@Sendable () -> Bool)?
  /// Nanoseconds of the monotonic clock.
  private let lastPoll = Atomic(0)
  private let isPolling = Atomic(false)

  /// So often a function that was given is asked, in nanoseconds: rows come faster.
  private static let pollInterval = 10_000_000

  /// Not cancelled until `cancel` is called.
  public init() { poll = nil }

  /// - Parameter poll: asked every 10 ms or so while work goes on, by one thread at a time, until it says true. It should be
  ///   quick.
  public init(polling poll: @escaping @Sendable () -> Bool) { self.poll = poll }

  /// Again does nothing. Work that was given this and begins later ends at once.
  public func cancel() { isSet.store(true, ordering: .releasing) }

  /// Whether it was cancelled, or the function that was given has said so.
  public var isCancelled: Bool {
    if isSet.load(ordering: .acquiring) { return true }
    guard let poll else { return false }
    let now = Stopwatch.now
    guard now - lastPoll.load(ordering: .relaxed) >= Self.pollInterval,
      isPolling.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
    else { return false }
    defer { isPolling.store(false, ordering: .releasing) }
    lastPoll.store(now, ordering: .relaxed)
    guard poll() else { return false }
    cancel()
    return true
  }
}
