import CKernels

/// Resamples one plane as its rows come: whole boxes are averaged first where the ratio is large, then columns, then rows are
/// filtered. It holds the source rows under one output row's filter, and the rows of one batch between the two passes.
///
/// 8-bit planes that stay so, without boxes, are filtered in 16-bit fixed point, everything else in single precision. Where the box filter
/// spans many rows, their sum is held in place of them. Results are within one code value of the same arithmetic in double
/// precision.
public final class PlaneResampler {
  /// What becomes of a filtered value: value * scale + bias, with the input's maximum taken to the output's by `scale`.
  public struct Mapping: Sendable, Equatable {
    public var scale: Double
    public var bias: Double

    public init(scale: Double, bias: Double) {
      self.scale = scale
      self.bias = bias
    }
  }

  public let input: PlaneLayout
  public let output: PlaneLayout

  private let window: PixelRect
  private let emit: (UnsafeRawPointer) throws(DownsampleError) -> Void
  private let channels: Int

  private let boxX: Int
  private let boxY: Int
  private let isBoxed: Bool
  private let widens: Bool
  private let boxSums: RowBuffer
  private let boxRow: RowBuffer
  private let boxScale: Int
  private var boxedRows = 0

  private let isFixedPoint: Bool
  private let sumsRows: Bool
  private let isPremultiplied: Bool
  private let filteredWidth: Int
  private let starts: [Int32]
  private let taps: Int
  private let fixedWeights: [Int16]
  private let floatWeights: [Float]
  private let rowStarts: [Int32]
  private let rowLasts: [Int32]
  /// Source rows, or rows of boxes, held at a time.
  let rowTaps: Int
  private let fixedRowWeights: [Int16]
  private let floatRowWeights: [Float]

  private let ring: RowBuffer
  private let ringRowBytes: Int
  private let between: RowBuffer
  private let columns: RowBuffer
  private let columnPixels: Int
  private let batch: RowBuffer
  private let rowPointers: UnsafeMutablePointer<UnsafeRawPointer?>

  private let scale: Double
  private let bias: Double

  private var nextSourceRow = 0
  private var filteredRows = 0
  private var nextOutputRow = 0
  private var inBatch = 0

  /// - Parameters:
  ///   - input: the plane whose rows are pushed. 8 and 16 bits can become either.
  ///   - window: the part of it that may be read; `x` and `y` count from its top left.
  ///   - x: the horizontal axis, within the window, and `y` the vertical one.
  ///   - output: as large as the axes' counts.
  ///   - mapping: how values become those of the output; by default the maximum becomes the maximum.
  ///   - isPremultiplied: the last channel is alpha, and the others are multiplied by it: they stay at most alpha, whatever
  ///     the filter overshoots. 16 bits, without a mapping.
  ///   - emit: called with each finished row, from the top.
  /// - Throws: `.overBudget` when the system has not the memory.
  public init(
    input: PlaneLayout, window: PixelRect, x: ResamplingAxis, y: ResamplingAxis, output: PlaneLayout,
    mapping: Mapping? = nil, isPremultiplied: Bool = false,
    emit: @escaping (UnsafeRawPointer) throws(DownsampleError) -> Void
  ) throws(DownsampleError) {
    precondition(input.channels == output.channels)
    precondition(
      !isPremultiplied || mapping == nil && output.sampleType == .uint16 && [2, 4].contains(output.channels))
    precondition(x.count == output.width && y.count == output.height)
    precondition(x.sourceCount == window.width && y.sourceCount == window.height)
    self.input = input
    self.output = output
    self.window = window
    self.emit = emit
    channels = input.channels

    let shape = Shape(input: input, window: window, x: x, y: y, output: output, mapping: mapping)
    boxX = x.boxFactor
    boxY = y.boxFactor
    isBoxed = shape.isBoxed
    widens = shape.widens
    isFixedPoint = shape.isFixedPoint
    sumsRows = shape.sumsRows
    self.isPremultiplied = isPremultiplied
    let horizontal = FilterWeights(axis: x.boxed)
    let vertical = FilterWeights(axis: y.boxed)
    filteredWidth = x.boxed.sourceCount
    rowStarts = vertical.starts
    rowTaps = vertical.taps
    rowLasts = sumsRows ? vertical.lasts : []

    // Means of boxes keep the bits that averaging gains.
    boxScale = isBoxed ? 65535 / input.maximum : 1
    scale = shape.mapping.scale / Double(boxScale)
    bias = shape.mapping.bias
    if isFixedPoint {
      let pairs = horizontal.pairs(horizontal.fixedPoint(bits: CK_WEIGHT_BITS, times: scale))
      starts = pairs.starts
      taps = pairs.taps
      fixedWeights = pairs.weights
      fixedRowWeights = vertical.fixedPoint(bits: CK_WEIGHT_BITS, times: 1)
      floatWeights = []
      floatRowWeights = []
    } else {
      starts = horizontal.starts
      taps = horizontal.taps
      fixedWeights = []
      fixedRowWeights = []
      floatWeights = horizontal.floatingPoint()
      floatRowWeights = vertical.floatingPoint()
    }

    ringRowBytes = shape.ringRowBytes
    ring = try RowBuffer(byteCount: sumsRows ? 0 : ringRowBytes * rowTaps)
    rowPointers = .allocate(capacity: rowTaps)
    between = try RowBuffer(byteCount: shape.betweenBytes)
    columnPixels = shape.columnPixels
    columns = try RowBuffer(byteCount: shape.columnBytes)
    batch = try RowBuffer(byteCount: output.bytesPerRow * CK_BATCH)
    boxSums = try RowBuffer(byteCount: shape.boxSumBytes)
    boxRow = try RowBuffer(byteCount: shape.boxRowBytes)
    // Rows that the last batch lacks are filtered like the others.
    between.clear()
    boxSums.clear()
  }

  /// What a resampler holds, without being made.
  private struct Shape {
    let mapping: Mapping
    let isBoxed: Bool
    /// The boxes are of one 8-bit sample each.
    let widens: Bool
    let isFixedPoint: Bool
    /// Rows are added up as they come, weighted, and none is kept.
    let sumsRows: Bool
    let ringRowBytes: Int
    let betweenBytes: Int
    /// Pixels of all rows of a batch that the horizontal pass turns into columns at a time, at most.
    let columnPixels: Int
    let columnBytes: Int
    let boxSumBytes: Int
    let boxRowBytes: Int

    /// Samples of a row that are turned into columns at a time: as many as stay in the cache.
    private static let columnSamples = 1024

    init(
      input: PlaneLayout, window: PixelRect, x: ResamplingAxis, y: ResamplingAxis, output: PlaneLayout,
      mapping: Mapping?
    ) {
      self.mapping = mapping ?? Mapping(scale: Double(output.maximum) / Double(input.maximum), bias: 0)
      // Fixed point has room for the ranges of 8 bits, but not for few bits in bytes: those go the way of boxes, of one
      // sample.
      let fitsFixedPoint =
        input.sampleType == .uint8 && output.sampleType == .uint8 && abs(self.mapping.scale) <= 1.25
        && abs(self.mapping.bias) <= 256
      sumsRows = y.isLongMean
      isBoxed =
        x.boxFactor > 1 || y.boxFactor > 1
        || input.sampleType == .uint8 && !sumsRows && (!fitsFixedPoint || x.isLongMean)
      widens = isBoxed && x.boxFactor == 1 && y.boxFactor == 1 && input.maximum == 255
      isFixedPoint = fitsFixedPoint && !isBoxed && !sumsRows
      let samples = x.boxed.sourceCount * input.channels
      ringRowBytes = (samples * (isFixedPoint ? 1 : 2) + 63) & ~63
      betweenBytes = samples * CK_BATCH * (isFixedPoint ? 2 : 4)
      // What the filter spans, in whole pairs, and some to go on with.
      let span = (x.boxed.mostTaps + 3) & ~1
      columnPixels = max(
        min(x.boxed.sourceCount + 1, Self.columnSamples / input.channels) & ~1,
        min(x.boxed.sourceCount + 3, 2 * span) & ~1)
      columnBytes = columnPixels * input.channels * CK_BATCH * (isFixedPoint ? 2 : 4)
      boxSumBytes = isBoxed && !widens ? window.width * input.channels * 4 : 0
      boxRowBytes = isBoxed ? samples * 2 : 0
    }
  }

  /// What a resampler of these parameters holds, in bytes, at most.
  public static func byteCount(
    input: PlaneLayout, window: PixelRect, x: ResamplingAxis, y: ResamplingAxis, output: PlaneLayout,
    mapping: Mapping? = nil
  ) -> Int {
    let shape = Shape(input: input, window: window, x: x, y: y, output: output, mapping: mapping)
    let rows = shape.sumsRows ? 0 : y.boxed.mostTaps
    let weights = FilterWeights.mostBytes(x.boxed) + FilterWeights.mostBytes(y.boxed)
    return shape.ringRowBytes * rows + shape.betweenBytes + shape.columnBytes + output.bytesPerRow * CK_BATCH
      + shape.boxSumBytes
      + shape.boxRowBytes + weights
  }

  /// Output rows by which it may be behind another resampler that gets its source rows in step: a batch, and what lies
  /// under the filter where the source has fewer rows than the output.
  static func rowsBehind(y: ResamplingAxis) -> Int {
    2 * CK_BATCH + Int((y.kernel.radius * max(1, 1 / y.step)).rounded(.up)) + 2
  }

  deinit { rowPointers.deallocate() }

  /// Whether all rows of the output have been emitted.
  public var isComplete: Bool { nextOutputRow == output.height }

  /// Takes the next row of the input plane; those outside the window are passed over.
  public func push(_ row: UnsafeRawPointer) throws(DownsampleError) {
    let y = nextSourceRow - window.y
    nextSourceRow += 1
    guard y >= 0, y < window.height, nextOutputRow < output.height else { return }
    let samples = row + window.x * input.bytesPerPixel
    if sumsRows {
      try add(samples, row: y)
    } else if isBoxed {
      try addToBox(samples, isLast: y == window.height - 1)
    } else {
      try filter(samples)
    }
  }

  /// Adds a row to the output rows that it has a weight in: where it is the last of one, it may be the first of the next.
  private func add(_ row: UnsafeRawPointer, row y: Int) throws(DownsampleError) {
    let samples = filteredWidth * channels
    while nextOutputRow < output.height {
      let tap = y - Int(rowStarts[nextOutputRow])
      if tap >= 0 && tap < rowTaps {
        let weight = floatRowWeights[nextOutputRow * rowTaps + tap]
        let sums = between.at(inBatch * samples * 4, as: Float.self)
        if input.sampleType == .uint8 {
          ck_mean_add_u8(row.assumingMemoryBound(to: UInt8.self), weight, sums, samples)
        } else {
          ck_mean_add_u16(row.assumingMemoryBound(to: UInt16.self), weight, sums, samples)
        }
      }
      guard y >= Int(rowLasts[nextOutputRow]) else { return }
      nextOutputRow += 1
      inBatch += 1
      if inBatch == CK_BATCH || nextOutputRow == output.height {
        try filterRows()
        between.clear()
      }
    }
  }

  private func addToBox(_ row: UnsafeRawPointer, isLast: Bool) throws(DownsampleError) {
    let count = window.width * channels
    if widens {
      ck_widen(row.assumingMemoryBound(to: UInt8.self), count, boxRow.at(0, as: UInt16.self))
      return try filter(boxRow.bytes)
    }
    let sums = boxSums.at(0, as: UInt32.self)
    if input.sampleType == .uint8 {
      ck_box_add_u8(row.assumingMemoryBound(to: UInt8.self), sums, count)
    } else {
      ck_box_add_u16(row.assumingMemoryBound(to: UInt16.self), sums, count)
    }
    boxedRows += 1
    guard boxedRows == boxY || isLast else { return }
    ck_box_mean(
      sums, window.width, Int32(channels), boxX, boxedRows, UInt32(boxScale), boxRow.at(0, as: UInt16.self))
    boxedRows = 0
    boxSums.clear()
    try filter(boxRow.bytes)
  }

  private func filter(_ row: UnsafeRawPointer) throws(DownsampleError) {
    let slot = ring.bytes + filteredRows % rowTaps * ringRowBytes
    slot.copyMemory(from: row, byteCount: filteredWidth * channels * (isFixedPoint ? 1 : 2))
    filteredRows += 1
    while nextOutputRow < output.height, Int(rowStarts[nextOutputRow]) + rowTaps <= filteredRows {
      filterColumns()
      nextOutputRow += 1
      inBatch += 1
      if inBatch == CK_BATCH || nextOutputRow == output.height { try filterRows() }
    }
  }

  private func filterColumns() {
    let start = Int(rowStarts[nextOutputRow])
    for k in 0..<rowTaps { rowPointers[k] = UnsafeRawPointer(ring.bytes + (start + k) % rowTaps * ringRowBytes) }
    let samples = filteredWidth * channels
    let offset = nextOutputRow * rowTaps
    if isFixedPoint {
      fixedRowWeights.withUnsafeBufferPointer { weights in
        rowPointers.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: rowTaps) {
          ck_vertical_u8(
            $0, weights.baseAddress! + offset, Int32(rowTaps), between.at(inBatch * samples * 2, as: Int16.self),
            samples)
        }
      }
    } else {
      floatRowWeights.withUnsafeBufferPointer { weights in
        rowPointers.withMemoryRebound(to: UnsafePointer<UInt16>?.self, capacity: rowTaps) {
          ck_vertical_u16(
            $0, weights.baseAddress! + offset, Int32(rowTaps), between.at(inBatch * samples * 4, as: Float.self),
            samples)
        }
      }
    }
  }

  private func filterRows() throws(DownsampleError) {
    let samples = filteredWidth * channels
    let width = output.samplesPerRow
    starts.withUnsafeBufferPointer { starts in
      let axis = ck_axis(starts: starts.baseAddress, taps: Int32(taps), count: Int32(output.width))
      let room = columnPixels
      if isFixedPoint {
        let bits = Double(1 << (CK_WEIGHT_BITS + CK_ROW_BITS))
        fixedWeights.withUnsafeBufferPointer {
          ck_horizontal_u8(
            between.at(0, as: Int16.self), samples, filteredWidth, Int32(channels), axis, $0.baseAddress,
            Int32((bias * bits).rounded()), columns.at(0, as: Int16.self), room, batch.at(0, as: UInt8.self), width)
        }
        return
      }
      let (rows, turned) = (between.at(0, as: Float.self), columns.at(0, as: Float.self))
      floatWeights.withUnsafeBufferPointer {
        if isPremultiplied {
          ck_horizontal_premultiplied(
            rows, samples, Int32(channels), axis, $0.baseAddress, Float(scale), Float(output.maximum), turned, room,
            batch.at(0, as: UInt16.self), width)
        } else if output.sampleType == .uint8 {
          ck_horizontal_f32_u8(
            rows, samples, Int32(channels), axis, $0.baseAddress, Float(scale), Float(bias), turned, room,
            batch.at(0, as: UInt8.self), width)
        } else {
          ck_horizontal_f32_u16(
            rows, samples, Int32(channels), axis, $0.baseAddress, Float(scale), Float(bias), Float(output.maximum),
            turned, room, batch.at(0, as: UInt16.self), width)
        }
      }
    }
    for i in 0..<inBatch { try emit(UnsafeRawPointer(batch.bytes + i * output.bytesPerRow)) }
    inBatch = 0
  }
}
