import Downsample
import Synchronization

/// What `dsm_job_cancel` reaches from another thread: the run that is going on, or else the next.
final class Canceller: Sendable {
  private struct State {
    var run: Cancellation?
    var isWanted = false
  }

  private let state = Mutex(State())

  func cancel() {
    let run = state.withLock { state in
      state.isWanted = true
      return state.run
    }
    run?.cancel()
  }

  /// - Throws: `.usage` when a run is going on: called from one of its callbacks.
  func begin(_ run: Cancellation) throws(DownsampleError) {
    let isWanted: Bool? = state.withLock { state in
      if state.run != nil { return nil }
      state.run = run
      return state.isWanted
    }
    guard let isWanted else { throw DownsampleError(.usage, "the job is running") }
    if isWanted { run.cancel() }
  }

  /// A cancellation that came too late for this run is not the next one's.
  func end() { state.withLock { $0 = State() } }
}
