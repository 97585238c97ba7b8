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
    /// Colour is multiplied by alpha, the last channel.
    public var isPremultiplied = false

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

    /// Whether resampling would change nothing.
    var isIdentity: Bool {
      func isWhole(_ axis: ResamplingAxis) -> Bool {
        axis.step == 1 && axis.origin == 0 && axis.count == axis.sourceCount
      }
      let isMapped = mapping.map { $0 != .init(scale: 1, bias: 0) } ?? false
      return isWhole(x) && isWhole(y) && !isMapped && !isPremultiplied && input.sampleType == output.sampleType
        && input.maximum == output.maximum
    }
  }

  private let next: RowSink
  private let parts: [Part]

  private enum Part {
    case resampled(PlaneResampler)
    case passed(PassedPlane)
  }

  /// Rows that stay as they are.
  private final class PassedPlane {
    let plane: Plane
    var row = 0

    init(_ plane: Plane) { self.plane = plane }

    var isComplete: Bool { row >= plane.window.y + plane.window.height }
  }

  public init(planes: [Plane], next: RowSink) throws(DownsampleError) {
    self.next = next
    var parts: [Part] = []
    for (index, plane) in planes.enumerated() {
      if plane.isIdentity {
        parts.append(.passed(PassedPlane(plane)))
        continue
      }
      let resampler = try PlaneResampler(
        input: plane.input, window: plane.window, x: plane.x, y: plane.y, output: plane.output,
        mapping: plane.mapping, isPremultiplied: plane.isPremultiplied
      ) { row throws(DownsampleError) in try next.write(row, plane: index) }
      parts.append(.resampled(resampler))
    }
    self.parts = parts
  }

  /// What it holds, in bytes, at most.
  public static func byteCount(planes: [Plane]) -> Int {
    planes.reduce(0) {
      $1.isIdentity
        ? $0
        : $0
          + PlaneResampler.byteCount(
            input: $1.input, window: $1.window, x: $1.x, y: $1.y, output: $1.output, mapping: $1.mapping)
    }
  }

  /// Rows of the output by which a plane of it may be ahead of another that gets its source rows in step.
  public static func rowsAhead(planes: [Plane]) -> Int { planes.map { PlaneResampler.rowsBehind(y: $0.y) }.max() ?? 1 }

  public func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
    switch parts[plane] {
    case .resampled(let resampler): try resampler.push(row)
    case .passed(let passed):
      let window = passed.plane.window
      passed.row += 1
      if passed.row > window.y && passed.row <= window.y + window.height {
        try next.write(row + window.x * passed.plane.input.bytesPerPixel, plane: plane)
      }
    }
  }

  public func finish() throws(DownsampleError) {
    let isComplete = parts.allSatisfy {
      switch $0 {
      case .resampled(let resampler): resampler.isComplete
      case .passed(let plane): plane.isComplete
      }
    }
    guard isComplete else {
      throw DownsampleError(.damagedData, "the picture ends before its last row")
    }
    try next.finish()
  }
}
