import Budget
import Raster

/// Hands rows over as pixels, in the caller's memory where it gives some.
final class PixelEncoder: ImageEncoder {
  let hasICCProfile: Bool
  let warnings: [String] = []
  /// Of all rows, without padding.
  let byteCount: Int
  private let sink: any PixelSink
  private let layout: EncodedLayout
  private let format: PixelFormat
  private let bytesPerRow: Int
  private let memory: PixelMemory?
  /// For rows that are changed and have no place in the caller's memory.
  private let buffer: UnsafeMutableRawBufferPointer
  private var y = 0

  static func memory(layout: EncodedLayout, format: PixelFormat) -> [MemoryUse] {
    [MemoryUse("row of pixels", layout.size.width * format.bytesPerPixel)]
  }

  /// - Throws: `.usage` when the memory that the sink gives is too small, and what the sink throws.
  init(
    layout: EncodedLayout, settings: EncoderSettings, format: PixelFormat, sink: any PixelSink
  ) throws(DownsampleError) {
    self.layout = layout
    self.format = format
    self.sink = sink
    let bytesPerRow = layout.size.width * format.bytesPerPixel
    self.bytesPerRow = bytesPerRow
    byteCount = bytesPerRow * layout.size.height
    hasICCProfile = !settings.iccProfile.isEmpty
    let pixels = PixelLayout(
      size: layout.size, format: format, bytesPerRow: bytesPerRow, iccProfile: settings.iccProfile,
      isSRGB: settings.isSRGB)
    let memory = try DownsampleError.wrapping("the rows cannot be taken", isAboutOutput: true) { () throws in
      try sink.begin(pixels)
    }
    if let memory {
      let (all, isTooMuch) = memory.stride.multipliedReportingOverflow(by: layout.size.height - 1)
      guard memory.stride >= bytesPerRow, !isTooMuch, memory.bytes.count >= bytesPerRow,
        memory.bytes.count - bytesPerRow >= all
      else {
        throw DownsampleError(
          .usage,
          "the memory for pixels has \(memory.bytes.count) bytes, \(memory.stride) from row to row; \(layout.size) takes "
            + "\(bytesPerRow) a row, \(byteCount) in all")
      }
    }
    self.memory = memory
    let needsBuffer = memory == nil && !Self.isSame(layout, format)
    buffer = needsBuffer ? .allocate(byteCount: bytesPerRow, alignment: 16) : .init(start: nil, count: 0)
  }

  deinit { buffer.deallocate() }

  /// Whether rows come as they are wanted.
  private static func isSame(_ layout: EncodedLayout, _ format: PixelFormat) -> Bool {
    layout.color == .rgb && layout.hasAlpha == format.hasAlpha && !format.isPremultiplied && !format.isBlueFirst
  }

  func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    let place = memory.map { $0.bytes.baseAddress! + y * $0.stride }
    var pixels = row
    if Self.isSame(layout, format) {
      if let place {
        place.copyMemory(from: row, byteCount: bytesPerRow)
        pixels = UnsafeRawPointer(place)
      }
    } else {
      let target = place ?? buffer.baseAddress!
      if format.bitsPerSample == 8 {
        pack(row.assumingMemoryBound(to: UInt8.self), to: target.assumingMemoryBound(to: UInt8.self))
      } else {
        pack(row.assumingMemoryBound(to: UInt16.self), to: target.assumingMemoryBound(to: UInt16.self))
      }
      pixels = UnsafeRawPointer(target)
    }
    let shown = UnsafeRawBufferPointer(start: pixels, count: bytesPerRow)
    let index = y
    try DownsampleError.wrapping("the rows cannot be taken", isAboutOutput: true) { () throws in
      try sink.write(shown, y: index)
    }
    y += 1
  }

  func finish() {}

  /// Gray becomes red, green and blue; alpha is added, multiplied in, and blue put first, as the format says.
  private func pack<Sample: FixedWidthInteger & UnsignedInteger>(
    _ source: UnsafePointer<Sample>, to target: UnsafeMutablePointer<Sample>
  ) {
    let step = (layout.color == .gray ? 1 : 3) + (layout.hasAlpha ? 1 : 0)
    let (red, green, blue) = layout.color == .gray ? (0, 0, 0) : format.isBlueFirst ? (2, 1, 0) : (0, 1, 2)
    let channels = format.hasAlpha ? 4 : 3
    var (from, to) = (source, target)
    for _ in 0..<layout.size.width {
      let alpha = layout.hasAlpha ? from[step - 1] : Sample.max
      to[0] = from[red]
      to[1] = from[green]
      to[2] = from[blue]
      if format.isPremultiplied && alpha != Sample.max {
        for channel in 0..<3 { to[channel] = Self.product(to[channel], alpha) }
      }
      if format.hasAlpha { to[3] = alpha }
      from += step
      to += channels
    }
  }

  /// a * b as parts of the maximum, rounded.
  private static func product<Sample: FixedWidthInteger & UnsignedInteger>(_ a: Sample, _ b: Sample) -> Sample {
    let most = UInt32(Sample.max)
    return Sample((UInt32(a) * UInt32(b) + most / 2) / most)
  }
}
