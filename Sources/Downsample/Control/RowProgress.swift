import Codecs
import Raster

/// How far a picture is.
public struct RowProgress: Sendable, Equatable {
  /// Rows of the decoded picture that were resampled. Where all is decoded before the first row comes (a progressive JPEG, an
  /// undivided HEIC), that takes most of the time, and this stays 0 for so long.
  public var completedRows: Int
  /// In all. Not those of the file, where the decoder brings fewer, or of an interlaced picture every pass's.
  public var totalRows: Int

  /// 0 to 1.
  public var fractionCompleted: Double { totalRows == 0 ? 1 : Double(completedRows) / Double(totalRows) }
}

/// Counts the rows that pass, and tells of every hundredth part.
final class ProgressSink: RowSink {
  private let next: RowSink
  private let tell: (RowProgress) -> Void
  private var progress: RowProgress
  private var untold = 0

  init(_ decoded: DecodedLayout, tell: @escaping (RowProgress) -> Void, next: RowSink) {
    self.next = next
    self.tell = tell
    let layout = decoded.planes[0].layout
    let rows =
      decoded.order == .topDown ? layout.height : Adam7Pass.rowCount(width: layout.width, height: layout.height)
    progress = RowProgress(completedRows: 0, totalRows: rows)
  }

  func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    try next.write(row, plane: plane)
    if plane != 0 { return }
    progress.completedRows += 1
    untold += 1
    if untold * 100 >= progress.totalRows && progress.completedRows < progress.totalRows {
      untold = 0
      tell(progress)
    }
  }

  func finish() throws(DownsampleError) {
    try next.finish()
    progress.completedRows = progress.totalRows
    tell(progress)
  }
}
