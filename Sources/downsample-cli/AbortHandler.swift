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
  /// What is written where, made ready before: a handler may not allocate.
  private struct Message {
    let bytes: UnsafeMutableBufferPointer<UInt8>
    let descriptor: Int32
  }

  // Set before decoding begins, read by the handler alone.
  nonisolated(unsafe) private static var damage: [Message] = []
  nonisolated(unsafe) private static var fault: [Message] = []

  private static let damageError = DownsampleError(.damagedData, "the HEIF data is damaged: libheif gave up on it")
  private static let faultError = DownsampleError(.internalFault, "aborted")

  /// - Parameters:
  ///   - inputName: for the messages.
  ///   - json: where the report goes as JSON; nil when none is wanted.
  ///   - text: whether text goes to standard error.
  static func install(inputName: String, json: Int32?, text: Bool) {
    for message in damage + fault { message.bytes.deallocate() }
    damage = messages(damageError, inputName, json, text)
    fault = messages(faultError, inputName, json, text)
    _ = signal(SIGABRT) { _ in
      ProcessSignals.removeUnfinishedOutputs()
      let isDamage = Libraries.isInsideLibheif
      for message in isDamage ? AbortHandler.damage : AbortHandler.fault {
        _ = write(message.descriptor, message.bytes.baseAddress, message.bytes.count)
      }
      _exit(isDamage ? 65 : 70)
    }
  }

  private static func messages(_ error: DownsampleError, _ inputName: String, _ json: Int32?, _ text: Bool) -> [Message]
  {
    func message(_ line: String, _ descriptor: Int32) -> Message {
      let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: line.utf8.count + 1)
      _ = bytes.initialize(from: line.utf8 + [UInt8(ascii: "\n")])
      return Message(bytes: bytes, descriptor: descriptor)
    }
    var result: [Message] = []
    if text { result.append(message("downsample: \(inputName): \(error.message)", STDERR_FILENO)) }
    if let json { result.append(message(errorJSON(error, inputName: inputName), json)) }
    return result
  }
}
