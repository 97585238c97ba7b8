/// One of the seven passes in which an interlaced PNG brings its pixels (PNG specification, 8.2): every so many columns of every
/// so many rows. A pass without pixels does not occur in the file.
public struct Adam7Pass: Sendable, Equatable {
  public let firstColumn: Int
  public let firstRow: Int
  /// Powers of two: the distance from pixel to pixel, and from row to row.
  public let columnShift: Int
  public let rowShift: Int

  /// In the order in which they come. The last alone brings the odd rows, from the top, and nothing else.
  public static let all: [Adam7Pass] = [
    .init(firstColumn: 0, firstRow: 0, columnShift: 3, rowShift: 3),
    .init(firstColumn: 4, firstRow: 0, columnShift: 3, rowShift: 3),
    .init(firstColumn: 0, firstRow: 4, columnShift: 2, rowShift: 3),
    .init(firstColumn: 2, firstRow: 0, columnShift: 2, rowShift: 2),
    .init(firstColumn: 0, firstRow: 2, columnShift: 1, rowShift: 2),
    .init(firstColumn: 1, firstRow: 0, columnShift: 1, rowShift: 1),
    .init(firstColumn: 0, firstRow: 1, columnShift: 0, rowShift: 1),
  ]

  /// The passes that a picture of this size has.
  public static func passes(width: Int, height: Int) -> [Adam7Pass] {
    all.filter { $0.firstColumn < width && $0.firstRow < height }
  }

  /// The rows of all passes that a picture of this size has.
  public static func rowCount(width: Int, height: Int) -> Int {
    passes(width: width, height: height).reduce(0) { $0 + $1.rows(before: height) }
  }

  /// The pass's columns below `end`.
  func columns(before end: Int) -> Int { Self.count(from: firstColumn, before: end, shift: columnShift) }

  /// The pass's rows below `end`.
  func rows(before end: Int) -> Int { Self.count(from: firstRow, before: end, shift: rowShift) }

  private static func count(from first: Int, before end: Int, shift: Int) -> Int {
    end <= first ? 0 : (end - first + (1 << shift) - 1) >> shift
  }
}
