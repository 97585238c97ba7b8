import Downsample

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

ProcessSignals.install()
AbortHandler.install()
exit(Program(arguments: Path.arguments).run())
