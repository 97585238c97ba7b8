import Budget
import Raster

/// One way to decode a picture: a value made from the header alone, with the bytes that it will hold.
public struct DecodingStrategy: Sendable {
  /// Memory whose size the file's data decide. It is kept to a share; what goes beyond it is written to a temporary file.
  public struct Spillable: Sendable, Equatable {
    public var name: String
    /// What it will hardly exceed.
    public var wanted: Int
    /// What it needs in memory, however much is written out.
    public var least: Int
    /// What the plan gave it: `wanted`, or less.
    public var share: Int

    public init(name: String, wanted: Int, least: Int) {
      self.name = name
      self.wanted = wanted
      self.least = least
      share = wanted
    }
  }

  /// For people: how the picture is decoded.
  public var name: String
  /// What will be delivered. Where only decoding tells, that which takes the most.
  public var layout: DecodedLayout
  /// Threads that decode at once.
  public var threads: Int
  /// Rows come while the picture is decoded, on the thread that asks for them: whoever takes them on another one works at the
  /// same time. Not where all is decoded before the first row, or where the decoder has threads that go on by themselves.
  public var isStreamed: Bool
  /// Held from the beginning of decoding until the last row.
  public var held: [MemoryUse]
  /// Held beside that until the first rows come, and not any more when they flow.
  public var passing: [MemoryUse]
  public var spillable: Spillable?
  /// What it costs in quality; nil where nothing.
  public var warning: String?
  /// What the codec that made it needs to know.
  var detail: any Sendable

  init(
    name: String, layout: DecodedLayout, threads: Int = 1, isStreamed: Bool = false, held: [MemoryUse],
    passing: [MemoryUse] = [],
    spillable: Spillable? = nil, warning: String? = nil, detail: any Sendable = ()
  ) {
    self.name = name
    self.layout = layout
    self.threads = threads
    self.isStreamed = isStreamed
    self.held = held
    self.passing = passing
    self.spillable = spillable
    self.warning = warning
    self.detail = detail
  }
}

/// Plans the decoding of one picture. A value made from its header; nothing is read or allocated.
public protocol DecodingPlanner: Sendable {
  /// The ways to decode for an output of `target` pixels (in the stored orientation) on at most `threads` threads: the
  /// preferred one first, each following one holding less: fewer threads, then a stronger pre-shrink with a warning.
  ///
  /// - Parameter isLinear: samples are averaged as light: the preferred way has no pre-shrink that averages them as coded.
  func strategies(target: PixelSize, threads: Int, isLinear: Bool) -> [DecodingStrategy]
}

extension DecodingPlanner {
  /// Those for samples that are averaged as they are coded.
  public func strategies(target: PixelSize, threads: Int) -> [DecodingStrategy] {
    strategies(target: target, threads: threads, isLinear: false)
  }
}

/// What decoding may use beside memory.
public struct DecodingResources {
  /// Opens an unlinked temporary file, for what a strategy spills. The descriptor is the decoder's to close.
  public var openTemporaryFile: () throws(DownsampleError) -> Int32
  /// Asked often while nothing is delivered for long: what it throws ends the decoding. A deadline, a cancellation.
  public var mayGoOn: () throws(DownsampleError) -> Void

  public init(
    openTemporaryFile: @escaping () throws(DownsampleError) -> Int32,
    mayGoOn: @escaping () throws(DownsampleError) -> Void = {}
  ) {
    self.openTemporaryFile = openTemporaryFile
    self.mayGoOn = mayGoOn
  }
}
