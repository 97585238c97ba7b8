import Raster

/// Lets a C library read from a source. An error of the source is kept here, since C only learns that there was one.
final class SourceBridge {
  let source: ByteSource
  private(set) var error: DownsampleError?
  /// Asked whether to go on where a C library can be stopped.
  var permission: () throws(DownsampleError) -> Void = {}

  init(_ source: ByteSource) { self.source = source }

  /// What the C callbacks are given. The bridge has to outlive them.
  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  static func from(_ context: UnsafeMutableRawPointer?) -> SourceBridge {
    Unmanaged.fromOpaque(context!).takeUnretainedValue()
  }

  func mayGoOn() -> Bool {
    do {
      try permission()
      return true
    } catch {
      self.error = error
      return false
    }
  }

  func read(_ buffer: UnsafeMutableRawPointer?, count: Int) -> Int {
    do {
      return try source.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
    } catch {
      self.error = error
      return -1
    }
  }

  /// Reads until `count` bytes have come or the source ends.
  func read(_ buffer: UnsafeMutableRawPointer?, count: Int, at offset: Int) -> Int {
    var done = 0
    while done < count {
      do {
        let rest = UnsafeMutableRawBufferPointer(start: buffer! + done, count: count - done)
        let got = try source.read(into: rest, at: offset + done)
        if got == 0 { break }
        done += got
      } catch {
        self.error = error
        return -1
      }
    }
    return done
  }
}

/// Lets a C library write to a sink, likewise.
final class SinkBridge {
  let sink: ByteSink
  private(set) var error: DownsampleError?

  init(_ sink: ByteSink) { self.sink = sink }

  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  static func from(_ context: UnsafeMutableRawPointer?) -> SinkBridge {
    Unmanaged.fromOpaque(context!).takeUnretainedValue()
  }

  func write(_ bytes: UnsafeRawPointer?, count: Int) -> Int32 {
    do {
      try sink.write(UnsafeRawBufferPointer(start: bytes, count: count))
      return 0
    } catch {
      self.error = error
      return -1
    }
  }
}

/// The text of a C array of characters.
func text<T>(_ characters: T) -> String {
  withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
