import Downsample
import Raster

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Ends the process when the work did not stop at its deadline by itself: a library that does not come back from damaged
/// data, a disk that does not answer.
enum DeadlineAlarm {
  // Set before the alarm is, read by its handler alone.
  nonisolated(unsafe) private static var messages: [LastMessage] = []

  /// The work asks for the deadline often, and says best what it was doing: it is given that much longer, in seconds.
  private static let patience = 1.0

  /// - Parameters:
  ///   - deadline: from now on.
  ///   - inputName: for the messages.
  ///   - json: where the report goes as JSON; nil when none is wanted.
  ///   - text: whether text goes to standard error.
  static func set(_ deadline: Duration, inputName: String, json: Int32?, text: Bool) {
    let error = DownsampleError(.deadlinePassed, "not done within the deadline, and did not stop at it")
    messages = LastMessage.messages(error, inputName, json, text)
    _ = signal(SIGALRM) { _ in
      ProcessSignals.removeUnfinishedOutputs()
      for message in DeadlineAlarm.messages { message.put() }
      _exit(DownsampleError.Code.deadlinePassed.rawValue)
    }
    let (seconds, attoseconds) = deadline.components
    start(Double(seconds) + Double(attoseconds) / 1e18 + patience)
  }

  /// Once the output is there.
  static func cancel() { start(0) }

  private static func start(_ seconds: Double) {
    let most = 1e9  // decades
    let whole = min(seconds, most).rounded(.down)
    var timer = itimerval()
    timer.it_value.tv_sec = Int(whole)
    timer.it_value.tv_usec = Int((min(seconds, most) - whole) * 1e6)
    // Without it the deadline still ends all but what does not come back.
    _ = setitimer(__itimer_which_t(0), &timer, nil)
  }
}
