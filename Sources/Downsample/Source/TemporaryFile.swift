import Raster

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file without a name, in TMPDIR or else /var/tmp. It is gone when it is closed, however the process ends.
struct TemporaryFile: ~Copyable {
  let descriptor: Int32
  /// Whether the folder is on a file system that keeps its files in memory, where they count as such.
  let isInMemory: Bool

  init() throws(DownsampleError) {
    var causes: [String] = []
    for folder in Self.folders {
      if let opened = Self.open(in: folder) {
        descriptor = opened
        isInMemory = SystemCalls.status(of: opened).map { FileSystemKind(device: $0.st_dev).isInMemory } ?? false
        return
      }
      causes.append("\(folder): \(SystemCalls.text(errno))")
    }
    throw DownsampleError(
      .inputOutput, "no temporary file can be made (set TMPDIR to a folder): \(causes.joined(separator: "; "))")
  }

  private static var folders: [Path] {
    var folders: [Path] = []
    if let named = getenv("TMPDIR"), named.pointee != 0 { folders.append(Path(cString: named)) }
    folders.append("/var/tmp")
    return folders
  }

  /// Whether a temporary file can be made, and would not itself be memory.
  static var isOnDisk: Bool {
    guard let file = try? TemporaryFile() else { return false }
    return !file.isInMemory
  }

  deinit { close(descriptor) }

  /// The same for who closes it himself.
  static func openDescriptor() throws(DownsampleError) -> Int32 {
    let file = try TemporaryFile()
    let copy = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else {
      throw DownsampleError(.inputOutput, "no temporary file can be made: \(SystemCalls.text(errno))")
    }
    return copy
  }

  private static func open(in folder: Path) -> Int32? {
    // O_TMPFILE of asm-generic/fcntl.h; a macro that Swift does not see.
    let unnamed = SystemCalls.open(folder, 0o20_000_000 | O_DIRECTORY | O_RDWR, mode: 0o600)
    if unnamed >= 0 { return unnamed }
    let random = String(UInt64.random(in: .min ... .max), radix: 16)
    let path = folder.appending(Path("downsample-\(getpid())-\(random)"))
    let named = SystemCalls.open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, mode: 0o600)
    if named < 0 { return nil }
    if path.withCString({ unlink($0) }) == 0 { return named }
    let cause = errno
    close(named)
    errno = cause
    return nil
  }
}
