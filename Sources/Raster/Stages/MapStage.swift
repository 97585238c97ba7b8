/// Makes each row of the only plane into one of another layout.
public final class MapStage: RowSink {
  public typealias Transform = (_ row: UnsafeRawPointer, _ out: UnsafeMutableRawPointer) -> Void

  private let mapped: RowBuffer
  private let next: RowSink
  private let transform: Transform

  public init(output: PlaneLayout, next: RowSink, transform: @escaping Transform) throws(DownsampleError) {
    mapped = try RowBuffer(byteCount: output.bytesPerRow)
    self.next = next
    self.transform = transform
  }

  /// What it holds, in bytes.
  public static func byteCount(output: PlaneLayout) -> Int { output.bytesPerRow }

  public func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    transform(row, mapped.bytes)
    try next.write(UnsafeRawPointer(mapped.bytes), plane: plane)
  }

  public func finish() throws(DownsampleError) { try next.finish() }
}
