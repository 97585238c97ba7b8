#if Async
  import Raster

  #if canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// A thread for one piece of blocking work, which the threads of Swift's concurrency are too few for.
  enum WorkThread {
    /// What the deepest of the libraries needs is a fraction of it; only what is touched takes memory.
    private static let stackBytes = 1 << 20

    /// Starts `body` and returns.
    ///
    /// - Throws: `.overBudget` when the system gives no thread; `body` is then not called.
    static func start(_ body: @escaping @Sendable () -> Void) throws(DownsampleError) {
      var attributes = pthread_attr_t()
      pthread_attr_init(&attributes)
      defer { pthread_attr_destroy(&attributes) }
      pthread_attr_setstacksize(&attributes, stackBytes)
      pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
      let place = UnsafeMutablePointer<@Sendable () -> Void>.allocate(capacity: 1)
      place.initialize(to: body)
      var thread = pthread_t()
      let status = pthread_create(
        &thread, &attributes,
        { context in
          let place = context!.assumingMemoryBound(to: (@Sendable () -> Void).self)
          let body = place.move()
          place.deallocate()
          body()
          return nil
        }, place)
      if status == 0 { return }
      place.deinitialize(count: 1)
      place.deallocate()
      throw DownsampleError(.overBudget, "the system gives no thread: \(SystemCalls.text(status))")
    }
  }
#endif
