/// Makes one plane of several of the same size: a row of it as soon as each of them has brought one.
public final class JoinStage: RowSink {
  /// Reads one row of each plane and writes one of the output.
  public typealias Combine = (_ rows: UnsafePointer<UnsafeRawPointer?>, _ out: UnsafeMutableRawPointer) -> Void

  private let queues: [RowQueue]
  private let combined: RowBuffer
  private let rows: UnsafeMutablePointer<UnsafeRawPointer?>
  private let next: RowSink
  private let combine: Combine

  public init(planes: [PlaneLayout], output: PlaneLayout, next: RowSink, combine: @escaping Combine) {
    queues = planes.map { RowQueue(bytesPerRow: $0.bytesPerRow) }
    combined = RowBuffer(byteCount: output.bytesPerRow)
    rows = .allocate(capacity: planes.count)
    self.next = next
    self.combine = combine
  }

  deinit { rows.deallocate() }

  public func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    queues[plane].append(row)
    while queues.allSatisfy({ $0.count > 0 }) {
      for (i, queue) in queues.enumerated() { rows[i] = queue.front }
      combine(rows, combined.bytes)
      for queue in queues { queue.removeFront() }
      try next.write(UnsafeRawPointer(combined.bytes), plane: 0)
    }
  }

  public func finish() throws(DownsampleError) { try next.finish() }
}
