import CKernels

/// Resamples the only plane of an interlaced picture as its passes bring it, and gives the output's rows from the top.
///
/// Each row that is written is one of a pass, packed at the row's beginning: the passes in order, those without pixels left
/// out, the rows of each from the top. Resampling is linear, so what a pass brings is filtered by itself and added up. Either the
/// sums of the whole output are kept, or the even rows, which all come before the odd ones, at the output's width: whichever is
/// less. Results are within one code value of those of `PlaneResampler`, of 8 bits where partial sums have 16.
public final class Adam7Stage: RowSink {
  private let plane: ResampleStage.Plane
  private let sizes: Adam7Sizes
  private let next: RowSink
  private let filter: Adam7RowFilter

  private let rowStarts: [Int32]
  private let rowTaps: Int
  private let rowWeights: [Float]

  /// Sums of the output's rows, or even source rows.
  private let kept: RowBuffer
  /// The rows of a batch, or odd source rows in a ring.
  private let fresh: RowBuffer
  private let sums: RowBuffer
  private let outputRow: RowBuffer
  private let pointers: UnsafeMutablePointer<UnsafeRawPointer?>
  private let pointerWeights: UnsafeMutablePointer<Float>

  private let passes: [Adam7Pass]
  private var pass = 0
  /// Rows of the pass that have come.
  private var passRow = 0
  /// The first source row of the batch, from the window's top.
  private var batchStart = 0
  private var inBatch = 0
  private var nextOutputRow = 0

  /// - Parameters:
  ///   - plane: as for `ResampleStage`.
  ///   - next: takes the rows, as those of plane 0.
  /// - Throws: `.overBudget` when the system has not as much memory as that takes.
  public init(plane: ResampleStage.Plane, next: RowSink) throws(DownsampleError) {
    precondition(plane.input.channels == plane.output.channels)
    precondition(plane.input.sampleType == .uint16 || plane.output.sampleType == .uint8)
    precondition(plane.x.count == plane.output.width && plane.y.count == plane.output.height)
    precondition(plane.x.sourceCount == plane.window.width && plane.y.sourceCount == plane.window.height)
    self.plane = plane
    self.next = next
    sizes = Adam7Sizes(plane)
    filter = try Adam7RowFilter(plane, sizes)
    let weights = FilterWeights(axis: plane.y.boxed)
    rowStarts = weights.starts
    rowTaps = weights.taps
    rowWeights = weights.floatingPoint(perSampleOf: plane.y)
    kept = try RowBuffer(byteCount: sizes.keptBytes)
    fresh = try RowBuffer(byteCount: sizes.freshBytes)
    sums = try RowBuffer(byteCount: sizes.sumBytes)
    outputRow = try RowBuffer(byteCount: sizes.outputBytes)
    let most = max(rowTaps, Int(CK_BATCH))
    pointers = .allocate(capacity: most)
    pointerWeights = .allocate(capacity: most)
    passes = Adam7Pass.passes(width: plane.input.width, height: plane.input.height)
    kept.clear()
  }

  deinit {
    pointers.deallocate()
    pointerWeights.deallocate()
  }

  /// The bytes that a stage for this plane holds, all in all: at most, where the filter's weights decide.
  public static func byteCount(plane: ResampleStage.Plane) -> Int { Adam7Sizes(plane).byteCount }

  public func write(_ row: UnsafeRawPointer, plane index: Int) throws(DownsampleError) {
    guard pass < passes.count else { return }
    let current = passes[pass]
    let y = current.firstRow + passRow << current.rowShift - plane.window.y
    if y >= 0 && y < plane.window.height {
      if inBatch == 0 { batchStart = y }
      filter.take(row, of: current, at: inBatch)
      inBatch += 1
    }
    passRow += 1
    let isLast = passRow == current.rows(before: plane.input.height)
    if inBatch == CK_BATCH || isLast && inBatch > 0 {
      addBatch(of: current)
      inBatch = 0
    }
    if isLast {
      pass += 1
      passRow = 0
    }
    try emit()
  }

  public func finish() throws(DownsampleError) {
    guard nextOutputRow == plane.output.height else {
      throw DownsampleError(.damagedData, "the picture ends before its last row")
    }
    try next.finish()
  }

  // MARK: What comes

  private func addBatch(of current: Adam7Pass) {
    switch sizes.way {
    case .outputRows:
      clear(fresh.bytes, rows: inBatch)
      filter.add(inBatch, of: current, to: fresh.bytes, stride: sizes.rowBytes)
      addToOutputs(step: 1 << current.rowShift)
    case .evenRows:
      let first = index(ofRow: batchStart)
      if isOdd(batchStart) {
        let rows = fresh.bytes + first % sizes.oddRows * sizes.rowBytes
        clear(rows, rows: inBatch)
        filter.add(inBatch, of: current, to: rows, stride: sizes.rowBytes)
      } else {
        filter.add(
          inBatch, of: current, to: kept.bytes + first * sizes.rowBytes,
          stride: sizes.rowBytes << (current.rowShift - 1))
      }
    }
  }

  private func clear(_ rows: UnsafeMutableRawPointer, rows count: Int) {
    rows.initializeMemory(as: UInt8.self, repeating: 0, count: count * sizes.rowBytes)
  }

  /// Adds the rows of the batch, `step` source rows apart, to all output rows that they have a weight in.
  private func addToOutputs(step: Int) {
    let factor = plane.y.boxFactor
    let last = batchStart + (inBatch - 1) * step
    var row = firstOutput(reaching: batchStart / factor)
    while row < plane.output.height && Int(rowStarts[row]) <= last / factor {
      var count = 0
      for i in 0..<inBatch {
        let tap = (batchStart + i * step) / factor - Int(rowStarts[row])
        guard tap >= 0, tap < rowTaps, rowWeights[row * rowTaps + tap] != 0 else { continue }
        pointers[count] = UnsafeRawPointer(fresh.bytes + i * sizes.rowBytes)
        pointerWeights[count] = rowWeights[row * rowTaps + tap]
        count += 1
      }
      if count > 0 { addRows(count, to: kept.bytes + row * sizes.rowBytes) }
      row += 1
    }
  }

  /// The first output row whose filter ends at or after a filtered source row.
  private func firstOutput(reaching source: Int) -> Int {
    var (low, high) = (0, plane.output.height)
    while low < high {
      let middle = (low + high) / 2
      if Int(rowStarts[middle]) + rowTaps > source { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Adds `count` rows of `pointers`, times `pointerWeights`.
  private func addRows(_ count: Int, to sums: UnsafeMutableRawPointer) {
    let samples = plane.output.samplesPerRow
    if sizes.isNarrow {
      pointers.withMemoryRebound(to: UnsafePointer<Int16>?.self, capacity: count) {
        ck_add_rows_i16($0, pointerWeights, Int32(count), sums.assumingMemoryBound(to: Int16.self), samples)
      }
    } else {
      pointers.withMemoryRebound(to: UnsafePointer<Float>?.self, capacity: count) {
        ck_add_rows_f32($0, pointerWeights, Int32(count), sums.assumingMemoryBound(to: Float.self), samples)
      }
    }
  }

  // MARK: What goes

  /// Hands on the output rows that are complete.
  private func emit() throws(DownsampleError) {
    switch sizes.way {
    case .outputRows:
      guard pass == passes.count else { return }
      while nextOutputRow < plane.output.height {
        try emit(sums: kept.bytes + nextOutputRow * sizes.rowBytes)
      }
    case .evenRows:
      let available = rowsAvailable
      while nextOutputRow < plane.output.height, Int(rowStarts[nextOutputRow]) + rowTaps <= available {
        let start = Int(rowStarts[nextOutputRow])
        for k in 0..<rowTaps {
          pointers[k] = sourceRow(start + k)
          pointerWeights[k] = rowWeights[nextOutputRow * rowTaps + k]
        }
        clear(sums.bytes, rows: 1)
        addRows(rowTaps, to: sums.bytes)
        try emit(sums: sums.bytes)
      }
    }
  }

  private func emit(sums: UnsafeMutableRawPointer) throws(DownsampleError) {
    let output = plane.output
    let mapping = plane.mapping ?? .init(scale: Double(output.maximum) / Double(plane.input.maximum), bias: 0)
    let (scale, bias, maximum) = (Float(mapping.scale / sizes.unit), Float(mapping.bias), Float(output.maximum))
    let count = output.samplesPerRow
    if plane.isPremultiplied {
      let (channels, out) = (Int32(output.channels), outputRow.at(0, as: UInt16.self))
      if sizes.isNarrow {
        ck_finish_premultiplied_i16(
          sums.assumingMemoryBound(to: Int16.self), channels, output.width, scale, maximum, out)
      } else {
        ck_finish_premultiplied_f32(
          sums.assumingMemoryBound(to: Float.self), channels, output.width, scale, maximum, out)
      }
      nextOutputRow += 1
      return try next.write(UnsafeRawPointer(outputRow.bytes), plane: 0)
    }
    switch (sizes.isNarrow, output.sampleType) {
    case (true, .uint8):
      ck_finish_i16_u8(
        sums.assumingMemoryBound(to: Int16.self), count, scale, bias, maximum, outputRow.at(0, as: UInt8.self))
    case (true, .uint16):
      ck_finish_i16_u16(
        sums.assumingMemoryBound(to: Int16.self), count, scale, bias, maximum, outputRow.at(0, as: UInt16.self))
    case (false, _):
      ck_finish_f32_u16(
        sums.assumingMemoryBound(to: Float.self), count, scale, bias, maximum, outputRow.at(0, as: UInt16.self))
    }
    nextOutputRow += 1
    try next.write(UnsafeRawPointer(outputRow.bytes), plane: 0)
  }

  // MARK: Even and odd rows, both counted from the window's top

  private func isOdd(_ row: Int) -> Bool { (row + plane.window.y) & 1 == 1 }

  /// The row's number among the even or the odd ones of the window.
  private func index(ofRow row: Int) -> Int {
    let y = row + plane.window.y
    return isOdd(row) ? y / 2 - plane.window.y / 2 : y / 2 - (plane.window.y + 1) / 2
  }

  /// The rows from the top that have wholly come: of the odd ones, those that are not still in a batch.
  private var rowsAvailable: Int {
    if pass == passes.count { return plane.window.height }
    guard passes[pass].firstRow == 1 else { return 0 }
    let missing = inBatch > 0 ? batchStart : passes[pass].firstRow + passRow * 2 - plane.window.y
    return max(0, min(missing, plane.window.height))
  }

  private func sourceRow(_ row: Int) -> UnsafeRawPointer {
    let index = index(ofRow: row)
    return UnsafeRawPointer(
      isOdd(row) ? fresh.bytes + index % sizes.oddRows * sizes.rowBytes : kept.bytes + index * sizes.rowBytes)
  }
}
