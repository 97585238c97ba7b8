import Codecs
import Raster

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The place where a picture is written. A file appears whole or not at all: its bytes go to an unnamed file (or, where
/// the file system has none, to a temporary name beside it), and `commit` puts that at the name in one step. An output
/// that is let go of without `commit` leaves nothing behind.
///
/// Of a file that is replaced the mode is kept, and owner and group where the process may; a new one gets 0666 less the
/// umask. Hard links, extended attributes and access control lists of a replaced file are not carried over. Symbolic
/// links are followed. Devices, FIFOs and descriptors are written directly, so there a failure can come after some of
/// the bytes. For use by one thread at a time.
package final class OutputFile: ByteSink {
  /// The bytes taken so far.
  package private(set) var byteCount = 0

  private enum Place {
    /// Written as it comes; nothing to put in place.
    case direct(ownsDescriptor: Bool)
    case unnamed(Target)
    case temporary(Target, name: Path, entry: PendingNames.Entry?)
    case closed
  }

  private struct Target {
    /// Open for as long as the output is: a folder that is renamed meanwhile stays the right one.
    let folder: Int32
    /// False for a folder that may be written but not read: it can be neither swept nor flushed.
    let folderIsReadable: Bool
    let name: Path
    let replaceExisting: Bool
  }

  private var descriptor: Int32
  private var place: Place
  private let buffer = WriteBuffer()
  /// Whether writing may wait for somebody who reads: then a deadline and a cancellation are asked for meanwhile.
  private let mayWait: Bool
  private let interruption: Interruption
  private var failure: DownsampleError?

  /// The file was opened for its owner alone, because it is to replace another.
  private var isPrivate = false
  private static let mostAttempts = 16

  /// Makes ready to write to `path`; what can be known beforehand fails here, before a picture is decoded for nothing.
  ///
  /// - Parameter replaceExisting: false: a file that exists, or comes to exist before `commit`, is an error.
  /// - Throws: `cannotCreate` with the cause: no such folder, a folder, no permission, an existing file that may not be
  ///   written.
  convenience init(
    path: Path, replaceExisting: Bool = true, interruption: Interruption = Interruption()
  ) throws(DownsampleError) {
    try self.init(path: path, replaceExisting: replaceExisting, unnamedFiles: true, interruption: interruption)
  }

  /// Writes to an open descriptor, standard output as a rule. It stays open.
  package convenience init(descriptor: Int32) { self.init(descriptor: descriptor, interruption: Interruption()) }

  init(descriptor: Int32, interruption: Interruption) {
    self.descriptor = descriptor
    place = .direct(ownsDescriptor: false)
    self.interruption = interruption
    mayWait = Self.mayWait(descriptor, interruption)
  }

  /// - Parameter unnamedFiles: false: as if the file system had no O_TMPFILE.
  init(
    path: Path, replaceExisting: Bool, unnamedFiles: Bool, interruption: Interruption = Interruption()
  ) throws(DownsampleError) {
    self.interruption = interruption
    // An initialiser that throws must leave nothing open, and deinit runs only for a complete object.
    switch try OutputTarget.resolve(path) {
    case .descriptor(let number):
      descriptor = fcntl(number, F_DUPFD_CLOEXEC, 0)
      if descriptor < 0 { throw OutputTarget.cannotCreate(errno) }
      place = .direct(ownsDescriptor: true)
      mayWait = Self.mayWait(descriptor, interruption)
    case .special(let isFIFO):
      descriptor = try Self.openSpecial(path, isFIFO: isFIFO, interruption)
      place = .direct(ownsDescriptor: true)
      mayWait = Self.mayWait(descriptor, interruption)
    case .file(let folderPath, let name):
      var isReadable = true
      var folder = SystemCalls.open(folderPath, O_RDONLY | O_DIRECTORY)
      if folder < 0, errno == EACCES {
        isReadable = false
        folder = SystemCalls.open(folderPath, Self.pathOnly | O_DIRECTORY)
      }
      if folder < 0 { throw OutputTarget.cannotCreate(errno) }
      let target = Target(folder: folder, folderIsReadable: isReadable, name: name, replaceExisting: replaceExisting)
      do throws(DownsampleError) {
        (descriptor, place, isPrivate) = try Self.open(target, unnamedFiles: unnamedFiles)
      } catch {
        close(folder)
        throw error
      }
      mayWait = false
    }
  }

  /// Whether the name is one of this process's standard output, /dev/stdout or /dev/fd/1.
  package static func isStandardOutput(_ path: Path) -> Bool {
    guard case .descriptor(STDOUT_FILENO) = try? OutputTarget.resolve(path) else { return false }
    return true
  }

  deinit { discard() }

  /// Takes all of `bytes`.
  ///
  /// - Throws: `inputOutput` with the cause: no space, a broken pipe, a file size limit. What follows fails likewise.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(DownsampleError) {
    if let failure { throw failure }
    if case .closed = place { throw DownsampleError(.internalFault, "an output was written to after its end") }
    try buffer.append(bytes) { bytes throws(DownsampleError) in try put(bytes) }
    byteCount += bytes.count
  }

  /// Ends the output and puts it in its place, flushed to the disk.
  ///
  /// - Throws: `inputOutput` when the last bytes cannot be written, `cannotCreate` when the name cannot be given: then
  ///   the name is what it was.
  package func commit() throws(DownsampleError) {
    if let failure { throw failure }
    do throws(DownsampleError) {
      try buffer.flush { bytes throws(DownsampleError) in try put(bytes) }
      switch place {
      case .direct(let ownsDescriptor):
        if ownsDescriptor, close(descriptor) != 0, errno != EINTR { throw recordDirectClose(errno) }
        place = .closed
      case .unnamed(let target), .temporary(let target, _, _):
        try putInPlace(target)
        close(descriptor)
        close(target.folder)
        place = .closed
      case .closed:
        throw DownsampleError(.internalFault, "an output was ended twice")
      }
    } catch {
      failure = error
      discard()
      throw error
    }
  }

  /// Leaves nothing behind; the name is what it was. What went to a device, a FIFO or a descriptor is gone. Done by
  /// itself when the output is let go of.
  package func discard() {
    buffer.clear()
    switch place {
    case .direct(let ownsDescriptor):
      if ownsDescriptor { close(descriptor) }
    case .unnamed(let target):
      close(descriptor)
      close(target.folder)
    case .temporary(let target, let name, let entry):
      Self.remove(name, ifStill: descriptor, in: target.folder)
      if let entry { PendingNames.disarm(entry) }
      close(descriptor)
      close(target.folder)
    case .closed:
      break
    }
    place = .closed
  }

  // MARK: - Writing

  private func put(_ bytes: UnsafeRawBufferPointer) throws(DownsampleError) {
    if !mayWait { return try check(SystemCalls.writeAll(descriptor, bytes)) }
    var rest = bytes
    while !rest.isEmpty {
      do throws(DownsampleError) {
        while !SystemCalls.canWrite(descriptor, within: interruption.patience) { try interruption.check() }
      } catch {
        failure = error
        throw error
      }
      // What a pipe that can be written to takes without waiting (pipe(7)).
      let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(PIPE_BUF)))
      let count = SystemCalls.write(descriptor, part)
      if count < 0 { try check(Int32(-count)) }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  private func check(_ code: Int32) throws(DownsampleError) {
    if code == 0 { return }
    let error = Self.writeError(code)
    failure = error
    throw error
  }

  private func recordDirectClose(_ code: Int32) -> DownsampleError {
    // The descriptor is gone even when close reports an error.
    place = .closed
    return Self.writeError(code)
  }

  private static func writeError(_ code: Int32) -> DownsampleError {
    DownsampleError(
      .inputOutput, "the output cannot be written: \(SystemCalls.text(code))", isAboutOutput: true)
  }

  // MARK: - Opening

  /// Regular files and disks take what they are given; so nobody asks.
  private static func mayWait(_ descriptor: Int32, _ interruption: Interruption) -> Bool {
    guard !interruption.isNever, let kind = SystemCalls.status(of: descriptor)?.kind else { return false }
    return [S_IFIFO, S_IFSOCK, S_IFCHR].contains(kind)
  }

  /// A FIFO is waited for until somebody reads it.
  private static func openSpecial(
    _ path: Path, isFIFO: Bool, _ interruption: Interruption
  ) throws(DownsampleError) -> Int32 {
    let isPolled = isFIFO && !interruption.isNever
    while true {
      let descriptor = SystemCalls.open(path, O_WRONLY | (isPolled ? O_NONBLOCK : 0))
      if descriptor >= 0 { return descriptor }
      guard isPolled, errno == ENXIO else { throw OutputTarget.cannotCreate(errno) }
      interruption.pause()
      try interruption.check()
    }
  }

  // Both are macros that Swift does not see; the values are those of asm-generic/fcntl.h, the same on x86 and arm64.
  private static let pathOnly: Int32 = 0o10_000_000
  private static let unnamedFile: Int32 = 0o20_000_000 | O_DIRECTORY

  private static func open(
    _ target: Target, unnamedFiles: Bool
  ) throws(DownsampleError) -> (descriptor: Int32, place: Place, isPrivate: Bool) {
    let existing = try existing(target)
    if existing != nil, target.name.withCString({ faccessat(target.folder, $0, W_OK, AT_EACCESS) }) != 0 {
      throw DownsampleError(.cannotCreate, "the existing output cannot be replaced: \(SystemCalls.text(errno))")
    }
    if target.folderIsReadable { StaleNames.sweep(target.folder) }

    // Nobody may read through the temporary name what he may not read of the file that is replaced.
    let isPrivate = existing != nil
    let mode: mode_t = isPrivate ? 0o600 : 0o666
    if unnamedFiles {
      let descriptor = SystemCalls.open(".", in: target.folder, unnamedFile | O_WRONLY, mode: mode)
      if descriptor >= 0 {
        if canBeNamed(descriptor) {
          lock(descriptor)
          return (descriptor, .unnamed(target), isPrivate)
        }
        close(descriptor)
      }
    }
    // Not every file system has unnamed files, and they say so in many ways; the next call's error is the telling one.
    let (descriptor, name, entry) = try withTemporaryName(target) { name in
      let descriptor = SystemCalls.open(
        name, in: target.folder, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, mode: mode)
      if descriptor >= 0 { lock(descriptor) }
      return descriptor
    } release: { descriptor in
      close(descriptor)
    }
    return (descriptor, .temporary(target, name: name, entry: entry), isPrivate)
  }

  /// Lets `make` make a locked file at a temporary name; the lock keeps other runs from sweeping it.
  private static func withTemporaryName(
    _ target: Target, _ make: (Path) -> Int32, release: (Int32) -> Void
  ) throws(DownsampleError) -> (descriptor: Int32, name: Path, entry: PendingNames.Entry?) {
    var cause = EEXIST
    for _ in 0..<mostAttempts {
      let name = TemporaryName.make(for: target.name, process: getpid())
      // Noted before it exists: a signal may come at any time.
      let entry = PendingNames.arm(name, folder: target.folder)
      let descriptor = make(name)
      if descriptor >= 0 {
        // Another run's sweep may have been faster than the lock.
        if isStill(name, descriptor, in: target.folder) { return (descriptor, name, entry) }
        release(descriptor)
      } else {
        cause = errno
      }
      if let entry { PendingNames.disarm(entry) }
      if descriptor < 0, cause != EEXIST { break }
    }
    throw OutputTarget.cannotCreate(cause)
  }

  /// What stands at the name now, if it may be replaced.
  private static func existing(_ target: Target) throws(DownsampleError) -> stat? {
    guard let status = SystemCalls.status(of: target.name, in: target.folder) else {
      if errno == ENOENT { return nil }
      throw OutputTarget.cannotCreate(errno)
    }
    if !target.replaceExisting { throw DownsampleError(.cannotCreate, "the output exists already (--no-clobber)") }
    if status.kind == S_IFREG { return status }
    throw DownsampleError(.cannotCreate, "the output is no longer a regular file")
  }

  /// An unnamed file gets its name by way of /proc, which a bare chroot does not have.
  private static func canBeNamed(_ descriptor: Int32) -> Bool {
    Path("/proc/self/fd/\(descriptor)").withCString { access($0, F_OK) } == 0
  }

  private static func lock(_ descriptor: Int32) {
    // Where there are no locks, nothing can be swept either.
    _ = SystemCalls.retrying { flock(descriptor, LOCK_EX | LOCK_NB) }
  }

  private static func isStill(_ name: Path, _ descriptor: Int32, in folder: Int32) -> Bool {
    guard let named = SystemCalls.status(of: name, in: folder), let opened = SystemCalls.status(of: descriptor)
    else { return false }
    return named.isSameFile(as: opened)
  }

  private static func remove(_ name: Path, ifStill descriptor: Int32, in folder: Int32) {
    if isStill(name, descriptor, in: folder) { _ = name.withCString { unlinkat(folder, $0, 0) } }
  }

  // MARK: - Putting in place

  private func putInPlace(_ target: Target) throws(DownsampleError) {
    // Another process may make or remove the name between a look and the step that follows: then look again.
    for _ in 0..<Self.mostAttempts {
      let existing = try Self.existing(target)
      try setMode(like: existing)
      try check(synchronize(descriptor))
      switch place {
      case .unnamed:
        if existing == nil {
          if linkUnnamed(target.name, target) { return flushFolder(target) }
          if errno != EEXIST { throw OutputTarget.cannotCreate(errno) }
        } else {
          try giveTemporaryName(target)
          try rename(target)
          return flushFolder(target)
        }
      case .temporary:
        if existing != nil || target.replaceExisting {
          try rename(target)
          return flushFolder(target)
        }
        if try renameToFreeName(target) { return flushFolder(target) }
      case .direct, .closed:
        return
      }
    }
    throw DownsampleError(.cannotCreate, "the output's name comes and goes while it is written")
  }

  private func setMode(like existing: stat?) throws(DownsampleError) {
    guard let own = SystemCalls.status(of: descriptor) else { throw Self.writeError(errno) }
    var mode = own.st_mode & 0o7777
    if let existing {
      mode = existing.st_mode & 0o7777
      if existing.st_uid != own.st_uid || existing.st_gid != own.st_gid {
        let unchanged = uid_t.max
        let isOwners =
          fchown(descriptor, existing.st_uid, existing.st_gid) == 0
          || (existing.st_uid == own.st_uid && fchown(descriptor, unchanged, existing.st_gid) == 0)
        // Rights that were given with another owner in mind.
        if !isOwners {
          _ = fchown(descriptor, unchanged, existing.st_gid)
          mode &= ~(S_ISUID | S_ISGID)
        }
      }
    } else if isPrivate {
      // Opened for a file that has gone since.
      mode = 0o666 & ~CreationMask.current()
    } else if case .unnamed = place, mode == 0o666 {
      // Kernels before 5.19 forget the umask here on file systems without access control lists.
      mode = 0o666 & ~CreationMask.current()
    }
    if mode != own.st_mode & 0o7777 || existing != nil, fchmod(descriptor, mode) != 0, errno != EPERM {
      throw Self.writeError(errno)
    }
  }

  private func synchronize(_ descriptor: Int32) -> Int32 {
    if SystemCalls.retrying({ fsync(descriptor) }) == 0 { return 0 }
    // A file system that cannot flush.
    return errno == EINVAL || errno == ENOSYS ? 0 : errno
  }

  private func linkUnnamed(_ name: Path, _ target: Target) -> Bool {
    let source = Path("/proc/self/fd/\(descriptor)")
    return source.withCString { source in
      name.withCString { linkat(AT_FDCWD, source, target.folder, $0, AT_SYMLINK_FOLLOW) }
    } == 0
  }

  /// An unnamed file cannot replace a name: it gets a temporary one first, which stands for an instant.
  private func giveTemporaryName(_ target: Target) throws(DownsampleError) {
    let (_, name, entry) = try Self.withTemporaryName(target) { name in
      linkUnnamed(name, target) ? descriptor : -1
    } release: { _ in
    }
    place = .temporary(target, name: name, entry: entry)
  }

  private func rename(_ target: Target) throws(DownsampleError) {
    guard case .temporary(_, let name, let entry) = place else { return }
    let result = name.withCString { from in
      target.name.withCString { renameat(target.folder, from, target.folder, $0) }
    }
    if result != 0 { throw OutputTarget.cannotCreate(errno) }
    if let entry { PendingNames.disarm(entry) }
    place = .unnamed(target)
  }

  /// Renames only if the name is free. False: it is not.
  private func renameToFreeName(_ target: Target) throws(DownsampleError) -> Bool {
    guard case .temporary(_, let name, let entry) = place else { return false }
    let result = name.withCString { from in
      target.name.withCString { to in
        linkat(target.folder, from, target.folder, to, 0)
      }
    }
    if result != 0 {
      if errno == EEXIST { return false }
      // FAT and others have no links. There the name is looked at once more, right before the rename.
      if try Self.existing(target) != nil { return false }
      try rename(target)
      return true
    }
    Self.remove(name, ifStill: descriptor, in: target.folder)
    if let entry { PendingNames.disarm(entry) }
    place = .unnamed(target)
    return true
  }

  private func flushFolder(_ target: Target) {
    // The output stands and is whole: that its name might not survive a power cut is no reason to call it a failure.
    if target.folderIsReadable { _ = synchronize(target.folder) }
  }
}
