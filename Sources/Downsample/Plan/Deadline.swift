import Codecs
import Raster

/// A moment after which the work is given up.
struct Deadline: Sendable {
  private let watch = Stopwatch()
  private let limit: Duration?

  /// - Parameter limit: from now on; nil for never.
  init(_ limit: Duration?) { self.limit = limit }

  /// What is left; nil for any time.
  var remaining: Duration? { limit.map { max(.zero, $0 - .nanoseconds(watch.elapsed)) } }

  /// - Throws: `.deadlinePassed` when it has.
  func check() throws(DownsampleError) {
    guard let limit, .nanoseconds(watch.elapsed) >= limit else { return }
    let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) / 1e18
    let text = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    throw DownsampleError(.deadlinePassed, "not done within the deadline of \(text) s")
  }
}

/// A source that fails once the deadline has passed: so no library call that reads goes on much longer.
final class TimedSource: ByteSource {
  private let source: ByteSource
  private let deadline: Deadline

  init(_ source: ByteSource, deadline: Deadline) {
    self.source = source
    self.deadline = deadline
    (source as? FileSource)?.deadline = deadline
  }

  var byteCount: Int? { source.byteCount }
  var temporaryBytesInMemory: Int { source.temporaryBytesInMemory }

  func peek(into buffer: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    try deadline.check()
    return try source.peek(into: buffer)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    try deadline.check()
    return try source.read(into: buffer)
  }

  func makeSeekable() throws(DownsampleError) { try source.makeSeekable() }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int {
    try deadline.check()
    return try source.read(into: buffer, at: offset)
  }
}
