import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Removes the temporary names that a killed run left in a folder. A live run holds a lock on its file, so what can be
/// locked is nobody's; process numbers would say nothing where containers or hosts share a folder.
enum StaleNames {
  /// Reading more of a huge folder would cost every run more than a leftover does.
  private static let mostEntries = 65_536
  /// Where locks may not reach across machines, a file that somebody wrote to within this time is left alone, in
  /// seconds.
  private static let ageWhereLocksAreLocal = 3600

  private static let lastSwept = Mutex<(device: dev_t, inode: ino_t)?>(nil)

  /// Sweeps the open folder; at once back when it is the folder swept last. Failures are of no consequence.
  static func sweep(_ folder: Int32) {
    guard let status = SystemCalls.status(of: folder) else { return }
    let isNew = lastSwept.withLock { last in
      if let last, last.device == status.st_dev, last.inode == status.st_ino { return false }
      last = (status.st_dev, status.st_ino)
      return true
    }
    if isNew { sweepNow(folder) }
  }

  static func sweepNow(_ folder: Int32) {
    // A descriptor of its own: closedir closes it, and the position in the folder is not shared.
    let descriptor = SystemCalls.open(".", in: folder, O_RDONLY | O_DIRECTORY)
    guard descriptor >= 0 else { return }
    guard let entries = fdopendir(descriptor) else {
      close(descriptor)
      return
    }
    defer { closedir(entries) }
    var found: [Path] = []
    for _ in 0..<mostEntries {
      guard let entry = readdir(entries) else { break }
      withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        guard bytes[0] == UInt8(ascii: ".") else { return }
        let length = bytes.firstIndex(of: 0) ?? bytes.count
        let name = UnsafeBufferPointer(rebasing: bytes.bindMemory(to: UInt8.self)[..<length])
        if TemporaryName.matches(name) { found.append(Path(bytes: Array(name))) }
      }
    }
    if found.isEmpty { return }
    guard let status = SystemCalls.status(of: folder) else { return }
    let minimumAge = FileSystemKind(device: status.st_dev).isShared ? ageWhereLocksAreLocal : 0
    for name in found { remove(name, in: folder, minimumAge: minimumAge) }
  }

  private static func remove(_ name: Path, in folder: Int32, minimumAge: Int) {
    // Writable where possible: over NFS an exclusive lock needs it. Not blocking, in case it is no file at all.
    let flags = O_NOFOLLOW | O_NONBLOCK
    var descriptor = SystemCalls.open(name, in: folder, O_WRONLY | flags)
    if descriptor < 0 { descriptor = SystemCalls.open(name, in: folder, O_RDONLY | flags) }
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard let opened = SystemCalls.status(of: descriptor), opened.kind == S_IFREG else { return }
    if minimumAge > 0, time(nil) - opened.st_mtim.tv_sec < minimumAge { return }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return }
    // Its writer may have renamed it between the opening and the lock.
    guard let named = SystemCalls.status(of: name, in: folder), named.isSameFile(as: opened) else { return }
    _ = name.withCString { unlinkat(folder, $0, 0) }
  }
}
