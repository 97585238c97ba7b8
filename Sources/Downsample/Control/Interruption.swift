import Codecs
import Raster

/// What may end work before it is done: a deadline, a cancellation.
struct Interruption: Sendable {
  private let watch = Stopwatch()
  private let deadline: Duration?
  private let cancellation: Cancellation?

  /// So long to wait before a cancellation, or what cannot be waited for, is asked for again.
  private static let slice = Duration.milliseconds(20)

  /// - Parameter deadline: from now on; nil for never.
  init(deadline: Duration? = nil, cancellation: Cancellation? = nil) {
    self.deadline = deadline
    self.cancellation = cancellation
  }

  /// Whether nothing ever ends the work.
  var isNever: Bool { deadline == nil && cancellation == nil }

  /// What is left until the deadline; nil for any time.
  var remaining: Duration? { deadline.map { max(.zero, $0 - .nanoseconds(watch.elapsed)) } }

  /// How long to wait for something before `check` is called again; nil for as long as it takes.
  var patience: Duration? {
    guard cancellation != nil else { return remaining }
    return min(remaining ?? Self.slice, Self.slice)
  }

  /// Lets a moment pass for what cannot be waited for.
  func pause() { SystemCalls.pause(min(remaining ?? Self.slice, Self.slice)) }

  var isCancelled: Bool { cancellation?.isCancelled ?? false }

  /// - Throws: `.cancelled`, or `.deadlinePassed`.
  func check() throws(DownsampleError) {
    if isCancelled { throw Self.cancelled }
    guard let deadline, .nanoseconds(watch.elapsed) >= deadline else { return }
    let seconds = Double(deadline.components.seconds) + Double(deadline.components.attoseconds) / 1e18
    let text = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    throw DownsampleError(.deadlinePassed, "not done within the deadline of \(text) s")
  }

  static let cancelled = DownsampleError(.cancelled, "cancelled")
}

/// A source that fails once the work is to end: so no library call that reads goes on much longer.
final class InterruptibleSource: ByteSource {
  private let source: ByteSource
  private let interruption: Interruption

  init(_ source: ByteSource, interruption: Interruption) {
    self.source = source
    self.interruption = interruption
    (source as? BufferedSource)?.interruption = interruption
  }

  var byteCount: Int? { source.byteCount }
  var isSeekable: Bool { source.isSeekable }
  var temporaryBytesInMemory: Int { source.temporaryBytesInMemory }

  func peek(into buffer: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    try interruption.check()
    return try source.peek(into: buffer)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    try interruption.check()
    return try source.read(into: buffer)
  }

  func makeSeekable() throws(DownsampleError) { try source.makeSeekable() }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int {
    try interruption.check()
    return try source.read(into: buffer, at: offset)
  }
}
