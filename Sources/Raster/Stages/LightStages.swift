import CKernels

/// Coded samples to light and back: interleaved, by a curve for each channel of colour. A channel more than there are curves is
/// alpha, which stays what it is.
public enum LightStages {
  /// What samples of this layout become.
  public static func layout(of coded: PlaneLayout) -> PlaneLayout {
    var result = coded
    result.sampleType = .uint16
    result.maximum = 65535
    return result
  }

  /// Each curve's own table, once, and where each channel's is.
  private final class Tables<Value> {
    private let tables: [UnsafeMutablePointer<Value>]
    let pointers: [UnsafePointer<Value>?]

    init(_ curves: [LightCurve], channels: Int, make: (LightCurve) -> [Value]) {
      let distinct = LightStages.distinct(curves)
      let tables = distinct.map { curve in
        let values = make(curve)
        let table = UnsafeMutablePointer<Value>.allocate(capacity: values.count)
        table.initialize(from: values, count: values.count)
        return table
      }
      self.tables = tables
      let found = curves.map { tables[distinct.firstIndex(of: $0)!] }
      pointers = (0..<channels).map { $0 < found.count ? UnsafePointer(found[$0]) : nil }
    }

    deinit { for table in tables { table.deallocate() } }
  }

  private static func distinct(_ curves: [LightCurve]) -> [LightCurve] {
    curves.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// What `toLight` holds, in bytes, while its tables are made at most.
  public static func toLightBytes(_ curves: [LightCurve], input: PlaneLayout) -> Int {
    MapStage.byteCount(output: layout(of: input)) + (distinct(curves).count + 1) * 2 * (input.maximum + 1)
  }

  /// What `fromLight` holds, in bytes, while its tables are made at most.
  public static func fromLightBytes(_ curves: [LightCurve], output: PlaneLayout) -> Int {
    MapStage.byteCount(output: output) + (distinct(curves).count + 1) * 65536 * output.sampleType.byteCount
  }

  /// - Parameter input: of 255 or 65,535 at most.
  public static func toLight(_ curves: [LightCurve], input: PlaneLayout, next: RowSink) throws(DownsampleError)
    -> MapStage
  {
    precondition(input.maximum == (input.sampleType == .uint8 ? 255 : 65535))
    let tables = Tables(curves, channels: input.channels) { $0.table(maximum: input.maximum) }
    let (pixels, channels) = (input.width, Int32(input.channels))
    return try MapStage(output: layout(of: input), next: next) { row, out in
      let out = out.assumingMemoryBound(to: UInt16.self)
      if input.sampleType == .uint8 {
        ck_curves_u8_u16(row.assumingMemoryBound(to: UInt8.self), channels, pixels, tables.pointers, out)
      } else {
        ck_curves_u16_u16(row.assumingMemoryBound(to: UInt16.self), channels, pixels, tables.pointers, out)
      }
    }
  }

  /// - Parameter output: of 255 or 65,535 at most.
  public static func fromLight(_ curves: [LightCurve], output: PlaneLayout, next: RowSink) throws(DownsampleError)
    -> MapStage
  {
    let (pixels, channels) = (output.width, Int32(output.channels))
    if output.sampleType == .uint8 {
      let tables = Tables(curves, channels: output.channels) { $0.inverseTable(maximum: 255, of: UInt8.self) }
      return try MapStage(output: output, next: next) { row, out in
        ck_curves_u16_u8(
          row.assumingMemoryBound(to: UInt16.self), channels, pixels, tables.pointers,
          out.assumingMemoryBound(to: UInt8.self))
      }
    }
    let tables = Tables(curves, channels: output.channels) { $0.inverseTable(maximum: 65535, of: UInt16.self) }
    return try MapStage(output: output, next: next) { row, out in
      ck_curves_u16_u16(
        row.assumingMemoryBound(to: UInt16.self), channels, pixels, tables.pointers,
        out.assumingMemoryBound(to: UInt16.self))
    }
  }
}
