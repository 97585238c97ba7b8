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

  public init(planes: [Plane], next: RowSink) throws(DownsampleError) {
    self.next = next
    var resamplers: [PlaneResampler] = []
    for (index, plane) in planes.enumerated() {
      resamplers.append(
        try PlaneResampler(
          input: plane.input, window: plane.window, x: plane.x, y: plane.y, output: plane.output,
          mapping: plane.mapping
        ) { row throws(DownsampleError) in try next.write(row, plane: index) })
    }
    self.resamplers = resamplers
  }

  /// What it holds, in bytes, at most.
  public static func byteCount(planes: [Plane]) -> Int {
    planes.reduce(0) {
      $0
        + PlaneResampler.byteCount(
          input: $1.input, window: $1.window, x: $1.x, y: $1.y, output: $1.output, mapping: $1.mapping)
    }
  }

  /// Rows of the output by which a plane of it may be ahead of another that gets its source rows in step.
  public static func rowsAhead(planes: [Plane]) -> Int { planes.map { PlaneResampler.rowsBehind(y: $0.y) }.max() ?? 1 }

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
