import Budget
import Codecs
import Raster

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Collects a file in memory while it is encoded. What it may hold is in the plan. After work that failed it is empty.
public final class EncodedBytes: Sendable {
  private struct Storage {
    var bytes: UnsafeMutableRawPointer?
    var count = 0
    var capacity = 0

    mutating func append(_ more: UnsafeRawBufferPointer) -> Bool {
      let (wanted, isTooMuch) = count.addingReportingOverflow(more.count)
      if isTooMuch { return false }
      if wanted > capacity {
        // The C library moves large blocks without copying, and pages that were never touched take no memory.
        let room = max(wanted, capacity + capacity / 2, 64 << 10)
        guard let moved = realloc(bytes, room) else { return false }
        bytes = moved
        capacity = room
      }
      if let start = more.baseAddress { (bytes! + count).copyMemory(from: start, byteCount: more.count) }
      count = wanted
      return true
    }

    mutating func clear() {
      free(bytes)
      bytes = nil
      (count, capacity) = (0, 0)
    }
  }

  private let storage = Lock(Storage())

  /// Empty. It may be used again: what it held is gone when work begins that was given it.
  public init() {}

  deinit { clear() }

  /// Of the file so far, in bytes.
  public var count: Int { storage.with { $0.count } }

  /// The bytes, while `body` runs. It should not use this object.
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try storage.with { storage throws(Failure) in
      try body(UnsafeRawBufferPointer(start: storage.bytes, count: storage.count))
    }
  }

  /// A copy.
  public var array: [UInt8] { withUnsafeBytes { Array($0) } }

  func append(_ bytes: UnsafeRawBufferPointer) throws(DownsampleError) {
    guard storage.with({ $0.append(bytes) }) else {
      throw DownsampleError(.overBudget, "there is not enough memory for the encoded bytes")
    }
  }

  func clear() { storage.with { $0.clear() } }

  /// What the whole result does not exceed, in bytes; of a file noise comes near to it.
  static func mostBytes(_ kind: OutputKind, _ layout: EncodedLayout, _ settings: EncoderSettings) -> Int {
    switch kind {
    case .pixels(let pixels): return layout.size.width * layout.size.height * pixels.bytesPerPixel
    case .file(let format): return mostBytes(format, layout, settings)
    }
  }

  private static func mostBytes(_ format: OutputFormat, _ layout: EncodedLayout, _ settings: EncoderSettings) -> Int {
    let samples = layout.planes.reduce(0) { $0 + $1.samplesPerRow * $1.height }
    let other =
      settings.iccProfile.count + settings.metadata.exif.count + settings.metadata.xmp.count
      + settings.metadata.iptc.count + (64 << 10)
    if format == .png { return samples * layout.sampleType.byteCount + layout.size.height + other }
    // Noise in gray took 0.74 bytes a sample at quality 85, 0.84 at 90, 1.01 at 95 and 1.58 at 100 at most of JPEG, HEIC and
    // AVIF, in colour less; photos take a fifth of that.
    let share = settings.quality > 95 ? 1.7 : settings.quality > 90 ? 1.1 : settings.quality > 85 ? 0.9 : 0.8
    return Int(Double(samples) * share) + other
  }
}
