import CDownsample
import Downsample
import Synchronization

/// A callback's pointer: what it leads to is the program's, which says by the header's rules which threads may use it.
struct UserPointer: @unchecked Sendable {
  let pointer: UnsafeMutableRawPointer?
}

/// Lets one callback of a run be called at a time.
final class Turns: Sendable {
  private let mutex = Mutex(())

  func take<Result>(_ body: () throws -> Result) rethrows -> Result {
    try mutex.withLock { _ in try body() }
  }
}

/// `dsm_reader`, checked.
struct Reader: @unchecked Sendable {
  private let readNext: dsm_read_fn?
  private let readAt: dsm_read_at_fn?
  let byteCount: Int?
  private let user: UnsafeMutableRawPointer?

  init(_ fields: UnsafePointer<dsm_reader>?) throws(DownsampleError) {
    let fields = try dsm_reader.read(fields)
    guard fields.read != nil || fields.read_at != nil else {
      throw DownsampleError(.usage, "a dsm_reader has neither read nor read_at")
    }
    guard let count = Int(exactly: fields.byte_count) else {
      throw DownsampleError(.usage, "byte_count is \(fields.byte_count); it takes \(Int.max) at most")
    }
    guard fields.read_at == nil || count > 0 else {
      throw DownsampleError(.usage, "byte_count is 0; read_at needs the number of bytes")
    }
    readNext = fields.read
    readAt = fields.read_at
    byteCount = count > 0 ? count : nil
    user = fields.user
  }

  func source(_ turns: Turns) -> ImageSource {
    if let readAt, let byteCount {
      return .randomAccess(byteCount: byteCount) { [self] buffer, offset throws in
        try Self.checked("read_at", readAt(user, buffer.baseAddress, buffer.count, UInt64(offset)), buffer.count)
      }
    }
    return .pull(byteCount: byteCount) { [self] buffer throws in
      let count = turns.take { readNext?(user, buffer.baseAddress, buffer.count) ?? -1 }
      return try Self.checked("read", count, buffer.count)
    }
  }

  private static func checked(_ name: String, _ count: Int, _ room: Int) throws(DownsampleError) -> Int {
    guard count >= 0 else { throw DownsampleError(.inputOutput, "the \(name) callback failed") }
    guard count <= room else {
      throw DownsampleError(.inputOutput, "the \(name) callback gave \(count) bytes where \(room) were asked for")
    }
    return count
  }
}

/// A `dsm_write_fn` and its pointer.
struct Writer: @unchecked Sendable {
  let write: dsm_write_fn
  let user: UnsafeMutableRawPointer?

  func destination(_ turns: Turns) -> ImageDestination {
    .stream { [self] bytes throws in
      guard turns.take({ write(user, bytes.baseAddress, bytes.count) }) == 0 else {
        throw DownsampleError(.inputOutput, "the write callback failed")
      }
    }
  }
}

/// `dsm_row_sink`, checked.
struct RowCallbacks: @unchecked Sendable {
  let begin: dsm_rows_begin_fn?
  let row: dsm_row_fn?
  let user: UnsafeMutableRawPointer?
  let keepsRows: Bool

  init(_ fields: UnsafePointer<dsm_row_sink>?) throws(DownsampleError) {
    let fields = try dsm_row_sink.read(fields)
    guard fields.begin != nil || fields.row != nil else {
      throw DownsampleError(.usage, "a dsm_row_sink has neither begin nor row")
    }
    begin = fields.begin
    row = fields.row
    user = fields.user
    keepsRows = try Values.flag("keeps_rows", fields.keeps_rows)
    _ = try Values.number("reserved", fields.reserved, 0...0)
  }
}

/// Hands one run's rows of one output to the program.
final class CallbackSink: PixelSink {
  private let callbacks: RowCallbacks
  private let turns: Turns

  init(_ callbacks: RowCallbacks, _ turns: Turns) {
    self.callbacks = callbacks
    self.turns = turns
  }

  func begin(_ layout: PixelLayout) throws -> PixelMemory? {
    guard let begin = callbacks.begin else { return nil }
    var pixels = dsm_pixels()
    pixels.struct_size = MemoryLayout<dsm_pixels>.size
    pixels.width = Int32(clamping: layout.size.width)
    pixels.height = Int32(clamping: layout.size.height)
    pixels.format = Int32(1 + (Values.pixelFormats.firstIndex(of: layout.format) ?? -1))
    pixels.is_srgb = layout.isSRGB ? 1 : 0
    pixels.row_size = layout.bytesPerRow
    var memory = dsm_pixel_memory()
    memory.struct_size = MemoryLayout<dsm_pixel_memory>.size
    let status = layout.iccProfile.withUnsafeBytes { profile in
      if !profile.isEmpty {
        pixels.icc_profile = profile.baseAddress
        pixels.icc_profile_size = profile.count
      }
      return turns.take { begin(callbacks.user, &pixels, &memory) }
    }
    guard status == 0 else { throw DownsampleError(.inputOutput, "the begin callback failed") }
    guard let bytes = memory.bytes else {
      if callbacks.row == nil {
        throw DownsampleError(.usage, "the begin callback gave no memory, and there is no row callback")
      }
      return nil
    }
    // Sizes beyond Int are as good as its largest; what is too small is the encoder's to say.
    func size(_ value: Int) -> Int { Int(clamping: UInt(bitPattern: value)) }
    return PixelMemory(
      bytes: UnsafeMutableRawBufferPointer(start: bytes, count: size(memory.size)), stride: size(memory.stride))
  }

  func write(_ row: UnsafeRawBufferPointer, y: Int) throws {
    guard let write = callbacks.row else { return }
    guard turns.take({ write(callbacks.user, row.baseAddress, row.count, Int32(clamping: y)) }) == 0 else {
      throw DownsampleError(.inputOutput, "the row callback failed")
    }
  }
}
