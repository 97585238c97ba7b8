#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a program that owns its process does about signals. Never called by the library itself: in a host program the
/// signals are the host's.
package enum ProcessSignals {
  /// Makes a broken pipe and a file size limit errors that are reported (exit 74) instead of silent ends, and lets
  /// SIGINT, SIGTERM and SIGHUP remove the temporary names of unfinished outputs before they end the process as usual.
  /// A signal that is ignored (`nohup`) stays ignored.
  package static func install() {
    PendingNames.prepare()
    _ = signal(SIGPIPE, SIG_IGN)
    _ = signal(SIGXFSZ, SIG_IGN)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let previous = signal(number) { number in
        PendingNames.removeAll()
        // Blocked while this runs, delivered as soon as it returns: the parent sees the signal as the cause of death.
        _ = signal(number, SIG_DFL)
        _ = raise(number)
      }
      if unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { _ = signal(number, SIG_IGN) }
    }
  }

  /// Removes the temporary names of unfinished outputs. Safe in a signal handler after `install`: for a handler that
  /// ends the process, such as the one for SIGABRT.
  package static func removeUnfinishedOutputs() { PendingNames.removeAll() }
}
