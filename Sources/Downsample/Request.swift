import Budget
import Codecs
import Metadata
import Raster

/// What is wanted.
public struct Request: Sendable {
  /// What is done when no plan for the wanted size fits the memory.
  public enum OverBudget: String, Sendable, CaseIterable {
    /// Nothing is decoded: `.overBudget` is thrown, with the size that would fit.
    case refuse
    /// The largest size that fits is made, with a warning.
    case shrink
  }

  /// The longest side of the output in pixels, 1 to 65,500. A smaller picture keeps its size and is encoded again. Nil: by
  /// what memory there is, see `automaticSize`.
  public var maxPixelSize: Int?
  public var format: OutputFormat
  /// Quality on libjpeg's scale, 1 to 100, of JPEG, HEIC and AVIF.
  public var quality: Int
  /// The chroma of a JPEG, HEIC or AVIF. An AVIF larger than a tile with an odd side always gets full chroma.
  public var chroma: ChromaSubsampling
  /// 1 to 9: more takes longer and makes HEIC and AVIF a little smaller; from 5 on a JPEG too, which is then held whole while
  /// it is encoded.
  public var effort: Int
  /// A JPEG of several scans. It is held whole while it is encoded.
  public var isProgressive: Bool
  /// Nil: as deep as the input, where the format holds that.
  public var depth: SampleDepth?
  public var color: OutputColor
  /// How colours are converted, where they are.
  public var intent: RenderingIntent
  /// Samples are averaged as light, not as they are coded.
  public var isLinear: Bool
  public var kernel: ResamplingKernel
  /// What lies under alpha in a format without it.
  public var background: BackgroundColor
  public var metadata: MetadataChoice
  /// Positions are taken out of the metadata that are kept.
  public var stripsGPS: Bool
  /// What there is of a damaged picture is made, with warnings, instead of refusing it.
  public var salvages: Bool
  /// Threads that may work at once, 1 to 64. A plan takes fewer where that saves needed memory.
  public var threads: Int
  /// What the process may hold, in all.
  public var memory: MemoryBudget
  /// Where the plan's bytes are reserved before decoding begins, shared by all that is made at once; it is waited for. Nil:
  /// this picture is alone, and only the budget counts.
  public var ledger: Ledger?
  public var overBudget: OverBudget
  /// How long all may take, waiting included; nil for any time. Checked between rows, tiles and calls of the libraries: one
  /// such call, the decoding of an undivided HEIC at most, may still be finished.
  public var deadline: Duration?

  /// - Parameter overBudget: nil is `.refuse`, with an automatic size `.shrink`.
  public init(
    maxPixelSize: Int? = 2048, format: OutputFormat = .jpeg, quality: Int = 85,
    chroma: ChromaSubsampling = .quarter, effort: Int = EncoderSettings.defaultEffort, isProgressive: Bool = false,
    depth: SampleDepth? = nil, color: OutputColor = .keep, intent: RenderingIntent = .relative, isLinear: Bool = false,
    kernel: ResamplingKernel = .lanczos3, background: BackgroundColor = .white, metadata: MetadataChoice = .none,
    stripsGPS: Bool = false, salvages: Bool = false,
    threads: Int = Request.defaultThreads, memory: MemoryBudget = MemoryBudget(), ledger: Ledger? = nil,
    overBudget: OverBudget? = nil, deadline: Duration? = nil
  ) {
    self.maxPixelSize = maxPixelSize
    self.format = format
    self.quality = quality
    self.chroma = chroma
    self.effort = effort
    self.isProgressive = isProgressive
    self.depth = depth
    self.color = color
    self.intent = intent
    self.isLinear = isLinear
    self.kernel = kernel
    self.background = background
    self.metadata = metadata
    self.stripsGPS = stripsGPS
    self.salvages = salvages
    self.threads = threads
    self.memory = memory
    self.ledger = ledger
    self.overBudget = overBudget ?? (maxPixelSize == nil ? .shrink : .refuse)
    self.deadline = deadline
  }

  /// The longest side that is made where none is asked for: 512 pixels with less than 30 MB available, 1024 with less than
  /// 80, else 2048.
  public static func automaticSize(available: Int) -> Int {
    available < 30 * ByteCount.megabyte ? 512 : available < 80 * ByteCount.megabyte ? 1024 : 2048
  }

  /// - Parameter metadata: as it goes into the output.
  func encoderSettings(for pipeline: Pipeline, metadata: ImageMetadata) -> EncoderSettings {
    EncoderSettings(
      quality: quality, iccProfile: pipeline.iccProfile, isSRGB: pipeline.isSRGB, metadata: metadata,
      isProgressive: isProgressive,
      chroma: format.chroma(asked: chroma, size: pipeline.encoded.size), effort: effort)
  }

  /// - Parameter isSRGB: as the encoder is told.
  func exifColorSpace(isSRGB: Bool) -> EXIFColorSpace {
    switch color {
    case .srgb: .srgb
    case .p3: .uncalibrated
    case .keep: isSRGB ? .srgb : .kept
    }
  }

  /// What of the file is read.
  func readingOptions(available: Int) -> ReadingOptions {
    ReadingOptions(available: available, keepsMetadata: metadata != .none, salvages: salvages)
  }

  func validate() throws(DownsampleError) {
    func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws(DownsampleError) {
      if range.contains(value) { return }
      throw DownsampleError(
        .usage, "\(name) is \(value); it takes \(range.lowerBound) to \(range.upperBound)")
    }
    if let maxPixelSize { try check("maxPixelSize", maxPixelSize, 1...65_500) }
    try check("quality", quality, 1...100)
    try check("effort", effort, 1...9)
    try check("threads", threads, Self.threadRange)
    if depth == .sixteen && !format.holdsDeepSamples {
      throw DownsampleError(.usage, "\(format.rawValue) is written with 8 bits a sample; --depth 16 takes --format png")
    }
    if let deadline, deadline <= .zero {
      throw DownsampleError(.usage, "the deadline is \(deadline); it has to be positive")
    }
  }

  /// What `threads` takes.
  public static let threadRange = 1...64

  /// The processors that this process may run on, 4 at most: every thread that decodes holds a tile and a decoder.
  public static var defaultThreads: Int { min(Processors.availableCount, 4) }
}
