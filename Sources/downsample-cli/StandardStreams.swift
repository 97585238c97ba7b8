#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Descriptors 0, 1 and 2.
enum StandardStreams {
  /// Makes sure that they are taken: a file that is opened later would get the number of a closed one, and what is meant
  /// for standard output or standard error would be written into it. Using a stream that was closed stays an error.
  static func reserve() {
    for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
      // The lowest free number is this one.
      _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
