/// Memory for samples, owned by one place. Not cleared unless asked.
struct RowBuffer: ~Copyable {
  let bytes: UnsafeMutableRawPointer
  let byteCount: Int

  init(byteCount: Int) {
    self.byteCount = byteCount
    // 64 bytes: a register of AVX-512, and a cache line.
    bytes = .allocate(byteCount: max(byteCount, 64), alignment: 64)
  }

  deinit { bytes.deallocate() }

  func clear() { bytes.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }

  func at<T>(_ byteOffset: Int, as type: T.Type) -> UnsafeMutablePointer<T> {
    (bytes + byteOffset).assumingMemoryBound(to: type)
  }
}

/// Rows of one plane that wait for other planes, first in, first out. Grows when a row comes that has no room.
final class RowQueue {
  let bytesPerRow: Int
  private var buffer: RowBuffer
  private var capacity: Int
  private var first = 0
  private(set) var count = 0

  init(bytesPerRow: Int) {
    self.bytesPerRow = bytesPerRow
    capacity = 1
    buffer = RowBuffer(byteCount: bytesPerRow)
  }

  /// The row that has waited longest. Only when there is one.
  var front: UnsafeRawPointer { UnsafeRawPointer(buffer.bytes + first * bytesPerRow) }

  func append(_ row: UnsafeRawPointer) {
    if count == capacity { grow() }
    (buffer.bytes + (first + count) % capacity * bytesPerRow).copyMemory(from: row, byteCount: bytesPerRow)
    count += 1
  }

  func removeFront() {
    first = (first + 1) % capacity
    count -= 1
  }

  private func grow() {
    let larger = RowBuffer(byteCount: capacity * 2 * bytesPerRow)
    for i in 0..<count {
      (larger.bytes + i * bytesPerRow).copyMemory(
        from: buffer.bytes + (first + i) % capacity * bytesPerRow, byteCount: bytesPerRow)
    }
    buffer = larger
    capacity *= 2
    first = 0
  }
}
