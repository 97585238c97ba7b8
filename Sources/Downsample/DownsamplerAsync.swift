#if Async
  import Codecs
  import Raster

  extension Downsampler {
    /// Makes one picture on a thread of its own, so that none of Swift's concurrency is blocked. Cancelling the task ends the work
    /// with `.cancelled`.
    ///
    /// - Parameters and errors: as of the call that blocks. `progress` is called on the thread that does the work.
    @discardableResult
    public static func run(
      _ source: ImageSource, request: Request = Request(), to destination: ImageDestination,
      progress: (@Sendable (RowProgress) -> Void)? = nil
    ) async throws(DownsampleError) -> Report {
      try await run(source, request: request, to: [destination], progress: progress)
    }

    /// Makes several pictures out of one decode, likewise.
    @discardableResult
    public static func run(
      _ source: ImageSource, request: Request, to destinations: [ImageDestination],
      progress: (@Sendable (RowProgress) -> Void)? = nil
    ) async throws(DownsampleError) -> Report {
      try await onThread { cancellation throws(DownsampleError) in
        try run(source, request: request, to: destinations, cancellation: cancellation, progress: progress)
      }
    }

    /// Makes one picture and gives the encoded file, likewise.
    public static func bytes(
      of source: ImageSource, request: Request = Request()
    ) async throws(DownsampleError) -> [UInt8] {
      try await onThread { cancellation throws(DownsampleError) in
        try bytes(of: source, request: request, cancellation: cancellation)
      }
    }

    private static func onThread<Value: Sendable>(
      _ work: @escaping @Sendable (Cancellation) throws(DownsampleError) -> Value
    ) async throws(DownsampleError) -> Value {
      let cancellation = Cancellation()
      let result: Result<Value, DownsampleError> = await withTaskCancellationHandler {
        await withUnsafeContinuation { continuation in
          do throws(DownsampleError) {
            try WorkThread.start {
              continuation.resume(returning: Result { () throws(DownsampleError) in try work(cancellation) })
            }
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      } onCancel: {
        cancellation.cancel()
      }
      return try result.get()
    }
  }
#endif
