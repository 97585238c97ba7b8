import CKernels

/// What is done with alpha before and after resampling. Rows are interleaved, alpha last; pixel counts are those of a row.
public enum AlphaStages {
  /// What colour with alpha becomes for resampling: 16 bits, multiplied by alpha unless it is already.
  public static func premultipliedLayout(of layout: PlaneLayout) -> PlaneLayout {
    var result = layout
    result.sampleType = .uint16
    result.maximum = layout.sampleType == .uint8 ? 255 * 255 : layout.maximum
    return result
  }

  /// - Parameter input: interleaved, alpha last; 16-bit samples have a maximum of 65,535.
  public static func premultiply(input: PlaneLayout, isPremultiplied: Bool, next: RowSink) throws(DownsampleError)
    -> MapStage
  {
    let pixels = input.width
    let channels = Int32(input.channels)
    return try MapStage(output: premultipliedLayout(of: input), next: next) { row, out in
      let out = out.assumingMemoryBound(to: UInt16.self)
      switch (input.sampleType, isPremultiplied) {
      case (.uint8, false): ck_premultiply_u8(row.assumingMemoryBound(to: UInt8.self), channels, pixels, out)
      case (.uint16, false): ck_premultiply_u16(row.assumingMemoryBound(to: UInt16.self), channels, pixels, out)
      case (.uint8, true):
        let row = row.assumingMemoryBound(to: UInt8.self)
        for i in 0..<input.samplesPerRow { out[i] = UInt16(row[i]) * 255 }
      case (.uint16, true): UnsafeMutableRawPointer(out).copyMemory(from: row, byteCount: input.bytesPerRow)
      }
    }
  }

  /// Undoes `premultiply`, to 8 or 16 bits.
  public static func unpremultiply(input: PlaneLayout, output: PlaneLayout, next: RowSink) throws(DownsampleError)
    -> MapStage
  {
    let pixels = input.width
    let channels = Int32(input.channels)
    let full = UInt32(input.maximum)
    return try MapStage(output: output, next: next) { row, out in
      let row = row.assumingMemoryBound(to: UInt16.self)
      if output.sampleType == .uint8 {
        ck_unpremultiply_u8(row, channels, pixels, full, out.assumingMemoryBound(to: UInt8.self))
      } else {
        ck_unpremultiply_u16(row, channels, pixels, full, out.assumingMemoryBound(to: UInt16.self))
      }
    }
  }

  /// Lays premultiplied pixels over a background.
  ///
  /// - Parameter background: R, G and B, or gray, 0 to 1, as coded.
  public static func flatten(
    input: PlaneLayout, output: PlaneLayout, background: [Double], next: RowSink
  ) throws(DownsampleError) -> MapStage {
    let pixels = input.width
    let channels = Int32(input.channels)
    let full = UInt32(input.maximum)
    precondition(background.count == output.channels)
    let samples = background.map { UInt16((min(max($0, 0), 1) * Double(output.maximum)).rounded()) }
    let bytes = samples.map { UInt8(truncatingIfNeeded: $0) }
    return try MapStage(output: output, next: next) { row, out in
      let row = row.assumingMemoryBound(to: UInt16.self)
      if output.sampleType == .uint8 {
        ck_flatten_u8(row, channels, pixels, full, bytes, out.assumingMemoryBound(to: UInt8.self))
      } else {
        ck_flatten_u16(row, channels, pixels, full, samples, out.assumingMemoryBound(to: UInt16.self))
      }
    }
  }
}
