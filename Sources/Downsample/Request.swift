import Budget
import Codecs
import Metadata
import Raster

/// What is wanted of a source: one picture or several, made out of one decode, and what that may take.
public struct Request: Sendable {
  /// What is done when no plan for the wanted size fits the memory.
  public enum OverBudget: String, Sendable, CaseIterable {
    /// Nothing is decoded: `.overBudget` is thrown, with the size that would fit.
    case refuse
    /// The largest size that fits is made, with a warning: of several, none is made larger than that.
    case shrink
  }

  /// 1 to 16 pictures. The source is decoded once, to what the largest of them needs.
  public var renditions: [Rendition]
  /// What there is of a damaged picture is made, with warnings, instead of refusing it.
  public var salvages: Bool
  /// Threads that may work at once, 1 to 64. A plan takes fewer where that saves needed memory.
  public var threads: Int
  /// What the process may hold, in all.
  public var memory: MemoryBudget
  /// Where the plan's bytes are reserved before decoding begins, shared by all that is made at once; it is waited for. Nil:
  /// this picture is alone, and only the budget counts.
  public var ledger: Ledger?
  /// What is done when no plan fits.
  public var overBudget: OverBudget
  /// How long all may take, waiting included; nil for any time. Checked between rows, tiles and calls of the libraries: one
  /// such call, the decoding of an undivided HEIC at most, may still be finished.
  public var deadline: Duration?

  /// - Parameter overBudget: nil is `.refuse`, with an automatic size `.shrink`.
  public init(
    renditions: [Rendition], salvages: Bool = false, threads: Int = Request.defaultThreads,
    memory: MemoryBudget = MemoryBudget(), ledger: Ledger? = nil, overBudget: OverBudget? = nil,
    deadline: Duration? = nil
  ) {
    self.renditions = renditions
    self.salvages = salvages
    self.threads = threads
    self.memory = memory
    self.ledger = ledger
    self.overBudget = overBudget ?? (renditions.contains { $0.maxPixelSize == nil } ? .shrink : .refuse)
    self.deadline = deadline
  }

  /// One picture; see `Rendition` for what the parameters mean.
  ///
  /// - Parameter overBudget: nil is `.refuse`, with an automatic size `.shrink`.
  public init(
    maxPixelSize: Int? = 2048, format: OutputFormat = .jpeg, quality: Int = 85,
    chroma: ChromaSubsampling = .quarter, effort: Int = Rendition.defaultEffort, isProgressive: Bool = false,
    depth: SampleDepth? = nil, color: OutputColor = .keep, intent: RenderingIntent = .relative, isLinear: Bool = false,
    kernel: ResamplingKernel = .lanczos3, background: BackgroundColor = .white, metadata: MetadataChoice = .none,
    stripsGPS: Bool = false, appliesOrientation: Bool = true, pixelFormat: PixelFormat? = nil, salvages: Bool = false,
    threads: Int = Request.defaultThreads, memory: MemoryBudget = MemoryBudget(), ledger: Ledger? = nil,
    overBudget: OverBudget? = nil, deadline: Duration? = nil
  ) {
    let rendition = Rendition(
      maxPixelSize: maxPixelSize, format: format, quality: quality, chroma: chroma, effort: effort,
      isProgressive: isProgressive, depth: depth, color: color, intent: intent, isLinear: isLinear, kernel: kernel,
      background: background, metadata: metadata, stripsGPS: stripsGPS, appliesOrientation: appliesOrientation,
      pixelFormat: pixelFormat)
    self.init(
      renditions: [rendition], salvages: salvages, threads: threads, memory: memory, ledger: ledger,
      overBudget: overBudget, deadline: deadline)
  }

  /// What of the file is read.
  func readingOptions(available: Int) -> ReadingOptions {
    // Each that is written with metadata has its own in the end.
    let copies = renditions.count { $0.keptMetadata != .none }
    return ReadingOptions(available: available, metadataCopies: copies, salvages: salvages)
  }

  func validate() throws(DownsampleError) {
    guard Self.renditionRange.contains(renditions.count) else {
      throw DownsampleError(.usage, "\(renditions.count) pictures are wanted; a request makes 1 to 16")
    }
    for rendition in renditions { try rendition.validate() }
    try Rendition.check("threads", threads, Self.threadRange)
    if let deadline, deadline <= .zero {
      throw DownsampleError(.usage, "the deadline is \(deadline); it has to be positive")
    }
  }

  /// How many pictures a request makes.
  public static let renditionRange = 1...16

  /// What `threads` takes.
  public static let threadRange = 1...64

  /// The processors that this process may run on, 4 at most: every thread that decodes holds a tile and a decoder.
  public static var defaultThreads: Int { min(Processors.availableCount, 4) }
}
