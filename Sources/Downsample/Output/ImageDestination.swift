import Codecs
import Raster

/// Where a picture goes. Opened only when the input's header has been found good and the plan fits, and before anything is
/// decoded.
public struct ImageDestination: Sendable {
  enum Place {
    case file(path: Path, replacesExisting: Bool)
    case descriptor(Int32)
    case bytes(EncodedBytes)
    case stream(@Sendable (UnsafeRawBufferPointer) throws -> Void)
    case rows(any PixelSink)
  }

  let place: Place

  /// A file, which appears under its name whole or not at all: what stood there stays until then. Symbolic links are followed.
  /// Devices and FIFOs are written directly.
  ///
  /// - Parameter replacesExisting: false: a file that exists, or comes to exist meanwhile, is an error, `.cannotCreate`.
  public static func path(_ path: Path, replacesExisting: Bool = true) -> ImageDestination {
    ImageDestination(place: .file(path: path, replacesExisting: replacesExisting))
  }

  /// An open descriptor, which stays open. Written directly: after a failure some bytes may be there.
  public static func descriptor(_ descriptor: Int32) -> ImageDestination {
    ImageDestination(place: .descriptor(descriptor))
  }

  /// Memory.
  public static func bytes(_ collector: EncodedBytes) -> ImageDestination {
    ImageDestination(place: .bytes(collector))
  }

  /// A function that takes the file's bytes in order, some kilobytes at a time, on the thread that does the work. What it throws
  /// ends the work: `.inputOutput`, unless it is a `DownsampleError`. After a failure it may have been given some of the bytes.
  public static func stream(_ write: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void) -> ImageDestination {
    ImageDestination(place: .stream(write))
  }

  /// Rows of pixels as they come, in place of a file. The rendition's `pixelFormat` says which.
  public static func rows(_ sink: any PixelSink) -> ImageDestination { ImageDestination(place: .rows(sink)) }

  var takesPixels: Bool {
    if case .rows = place { return true }
    return false
  }

  var collects: Bool {
    if case .bytes = place { return true }
    return false
  }

  /// - Throws: `.cannotCreate`.
  func open() throws(DownsampleError) -> OpenDestination {
    switch place {
    case .file(let path, let replacesExisting):
      .file(try OutputFile(path: path, replaceExisting: replacesExisting))
    case .descriptor(let descriptor): .file(OutputFile(descriptor: descriptor))
    case .bytes(let collector): .file(CollectedOutput(collector))
    case .stream(let write): .file(StreamedOutput(write))
    case .rows(let sink): .rows(sink)
    }
  }
}

/// A destination while it is written to.
enum OpenDestination {
  case file(any EncodedOutput)
  case rows(any PixelSink)
}

/// Takes an encoded file. Without `commit` nothing is left behind, where that can be.
protocol EncodedOutput: ByteSink {
  /// The bytes taken so far.
  var byteCount: Int { get }

  /// Ends the output and puts it in its place.
  func commit() throws(DownsampleError)
}

extension OutputFile: EncodedOutput {}

/// Gathers small writes, as encoders make them: whoever takes them has work to do for each.
final class StreamedOutput: EncodedOutput {
  private(set) var byteCount = 0
  private let take: (UnsafeRawBufferPointer) throws -> Void
  private var buffer: [UInt8] = []

  private static let bufferSize = 32 << 10

  init(_ take: @escaping (UnsafeRawBufferPointer) throws -> Void) { self.take = take }

  func write(_ bytes: UnsafeRawBufferPointer) throws(DownsampleError) {
    if bytes.isEmpty { return }
    byteCount += bytes.count
    if buffer.count + bytes.count > Self.bufferSize { try flush() }
    if bytes.count >= Self.bufferSize { return try give(bytes) }
    if buffer.capacity < Self.bufferSize { buffer.reserveCapacity(Self.bufferSize) }
    buffer.append(contentsOf: bytes)
  }

  func commit() throws(DownsampleError) {
    try flush()
    buffer = []
  }

  private func flush() throws(DownsampleError) {
    if buffer.isEmpty { return }
    try DownsampleError.wrapping("the output cannot be written", isAboutOutput: true) { () throws in
      try buffer.withUnsafeBytes(take)
    }
    buffer.removeAll(keepingCapacity: true)
  }

  private func give(_ bytes: UnsafeRawBufferPointer) throws(DownsampleError) {
    try DownsampleError.wrapping("the output cannot be written", isAboutOutput: true) { () throws in try take(bytes) }
  }
}

/// Keeps the file in memory, until it is let go of without `commit`.
final class CollectedOutput: EncodedOutput {
  private let collector: EncodedBytes
  private var isWhole = false

  init(_ collector: EncodedBytes) {
    collector.clear()
    self.collector = collector
  }

  deinit { if !isWhole { collector.clear() } }

  var byteCount: Int { collector.count }
  func write(_ bytes: UnsafeRawBufferPointer) throws(DownsampleError) { try collector.append(bytes) }
  func commit() { isWhole = true }
}
