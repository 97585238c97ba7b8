import Downsample
import Raster

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What a signal handler that ends the process writes, made ready before: a handler may not allocate.
struct LastMessage {
  private let bytes: UnsafeMutableBufferPointer<UInt8>
  private let descriptor: Int32

  private init(_ line: String, _ descriptor: Int32) {
    bytes = .allocate(capacity: line.utf8.count + 1)
    _ = bytes.initialize(from: line.utf8 + [UInt8(ascii: "\n")])
    self.descriptor = descriptor
  }

  /// - Parameters:
  ///   - json: where the report goes as JSON; nil when none is wanted.
  ///   - text: whether text goes to standard error.
  static func messages(_ error: DownsampleError, _ inputName: String, _ json: Int32?, _ text: Bool) -> [LastMessage] {
    var result: [LastMessage] = []
    if text { result.append(LastMessage("downsample: \(inputName): \(error.message)", STDERR_FILENO)) }
    if let json { result.append(LastMessage(errorJSON(error, inputName: inputName), json)) }
    return result
  }

  /// Async-signal-safe.
  func put() { _ = write(descriptor, bytes.baseAddress, bytes.count) }

  func deallocate() { bytes.deallocate() }
}
