import Raster

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What an output's name stands for, with symbolic links followed.
enum OutputTarget {
  /// A descriptor of this process, named as `/dev/stdout` or `/dev/fd/3`: opening that name would begin a file anew.
  case descriptor(Int32)
  /// A device, a FIFO or a socket.
  case special(isFIFO: Bool)
  /// A regular file, or a name that is free.
  case file(folder: Path, name: Path)

  static func resolve(_ path: Path) throws(DownsampleError) -> OutputTarget {
    if !path.isValid { throw DownsampleError(.cannotCreate, "the output's name is empty or holds a zero byte") }
    if let number = descriptorNumber(path) { return .descriptor(number) }
    if let status = SystemCalls.status(of: path) {
      if status.kind == S_IFDIR { throw DownsampleError(.cannotCreate, "the output is a folder") }
      if status.kind != S_IFREG { return .special(isFIFO: status.kind == S_IFIFO) }
    } else if errno != ENOENT {
      throw cannotCreate(errno)
    }
    // One link at a time: the last one may lead to a file that does not exist yet.
    var target = path
    for _ in 0..<mostLinks {
      guard let next = link(target) else {
        let name = target.lastComponent
        // A name that ends in a slash is a folder's, and there is none.
        if !name.isValid { throw cannotCreate(ENOENT) }
        return .file(folder: target.folder, name: name)
      }
      target = target.folder.appending(next)
    }
    throw cannotCreate(ELOOP)
  }

  static func cannotCreate(_ code: Int32) -> DownsampleError {
    let text = SystemCalls.text(code)
    return code == ENOENT
      ? DownsampleError(.cannotCreate, "the output cannot be made: the folder does not exist (\(text))")
      : DownsampleError(.cannotCreate, "the output cannot be made: \(text)")
  }

  /// As many as the kernel follows.
  private static let mostLinks = 40

  private static func link(_ path: Path) -> Path? {
    let capacity = Int(PATH_MAX)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer -> Path? in
      let count = path.withCString { readlink($0, buffer.baseAddress!, capacity) }
      guard count > 0, count < capacity else { return nil }
      return Path(bytes: Array(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])))
    }
  }

  private static func descriptorNumber(_ path: Path) -> Int32? {
    let text = path.description
    if text == "/dev/stdout" { return STDOUT_FILENO }
    if text == "/dev/stderr" { return STDERR_FILENO }
    for prefix in ["/dev/fd/", "/proc/self/fd/"] where text.hasPrefix(prefix) {
      return Int32(text.dropFirst(prefix.count))
    }
    return nil
  }
}
