import Raster

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Thin wrappers that retry what a signal interrupted and wait where a descriptor is in non-blocking mode.
enum SystemCalls {
  /// Calls `body` until something other than a signal ends it. The result is what the call gave; `errno` is its error.
  static func retrying<Result: FixedWidthInteger>(_ body: () -> Result) -> Result {
    while true {
      let result = body()
      if result != -1 || errno != EINTR { return result }
    }
  }

  static func open(_ path: Path, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    guard path.isValid else { return fail(ENOENT) }
    return path.withCString { name in retrying { Self.cOpen(name, flags | O_CLOEXEC | O_NOCTTY, mode) } }
  }

  static func open(_ name: Path, in folder: Int32, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    guard name.isValid else { return fail(ENOENT) }
    return name.withCString { name in retrying { openat(folder, name, flags | O_CLOEXEC | O_NOCTTY, mode) } }
  }

  /// Waits until there is something to read, or the end: false when the time ran out, or a signal came, before.
  ///
  /// - Parameter time: nil for as long as it takes.
  static func canRead(_ descriptor: Int32, within time: Duration?) -> Bool { wait(descriptor, POLLIN, within: time) }

  /// The same until something can be written: to a pipe `PIPE_BUF` bytes at least.
  static func canWrite(_ descriptor: Int32, within time: Duration?) -> Bool { wait(descriptor, POLLOUT, within: time) }

  /// Lets time pass; less when a signal comes.
  static func pause(_ time: Duration) { _ = poll(nil, 0, milliseconds(time)) }

  private static func wait(_ descriptor: Int32, _ events: Int32, within time: Duration?) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    return poll(&request, 1, time.map(milliseconds) ?? -1) > 0 && request.revents != 0
  }

  private static func milliseconds(_ time: Duration) -> Int32 {
    let (seconds, attoseconds) = time.components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
    return isTooLong ? .max : Int32(clamping: whole + attoseconds / 1_000_000_000_000_000 + 1)
  }

  /// Reads what there is, up to the size of `buffer`; 0 at the end; negative: the error, negated.
  static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int? = nil) -> Int {
    guard let start = buffer.baseAddress, !buffer.isEmpty else { return 0 }
    while true {
      let count: Int
      if let offset {
        count = pread(descriptor, start, buffer.count, off_t(offset))
      } else {
        count = Self.cRead(descriptor, start, buffer.count)
      }
      if count >= 0 { return count }
      let code = errno
      if code == EAGAIN { _ = canRead(descriptor, within: nil) } else if code != EINTR { return -Int(code) }
    }
  }

  /// Writes all of `bytes`. The result is 0 or the error.
  static func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let count = Self.cWrite(descriptor, part.baseAddress, part.count)
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if count == 0 {
        return EIO
      } else if errno == EAGAIN {
        _ = canWrite(descriptor, within: nil)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }

  /// Writes some of `bytes`, without waiting where the descriptor can do that: how many, 0 for now none; negative: the error,
  /// negated.
  static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    // Only a socket can be written to so whatever its mode is.
    var count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    if count < 0, errno == ENOTSOCK { count = cWrite(descriptor, bytes.baseAddress, bytes.count) }
    if count >= 0 { return count }
    return errno == EAGAIN || errno == EINTR ? 0 : -Int(errno)
  }

  static func status(of descriptor: Int32) -> stat? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status : nil
  }

  static func status(of path: Path) -> stat? {
    guard path.isValid else { return failNil(ENOENT) }
    var status = stat()
    let result = path.withCString { name in retrying { stat(name, &status) } }
    return result == 0 ? status : nil
  }

  /// Looks at the name itself: a symbolic link is not followed.
  static func status(of name: Path, in folder: Int32) -> stat? {
    guard name.isValid else { return failNil(ENOENT) }
    var status = stat()
    let result = name.withCString { name in retrying { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) } }
    return result == 0 ? status : nil
  }

  /// The cause in words, as the C library says it.
  static func text(_ code: Int32) -> String { String(cString: strerror(code)) }

  private static func fail(_ code: Int32) -> Int32 {
    errno = code
    return -1
  }

  private static func failNil(_ code: Int32) -> stat? {
    errno = code
    return nil
  }

  private static func cOpen(_ name: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
    #if canImport(Glibc)
      Glibc.open(name, flags, mode)
    #else
      Musl.open(name, flags, mode)
    #endif
  }

  private static func cRead(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
    #if canImport(Glibc)
      Glibc.read(descriptor, start, count)
    #else
      Musl.read(descriptor, start, count)
    #endif
  }

  private static func cWrite(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
      Glibc.write(descriptor, start, count)
    #else
      Musl.write(descriptor, start, count)
    #endif
  }
}

extension stat {
  var kind: mode_t { st_mode & S_IFMT }

  func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }
}
