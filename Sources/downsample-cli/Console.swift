import Downsample
import Raster

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Standard output and standard error.
enum Console {
  /// - Throws: `.inputOutput` when it cannot be written: a full disk, a closed pipe.
  static func print(_ text: String) throws(DownsampleError) {
    let output = OutputFile(descriptor: STDOUT_FILENO)
    let line = Array((text + "\n").utf8)
    try put(line, into: output)
    try output.commit()
  }

  private static func put(_ bytes: [UInt8], into output: OutputFile) throws(DownsampleError) {
    var failure: DownsampleError?
    bytes.withUnsafeBytes { buffer in
      do throws(DownsampleError) { try output.write(buffer) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Writes lines to standard error; where that fails nothing more can be done. Names of files and values of options are in
  /// them: what would move the cursor is shown as a question mark.
  static func complain(_ lines: String...) {
    let text = lines.map(printable)
    let line = Array((text.joined(separator: "\n") + "\n").utf8)
    var done = 0
    while done < line.count {
      let count = line[done...].withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress!, $0.count) }
      if count <= 0 { return }
      done += count
    }
  }

  /// For a terminal: control characters are shown as question marks.
  static func printable(_ line: String) -> String {
    String(String.UnicodeScalarView(line.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
  }
}
