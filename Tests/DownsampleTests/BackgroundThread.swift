import Foundation
import Synchronization

/// A thread of its own for what blocks: the pool that tests run on has as few threads as the machine has cores.
final class BackgroundThread<Value: Sendable>: Sendable {
  private let result = Mutex<Value?>(nil)
  private let done = DispatchSemaphore(value: 0)
  private let stop = Atomic<Bool>(false)

  init(_ body: @escaping @Sendable (_ isStopped: () -> Bool) -> Value) {
    Thread.detachNewThread { [self] in
      let value = body { self.stop.load(ordering: .relaxed) }
      result.withLock { $0 = value }
      done.signal()
    }
  }

  /// Tells the thread to stop, where it looks.
  func cancel() { stop.store(true, ordering: .relaxed) }

  /// Nil when the thread does not end within 20 seconds.
  func value() -> Value? {
    if done.wait(timeout: .now() + 20) == .timedOut { return nil }
    return result.withLock { $0 }
  }
}
