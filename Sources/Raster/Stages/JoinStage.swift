/// Makes one plane of several of the same size: a row of it as soon as each of them has brought one.
public final class JoinStage: RowSink {
  /// Reads one row of each plane and writes one of the output.
  public typealias Combine = (_ rows: UnsafePointer<UnsafeRawPointer?>, _ out: UnsafeMutableRawPointer) -> Void

  private let queues: [RowQueue]
  private let combined: RowBuffer
  private let rows: UnsafeMutablePointer<UnsafeRawPointer?>
  private let next: RowSink
  private let combine: Combine

  /// - Parameter rowsAhead: rows by which a plane may be ahead of another; more take more memory.
  public init(
    planes: [PlaneLayout], output: PlaneLayout, rowsAhead: Int = 1, next: RowSink, combine: @escaping Combine
  ) throws(DownsampleError) {
    var queues: [RowQueue] = []
    for plane in planes {
      queues.append(try RowQueue(bytesPerRow: plane.bytesPerRow, capacity: min(rowsAhead, plane.height)))
    }
    self.queues = queues
    combined = try RowBuffer(byteCount: output.bytesPerRow)
    rows = .allocate(capacity: planes.count)
    self.next = next
    self.combine = combine
  }

  deinit { rows.deallocate() }

  /// What it holds, in bytes.
  public static func byteCount(planes: [PlaneLayout], output: PlaneLayout, rowsAhead: Int) -> Int {
    planes.reduce(output.bytesPerRow) { $0 + $1.bytesPerRow * min(rowsAhead, $1.height) }
  }

  public func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    try queues[plane].append(row)
    while queues.allSatisfy({ $0.count > 0 }) {
      for (i, queue) in queues.enumerated() { rows[i] = queue.front }
      combine(rows, combined.bytes)
      for queue in queues { queue.removeFront() }
      try next.write(UnsafeRawPointer(combined.bytes), plane: 0)
    }
  }

  public func finish() throws(DownsampleError) { try next.finish() }
}
