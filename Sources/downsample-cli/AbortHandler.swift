import Codecs
import Downsample

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Ends the process with the documented status when it aborts. Debian builds libheif with assertions on, and some damaged
/// files fail them.
enum AbortHandler {
  static func install() {
    _ = signal(SIGABRT) { _ in
      ProcessSignals.removeUnfinishedOutputs()
      let isDamage = Libraries.isInsideLibheif
      let text: StaticString =
        isDamage
        ? "downsample: the HEIF data is damaged: libheif gave up on it\n" : "downsample: a fault of ours: aborted\n"
      _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
      _exit(isDamage ? 65 : 70)
    }
  }
}
