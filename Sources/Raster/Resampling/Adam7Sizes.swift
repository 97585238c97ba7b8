import CKernels

/// What resampling an interlaced plane needs, worked out from its geometry alone.
struct Adam7Sizes {
  /// What is kept until the last pass has come.
  enum Way {
    /// The sums of all output rows.
    case outputRows
    /// The even source rows, at the output's width.
    case evenRows
  }

  let way: Way
  /// Partial sums are 16-bit numbers with 6 bits of fraction of an 8-bit code value: where no more than 8 bits come, or are
  /// wanted. Else they are 32-bit floats.
  let isNarrow: Bool
  /// What one unit of the input is in partial sums.
  let unit: Double
  /// Whether the horizontal pass is in 16-bit fixed point.
  let isFixedPoint: Bool
  /// Whether columns are first summed up in boxes. Bytes that do not fit the fixed point go that way too, in boxes of one:
  /// those of few bits, and where the box filter spans many.
  let isBoxed: Bool
  /// Samples that the horizontal filter sees in a row.
  let filteredSamples: Int
  /// Distance of rows of partial sums, in bytes.
  let rowBytes: Int
  /// Distance of the rows that wait for the horizontal pass, in samples.
  let waitingSamples: Int
  let evenRows: Int
  /// Odd rows held in a ring: those under one output row's filter, and the batch that is added.
  let oddRows: Int

  let waitingBytes: Int
  let columnBytes: Int
  let keptBytes: Int
  /// The rows that are being made: of a batch, or odd.
  let freshBytes: Int
  /// The sums of the output row that is being made, where not all are kept.
  let sumBytes: Int
  let outputBytes: Int
  private let weightBytes: Int

  var byteCount: Int {
    [waitingBytes, columnBytes, keptBytes, freshBytes, sumBytes, outputBytes, weightBytes].reduce(0) { sum, bytes in
      let (total, isTooMuch) = sum.addingReportingOverflow(bytes)
      return isTooMuch ? .max : total
    }
  }

  init(_ plane: ResampleStage.Plane) {
    let batch = Int(CK_BATCH)
    let (input, output, window) = (plane.input, plane.output, plane.window)
    isNarrow = output.sampleType == .uint8 || input.maximum <= 255 * 255
    unit = isNarrow ? 255 * Double(1 << CK_ROW_BITS) / Double(input.maximum) : 1
    let fits = input.sampleType == .uint8 && input.maximum == 255
    isBoxed = plane.x.boxFactor > 1 || input.sampleType == .uint8 && (!fits || plane.x.isLongMean)
    isFixedPoint = fits && !isBoxed
    filteredSamples = plane.x.boxed.sourceCount * input.channels
    rowBytes = (output.samplesPerRow * (isNarrow ? 2 : 4) + 63) & ~63
    waitingSamples = isBoxed ? filteredSamples : window.width * input.channels
    waitingBytes = waitingSamples * (isBoxed ? 4 : input.sampleType.byteCount) * batch
    columnBytes = filteredSamples * (isFixedPoint ? 2 : 4) * batch
    outputBytes = output.bytesPerRow

    let end = window.y + window.height
    let rowTaps = FilterWeights.mostTaps(of: plane.y.boxed)
    evenRows = (end + 1) / 2 - (window.y + 1) / 2
    let held = Self.product(rowBytes, evenRows)
    let odd = (rowTaps / 2 + 2 * batch) / batch * batch
    // Where rows are averaged first, there are at least eight of them for each output row.
    let sums = Self.product(rowBytes, output.height)
    if plane.y.boxFactor > 1 || sums + batch * rowBytes <= held + (odd + 1) * rowBytes {
      way = .outputRows
      oddRows = 0
      keptBytes = sums
      freshBytes = batch * rowBytes
      sumBytes = 0
    } else {
      way = .evenRows
      oddRows = odd
      keptBytes = held
      freshBytes = odd * rowBytes
      sumBytes = rowBytes
    }
    let columnTaps = FilterWeights.mostTaps(of: plane.x.boxed)
    weightBytes =
      output.width * (4 + columnTaps * (isFixedPoint ? 2 : 4)) + output.height * (4 + rowTaps * 4)
      + max(rowTaps, batch) * (MemoryLayout<UnsafeRawPointer?>.stride + 4)
  }

  private static func product(_ bytes: Int, _ rows: Int) -> Int {
    let (result, isTooMuch) = bytes.multipliedReportingOverflow(by: rows)
    // Room for what is added to it.
    return isTooMuch ? .max / 4 : min(result, .max / 4)
  }
}
