import CKernels

/// The horizontal half of resampling an interlaced plane: rows of one pass wait until there is a batch of them, then what they
/// give is added to rows of partial sums.
final class Adam7RowFilter {
  private let plane: ResampleStage.Plane
  private let sizes: Adam7Sizes
  private let starts: [Int32]
  private let taps: Int
  private let fixedWeights: [Int16]
  private let floatWeights: [Float]
  private let waiting: RowBuffer
  private let columns: RowBuffer

  init(_ plane: ResampleStage.Plane, _ sizes: Adam7Sizes) throws(DownsampleError) {
    self.plane = plane
    self.sizes = sizes
    let weights = FilterWeights(axis: plane.x.boxed)
    starts = weights.starts
    taps = weights.taps
    fixedWeights = sizes.isFixedPoint ? weights.fixedPoint(bits: CK_WEIGHT_BITS, times: 1) : []
    // The passes bring sums of the boxes' pixels, the weights are those of their means.
    floatWeights = sizes.isFixedPoint ? [] : weights.floatingPoint(perSampleOf: plane.x)
    waiting = try RowBuffer(byteCount: sizes.waitingBytes)
    columns = try RowBuffer(byteCount: sizes.columnBytes)
    // Rows that a batch lacks are filtered like the others.
    waiting.clear()
  }

  /// Takes a row of a pass, packed, as the batch's row number `index`.
  func take(_ row: UnsafeRawPointer, of pass: Adam7Pass, at index: Int) {
    let input = plane.input
    let skipped = pass.columns(before: plane.window.x)
    let samples = row + skipped * input.bytesPerPixel
    let part = kernelPass(pass)
    guard sizes.isBoxed else {
      (waiting.bytes + index * sizes.waitingSamples * input.sampleType.byteCount).copyMemory(
        from: samples, byteCount: Int(part.count) * input.bytesPerPixel)
      return
    }
    let sums = waiting.at(index * sizes.waitingSamples * 4, as: Float.self)
    sums.update(repeating: 0, count: sizes.waitingSamples)
    if input.sampleType == .uint8 {
      ck_box_pass_u8(
        samples.assumingMemoryBound(to: UInt8.self), Int32(input.channels), part, plane.x.boxFactor, sums)
    } else {
      ck_box_pass_u16(
        samples.assumingMemoryBound(to: UInt16.self), Int32(input.channels), part, plane.x.boxFactor, sums)
    }
  }

  /// Adds the first `count` rows of the batch to rows of partial sums, `stride` bytes apart.
  func add(_ count: Int, of pass: Adam7Pass, to rows: UnsafeMutableRawPointer, stride: Int) {
    let channels = Int32(plane.input.channels)
    var part = kernelPass(pass)
    fillColumns(Int(part.count) * plane.input.channels)
    if sizes.isBoxed { part = ck_pass(first: 0, shift: 0, count: Int32(plane.x.boxed.sourceCount)) }
    starts.withUnsafeBufferPointer { starts in
      let axis = ck_axis(starts: starts.baseAddress, taps: Int32(taps), count: Int32(plane.output.width))
      if sizes.isFixedPoint {
        fixedWeights.withUnsafeBufferPointer {
          ck_pass_i16(
            columns.at(0, as: Int16.self), channels, axis, part, $0.baseAddress, Int32(count),
            rows.assumingMemoryBound(to: Int16.self), stride / 2)
        }
        return
      }
      floatWeights.withUnsafeBufferPointer {
        if sizes.isNarrow {
          ck_pass_f32_i16(
            columns.at(0, as: Float.self), channels, axis, part, $0.baseAddress, Float(sizes.unit), Int32(count),
            rows.assumingMemoryBound(to: Int16.self), stride / 2)
        } else {
          ck_pass_f32(
            columns.at(0, as: Float.self), channels, axis, part, $0.baseAddress, Int32(count),
            rows.assumingMemoryBound(to: Float.self), stride / 4)
        }
      }
    }
  }

  private func fillColumns(_ samples: Int) {
    let stride = sizes.waitingSamples
    if sizes.isBoxed {
      ck_columns_f32(waiting.at(0, as: Float.self), stride, sizes.filteredSamples, columns.at(0, as: Float.self))
    } else if sizes.isFixedPoint {
      ck_columns_u8(waiting.at(0, as: UInt8.self), stride, samples, columns.at(0, as: Int16.self))
    } else {
      ck_columns_u16(waiting.at(0, as: UInt16.self), stride, samples, columns.at(0, as: Float.self))
    }
  }

  /// The pass's columns within the window.
  private func kernelPass(_ pass: Adam7Pass) -> ck_pass {
    let window = plane.window
    let skipped = pass.columns(before: window.x)
    return ck_pass(
      first: Int32(pass.firstColumn + skipped << pass.columnShift - window.x), shift: Int32(pass.columnShift),
      count: Int32(pass.columns(before: window.x + window.width) - skipped))
  }
}
