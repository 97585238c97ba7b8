@testable import Raster

/// The end of a chain of stages: keeps every row.
final class RowCollector: RowSink {
  private let rowBytes: [Int]
  /// The bytes of each plane's rows, in the order in which they came.
  private(set) var rows: [[[UInt8]]]
  /// The planes of the rows in the order in which they came.
  private(set) var order: [Int] = []
  private(set) var isFinished = false

  init(rowBytes: [Int]) {
    self.rowBytes = rowBytes
    rows = rowBytes.map { _ in [] }
  }

  func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    rows[plane].append(Array(UnsafeRawBufferPointer(start: row, count: rowBytes[plane])))
    order.append(plane)
  }

  func finish() throws(DownsampleError) { isFinished = true }
}

extension RowSink {
  func write<T>(samples: [T], plane: Int = 0) throws(DownsampleError) {
    let row = UnsafeMutablePointer<T>.allocate(capacity: samples.count)
    defer { row.deallocate() }
    row.initialize(from: samples, count: samples.count)
    try write(UnsafeRawPointer(row), plane: plane)
  }
}

extension [UInt8] {
  func samples<T: FixedWidthInteger>(of type: T.Type) -> [T] {
    withUnsafeBytes { bytes in
      (0..<count / MemoryLayout<T>.size).map {
        bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<T>.size, as: type)
      }
    }
  }
}
