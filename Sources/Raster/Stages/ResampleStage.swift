/// Resamples every plane by itself.
public final class ResampleStage: RowSink {
  /// One plane's part: what comes, where the picture lies in it, what it becomes.
  public struct Plane {
    public var input: PlaneLayout
    public var window: PixelRect
    public var x: ResamplingAxis
    public var y: ResamplingAxis
    public var output: PlaneLayout
    public var mapping: PlaneResampler.Mapping?

    public init(
      input: PlaneLayout, window: PixelRect, x: ResamplingAxis, y: ResamplingAxis, output: PlaneLayout,
      mapping: PlaneResampler.Mapping? = nil
    ) {
      self.input = input
      self.window = window
      self.x = x
      self.y = y
      self.output = output
      self.mapping = mapping
    }
  }

  private let next: RowSink
  private let resamplers: [PlaneResampler]

  public init(planes: [Plane], next: RowSink) {
    self.next = next
    resamplers = planes.enumerated().map { index, plane in
      PlaneResampler(
        input: plane.input, window: plane.window, x: plane.x, y: plane.y, output: plane.output, mapping: plane.mapping
      ) { row throws(DownsampleError) in try next.write(row, plane: index) }
    }
  }

  public func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    try resamplers[plane].push(row)
  }

  public func finish() throws(DownsampleError) {
    guard resamplers.allSatisfy(\.isComplete) else {
      throw DownsampleError(.damagedData, "the picture ends before its last row")
    }
    try next.finish()
  }
}
