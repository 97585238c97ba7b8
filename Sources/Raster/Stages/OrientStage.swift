import CKernels

/// Turns rows of stored pixels into rows as displayed. Left and right change places row by row; anything else holds the whole
/// picture until the last row has come.
public final class OrientStage: RowSink {
  private let planes: [PlaneLayout]
  private let orientation: Orientation
  private let next: RowSink
  private let buffers: [Buffer]

  /// Rows that become columns are gathered first: a column's cache line is then written once, not once for each row.
  private static let gatheredRows = 64

  private final class Buffer {
    let picture: RowBuffer
    let gathered: RowBuffer
    var rowsTaken = 0
    var rowsGathered = 0

    init(pictureBytes: Int, gatheredBytes: Int) throws(DownsampleError) {
      picture = try RowBuffer(byteCount: pictureBytes)
      gathered = try RowBuffer(byteCount: gatheredBytes)
    }
  }

  /// - Parameter planes: as they come, in the stored orientation.
  public init(planes: [PlaneLayout], orientation: Orientation, next: RowSink) throws(DownsampleError) {
    self.planes = planes
    self.orientation = orientation
    self.next = next
    var buffers: [Buffer] = []
    for plane in planes {
      let bytes = Self.bytes(of: plane, orientation)
      buffers.append(try Buffer(pictureBytes: bytes.picture, gatheredBytes: bytes.gathered))
    }
    self.buffers = buffers
  }

  /// What it holds, in bytes.
  public static func byteCount(planes: [PlaneLayout], orientation: Orientation) -> Int {
    planes.reduce(0) { $0 + bytes(of: $1, orientation).picture + bytes(of: $1, orientation).gathered }
  }

  private static func bytes(of plane: PlaneLayout, _ orientation: Orientation) -> (picture: Int, gathered: Int) {
    let holdsPicture = orientation.swapsAxes || orientation.mirrorsY
    return (
      plane.bytesPerRow * (holdsPicture ? plane.height : 1),
      orientation.swapsAxes ? plane.bytesPerRow * min(gatheredRows, plane.height) : 0
    )
  }

  public func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    let layout = planes[plane]
    let buffer = buffers[plane]
    if orientation.swapsAxes {
      (buffer.gathered.bytes + buffer.rowsGathered * layout.bytesPerRow).copyMemory(
        from: row, byteCount: layout.bytesPerRow)
      buffer.rowsGathered += 1
      if buffer.rowsGathered == Self.gatheredRows || buffer.rowsTaken + buffer.rowsGathered == layout.height {
        turnGathered(buffer, layout)
      }
      return
    }
    let y = orientation.mirrorsY ? layout.height - 1 - buffer.rowsTaken : 0
    let pixel = layout.bytesPerPixel
    let start = buffer.picture.bytes + y * layout.bytesPerRow
    buffer.rowsTaken += 1
    if orientation.mirrorsX {
      ck_turn(row, 0, 1, layout.width, pixel, start + (layout.width - 1) * pixel, -pixel, 0)
    } else {
      start.copyMemory(from: row, byteCount: layout.bytesPerRow)
    }
    if !orientation.mirrorsY { try next.write(UnsafeRawPointer(start), plane: plane) }
  }

  /// Writes the gathered rows into the picture, as columns.
  private func turnGathered(_ buffer: Buffer, _ layout: PlaneLayout) {
    let pixel = layout.bytesPerPixel
    let turnedRow = layout.height * pixel
    let column = orientation.mirrorsY ? layout.height - 1 - buffer.rowsTaken : buffer.rowsTaken
    let row = orientation.mirrorsX ? layout.width - 1 : 0
    ck_turn(
      buffer.gathered.bytes, layout.bytesPerRow, buffer.rowsGathered, layout.width, pixel,
      buffer.picture.bytes + row * turnedRow + column * pixel, orientation.mirrorsX ? -turnedRow : turnedRow,
      orientation.mirrorsY ? -pixel : pixel)
    buffer.rowsTaken += buffer.rowsGathered
    buffer.rowsGathered = 0
  }

  public func finish() throws(DownsampleError) {
    if orientation.swapsAxes || orientation.mirrorsY { try deliver() }
    try next.finish()
  }

  /// Rows of all planes in step, so that whoever needs them together keeps few.
  private func deliver() throws(DownsampleError) {
    let sizes = planes.map { plane in
      orientation.swapsAxes
        ? (rows: plane.width, bytes: plane.height * plane.bytesPerPixel)
        : (rows: plane.height, bytes: plane.bytesPerRow)
    }
    var given = planes.map { _ in 0 }
    for y in 0..<sizes[0].rows {
      for (plane, size) in sizes.enumerated() {
        while given[plane] < size.rows, given[plane] * sizes[0].rows <= y * size.rows {
          try next.write(UnsafeRawPointer(buffers[plane].picture.bytes + given[plane] * size.bytes), plane: plane)
          given[plane] += 1
        }
      }
    }
  }
}
