import Raster

/// What came from a pipe, in a temporary file.
final class SpooledInput {
  let file: TemporaryFile
  private(set) var byteCount = 0

  init(file: consuming TemporaryFile) { self.file = file }

  func append(_ bytes: UnsafeRawBufferPointer) throws(DownsampleError) {
    let code = SystemCalls.writeAll(file.descriptor, bytes)
    if code != 0 {
      throw DownsampleError(
        .inputOutput, "the input cannot be kept in a temporary file (TMPDIR): \(SystemCalls.text(code))")
    }
    byteCount += bytes.count
  }
}
