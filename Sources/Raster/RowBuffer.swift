#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Memory for samples, owned by one place. Not cleared unless asked.
struct RowBuffer: ~Copyable {
  let bytes: UnsafeMutableRawPointer
  let byteCount: Int

  /// - Throws: `.overBudget` when the system has not so much.
  init(byteCount: Int) throws(DownsampleError) {
    // 64 bytes: a register of AVX-512, and a cache line.
    var bytes: UnsafeMutableRawPointer?
    guard posix_memalign(&bytes, 64, max(byteCount, 64)) == 0, let bytes else {
      throw DownsampleError(
        .overBudget, "the system does not give \(byteCount) bytes of memory for rows of the picture")
    }
    self.bytes = bytes
    self.byteCount = byteCount
  }

  deinit { free(bytes) }

  func clear() { bytes.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }

  func at<T>(_ byteOffset: Int, as type: T.Type) -> UnsafeMutablePointer<T> {
    (bytes + byteOffset).assumingMemoryBound(to: type)
  }
}

/// Rows of one plane that wait for other planes, first in, first out. Has room for some from the beginning, and grows when
/// more come.
final class RowQueue {
  let bytesPerRow: Int
  private var buffer: RowBuffer
  private var capacity: Int
  private var first = 0
  private(set) var count = 0

  init(bytesPerRow: Int, capacity: Int) throws(DownsampleError) {
    self.bytesPerRow = bytesPerRow
    self.capacity = max(1, capacity)
    buffer = try RowBuffer(byteCount: bytesPerRow * self.capacity)
  }

  /// The row that has waited longest. Only when there is one.
  var front: UnsafeRawPointer { UnsafeRawPointer(buffer.bytes + first * bytesPerRow) }

  func append(_ row: UnsafeRawPointer) throws(DownsampleError) {
    if count == capacity { try grow() }
    (buffer.bytes + (first + count) % capacity * bytesPerRow).copyMemory(from: row, byteCount: bytesPerRow)
    count += 1
  }

  func removeFront() {
    first = (first + 1) % capacity
    count -= 1
  }

  private func grow() throws(DownsampleError) {
    let larger = try RowBuffer(byteCount: capacity * 2 * bytesPerRow)
    for i in 0..<count {
      (larger.bytes + i * bytesPerRow).copyMemory(
        from: buffer.bytes + (first + i) % capacity * bytesPerRow, byteCount: bytesPerRow)
    }
    buffer = larger
    capacity *= 2
    first = 0
  }
}
