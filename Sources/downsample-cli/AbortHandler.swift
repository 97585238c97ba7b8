import Codecs
import Downsample
import Raster

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Ends the process with the documented status when it aborts. Debian builds libheif with assertions on, and some damaged
/// files fail them.
enum AbortHandler {
  // Set before decoding begins, read by the handler alone.
  nonisolated(unsafe) private static var damage: [LastMessage] = []
  nonisolated(unsafe) private static var fault: [LastMessage] = []

  private static let damageError = DownsampleError(.damagedData, "the HEIF data is damaged: libheif gave up on it")
  private static let faultError = DownsampleError(.internalFault, "aborted")

  /// - Parameters:
  ///   - inputName: for the messages.
  ///   - json: where the report goes as JSON; nil when none is wanted.
  ///   - text: whether text goes to standard error.
  static func install(inputName: String, json: Int32?, text: Bool) {
    for message in damage + fault { message.deallocate() }
    damage = LastMessage.messages(damageError, inputName, json, text)
    fault = LastMessage.messages(faultError, inputName, json, text)
    _ = signal(SIGABRT) { _ in
      ProcessSignals.removeUnfinishedOutputs()
      let isDamage = Libraries.isInsideLibheif
      for message in isDamage ? AbortHandler.damage : AbortHandler.fault {
        message.put()
      }
      _exit(isDamage ? 65 : 70)
    }
  }
}
