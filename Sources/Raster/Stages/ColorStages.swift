import CKernels

/// The stages that change what samples mean. Each is made of rows in, rows out; pixel counts are those of a row.
public enum ColorStages {
  /// Three planes, and maybe alpha, to interleaved pixels by a matrix.
  public static func matrix(
    _ coefficients: ColorMatrix, planes: [PlaneLayout], output: PlaneLayout, rowsAhead: Int = 1, next: RowSink
  ) throws(DownsampleError) -> JoinStage {
    var matrix = coefficients.kernel(maximum: output.maximum)
    matrix.alpha_scale = planes.count > 3 ? Float(output.maximum) / Float(planes[3].maximum) : 0
    let pixels = output.width
    let isBytes = output.sampleType == .uint8
    return try JoinStage(planes: planes, output: output, rowsAhead: rowsAhead, next: next) { rows, out in
      let alpha = planes.count > 3 ? rows[3] : nil
      withUnsafePointer(to: matrix) { matrix in
        if isBytes {
          rows.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: 3) {
            ck_matrix_u8(
              $0, alpha?.assumingMemoryBound(to: UInt8.self), pixels, matrix, out.assumingMemoryBound(to: UInt8.self))
          }
        } else {
          rows.withMemoryRebound(to: UnsafePointer<UInt16>?.self, capacity: 3) {
            ck_matrix_u16(
              $0, alpha?.assumingMemoryBound(to: UInt16.self), pixels, matrix, out.assumingMemoryBound(to: UInt16.self))
          }
        }
      }
    }
  }

  /// Planes side by side to interleaved pixels, as they are.
  public static func interleave(
    planes: [PlaneLayout], output: PlaneLayout, rowsAhead: Int = 1, next: RowSink
  ) throws(DownsampleError) -> JoinStage {
    let pixels = output.width
    let count = planes.count
    let isBytes = output.sampleType == .uint8
    return try JoinStage(planes: planes, output: output, rowsAhead: rowsAhead, next: next) { rows, out in
      if isBytes {
        rows.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: count) {
          ck_interleave_u8($0, Int32(count), pixels, out.assumingMemoryBound(to: UInt8.self))
        }
      } else {
        rows.withMemoryRebound(to: UnsafePointer<UInt16>?.self, capacity: count) {
          ck_interleave_u16($0, Int32(count), pixels, out.assumingMemoryBound(to: UInt16.self))
        }
      }
    }
  }

  /// Samples of one depth to another, rounded; both have the maximum of their type.
  public static func depth(input: PlaneLayout, output: PlaneLayout, next: RowSink) throws(DownsampleError) -> MapStage {
    let count = input.samplesPerRow
    return try MapStage(output: output, next: next) { row, out in
      switch (input.sampleType, output.sampleType) {
      case (.uint8, .uint16):
        ck_widen(row.assumingMemoryBound(to: UInt8.self), count, out.assumingMemoryBound(to: UInt16.self))
      case (.uint16, .uint8):
        ck_narrow(row.assumingMemoryBound(to: UInt16.self), count, out.assumingMemoryBound(to: UInt8.self))
      default: out.copyMemory(from: row, byteCount: input.bytesPerRow)
      }
    }
  }

  /// 8-bit CMYK to sRGB without a profile: R = (1 - C)(1 - K) and so on.
  public static func cmykToRGB(isInverted: Bool, output: PlaneLayout, next: RowSink) throws(DownsampleError) -> MapStage
  {
    let pixels = output.width
    return try MapStage(output: output, next: next) { row, out in
      ck_cmyk_u8(
        row.assumingMemoryBound(to: UInt8.self), pixels, isInverted ? 1 : 0, out.assumingMemoryBound(to: UInt8.self))
    }
  }

  /// By ICC profiles.
  public static func convert(_ conversion: ColorConversion, output: PlaneLayout, next: RowSink) throws(DownsampleError)
    -> MapStage
  {
    let pixels = output.width
    return try MapStage(output: output, next: next) { row, out in conversion.apply(row, pixels: pixels, to: out) }
  }

  /// From high dynamic range.
  ///
  /// - Parameter input: of 16-bit samples.
  public static func toneMap(
    _ mapping: ToneMapping, input: PlaneLayout, output: PlaneLayout, next: RowSink
  ) throws(DownsampleError) -> MapStage {
    precondition(input.sampleType == .uint16)
    return try MapStage(output: output, next: next) { row, out in
      mapping.apply(row, channels: input.channels, pixels: input.width, to: out, as: output.sampleType)
    }
  }
}
