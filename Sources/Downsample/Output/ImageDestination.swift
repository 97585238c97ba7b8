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
    case rows(any PixelSink, keepsRows: Bool)
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
  ///
  /// - Parameter keepsRows: the sink will keep all of them, in memory that is not held yet: the plan counts it.
  public static func rows(_ sink: any PixelSink, keepsRows: Bool = false) -> ImageDestination {
    ImageDestination(place: .rows(sink, keepsRows: keepsRows))
  }

  var takesPixels: Bool {
    if case .rows = place { return true }
    return false
  }

  /// Whether the whole result is held in memory, beside what makes it.
  var collects: Bool {
    switch place {
    case .bytes: true
    case .rows(_, let keepsRows): keepsRows
    case .file, .descriptor, .stream: false
    }
  }

  /// - Throws: `.cannotCreate`.
  func open(_ interruption: Interruption) throws(DownsampleError) -> OpenDestination {
    switch place {
    case .file(let path, let replacesExisting):
      .file(try OutputFile(path: path, replaceExisting: replacesExisting, interruption: interruption))
    case .descriptor(let descriptor): .file(OutputFile(descriptor: descriptor, interruption: interruption))
    case .bytes(let collector): .file(CollectedOutput(collector))
    case .stream(let write): .file(StreamedOutput(write))
    case .rows(let sink, _): .rows(sink)
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

/// Gives the file to the caller's function.
final class StreamedOutput: EncodedOutput {
  private(set) var byteCount = 0
  private let take: (UnsafeRawBufferPointer) throws -> Void
  private let buffer = WriteBuffer()

  init(_ take: @escaping (UnsafeRawBufferPointer) throws -> Void) { self.take = take }

  func write(_ bytes: UnsafeRawBufferPointer) throws(DownsampleError) {
    byteCount += bytes.count
    try buffer.append(bytes) { bytes throws(DownsampleError) in try give(bytes) }
  }

  func commit() throws(DownsampleError) {
    try buffer.flush { bytes throws(DownsampleError) in try give(bytes) }
    buffer.clear()
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
