import Budget
import Codecs
import Raster

/// What is wanted.
public struct Request: Sendable {
  /// The longest side of the output in pixels, 1 to 65,500. A smaller picture keeps its size and is encoded again.
  public var maxPixelSize: Int
  public var format: OutputFormat
  /// JPEG quality on libjpeg's scale, 1 to 100.
  public var quality: Int
  /// Threads that may decode at once, 1 or more.
  public var threads: Int

  public init(
    maxPixelSize: Int = 2048, format: OutputFormat = .jpeg, quality: Int = 85, threads: Int = Request.defaultThreads
  ) {
    self.maxPixelSize = maxPixelSize
    self.format = format
    self.quality = quality
    self.threads = threads
  }

  func validate() throws(DownsampleError) {
    func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws(DownsampleError) {
      if range.contains(value) { return }
      throw DownsampleError(
        .usage, "\(name) is \(value); it takes \(range.lowerBound) to \(range.upperBound)")
    }
    try check("maxPixelSize", maxPixelSize, 1...65_500)
    try check("quality", quality, 1...100)
    try check("threads", threads, 1...1024)
  }

  /// The processors that this process may run on, 4 at most: every thread that decodes holds a tile and a decoder.
  public static var defaultThreads: Int { min(Processors.availableCount, 4) }
}
