import CKernels

/// Turns rows of stored pixels into rows as displayed. Left and right change places row by row; anything else holds the whole
/// picture until the last row has come.
public final class OrientStage: RowSink {
  private let planes: [PlaneLayout]
  private let orientation: Orientation
  private let next: RowSink
  private let buffers: [Buffer]
  private var rowsTaken: [Int]

  private final class Buffer {
    let memory: RowBuffer
    init(byteCount: Int) { memory = RowBuffer(byteCount: byteCount) }
  }

  /// - Parameter planes: as they come, in the stored orientation.
  public init(planes: [PlaneLayout], orientation: Orientation, next: RowSink) {
    self.planes = planes
    self.orientation = orientation
    self.next = next
    let keepsRowOrder = !orientation.swapsAxes && !orientation.mirrorsY
    buffers = planes.map { Buffer(byteCount: $0.bytesPerRow * (keepsRowOrder ? 1 : $0.height)) }
    rowsTaken = planes.map { _ in 0 }
  }

  public func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    let layout = planes[plane]
    let pixel = layout.bytesPerPixel
    let memory = buffers[plane].memory.bytes
    let y = orientation.mirrorsY ? layout.height - 1 - rowsTaken[plane] : rowsTaken[plane]
    rowsTaken[plane] += 1
    // In the buffer a stored row becomes a row, or, `height` pixels apart, a column.
    let stride = orientation.swapsAxes ? layout.height * pixel : pixel
    let isBuffered = orientation.swapsAxes || orientation.mirrorsY
    let start = orientation.swapsAxes ? y * pixel : isBuffered ? y * layout.bytesPerRow : 0
    let first = orientation.mirrorsX ? start + (layout.width - 1) * stride : start
    ck_scatter(row, layout.width, pixel, memory + first, orientation.mirrorsX ? -stride : stride)
    if !isBuffered { try next.write(UnsafeRawPointer(memory), plane: plane) }
  }

  public func finish() throws(DownsampleError) {
    if orientation.swapsAxes || orientation.mirrorsY { try deliver() }
    try next.finish()
  }

  /// Rows of all planes in step, so that whoever needs them together keeps few.
  private func deliver() throws(DownsampleError) {
    let sizes = planes.map { (rows: orientation.swapsAxes ? $0.width : $0.height, bytes: orientation.swapsAxes ? $0.height * $0.bytesPerPixel : $0.bytesPerRow) }
    var given = planes.map { _ in 0 }
    for y in 0..<sizes[0].rows {
      for (plane, size) in sizes.enumerated() {
        while given[plane] < size.rows, given[plane] * sizes[0].rows <= y * size.rows {
          try next.write(UnsafeRawPointer(buffers[plane].memory.bytes + given[plane] * size.bytes), plane: plane)
          given[plane] += 1
        }
      }
    }
  }
}
