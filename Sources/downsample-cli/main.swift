import Downsample

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

Allocator.configure()
StandardStreams.reserve()
ProcessSignals.install()
exit(Program(arguments: Path.arguments).run())
