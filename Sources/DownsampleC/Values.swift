import CDownsample
import Downsample

/// What the fields of the header's structs stand for.
enum Values {
  /// - Throws: `.usage`, naming the field, its value and the range, where it is out of it.
  static func number(
    _ name: String, _ value: Int32, _ range: ClosedRange<Int32>
  ) throws(DownsampleError) -> Int {
    guard range.contains(value) else {
      throw DownsampleError(.usage, "\(name) is \(value); it takes \(range.lowerBound) to \(range.upperBound)")
    }
    return Int(value)
  }

  static func flag(_ name: String, _ value: Int32) throws(DownsampleError) -> Bool {
    try number(name, value, 0...1) == 1
  }

  /// Of an enum whose numbers begin with `first` and have no gaps.
  static func choice<Value>(
    _ name: String, _ value: Int32, from first: Int32 = 0, _ values: [Value]
  ) throws(DownsampleError) -> Value {
    let range = first...first + Int32(values.count) - 1
    return values[try number(name, value, range) - Int(first)]
  }

  /// Bits of a sample; nil for 0.
  static func depth(_ value: Int32) throws(DownsampleError) -> SampleDepth? {
    switch value {
    case 0: return nil
    case 8: return .eight
    case 16: return .sixteen
    default: throw DownsampleError(.usage, "depth is \(value); it takes 0, 8 or 16")
    }
  }

  /// In the order of their numbers.
  static let formats: [OutputFormat?] = [nil, .jpeg, .png, .heic, .avif]
  static let chromas: [ChromaSubsampling] = [.quarter, .half, .full]
  static let colors: [OutputColor] = [.keep, .srgb, .p3]
  static let intents: [RenderingIntent] = [.perceptual, .relative, .saturation, .absolute]
  static let kernels: [ResamplingKernel] = [.box, .triangle, .catrom, .mitchell, .lanczos2, .lanczos3]
  static let metadata: [MetadataChoice] = [.none, .rights, .all]
  /// From 1 on.
  static let pixelFormats: [PixelFormat] = [
    .rgb8, .rgba8, .bgra8, .rgba8Premultiplied, .bgra8Premultiplied, .rgb16, .rgba16,
  ]

  static func pixelFormat(_ value: dsm_pixel_format) throws(DownsampleError) -> PixelFormat {
    try choice("the pixel format", Int32(clamping: value.rawValue), from: 1, pixelFormats)
  }
}

extension OutputFormat {
  /// What the name's extension says; JPEG where there is none.
  ///
  /// - Throws: `.usage` for an extension that no format has.
  init(of path: Path) throws(DownsampleError) {
    guard let name = path.fileExtension else {
      self = .jpeg
      return
    }
    guard let format = OutputFormat(fileExtension: name) else {
      let formats = OutputFormat.allCases.map(\.fileExtension).joined(separator: ", ")
      throw DownsampleError(.usage, "the extension .\(name) of \(path) says no format that can be written: \(formats)")
    }
    self = format
  }
}

extension Rendition {
  /// - Parameters:
  ///   - fields: null means the defaults.
  ///   - path: where it goes, for its format.
  init(
    _ fields: UnsafePointer<dsm_rendition>?, path: Path? = nil, pixelFormat: PixelFormat? = nil
  ) throws(DownsampleError) {
    let fields = fields == nil ? .defaults : try dsm_rendition.read(fields)
    let size = try Values.number("max_pixel_size", fields.max_pixel_size, 0...65_500)
    let background = fields.background
    _ = try Values.number("the last byte of background", Int32(background.3), 0...0)
    _ = try Values.number("reserved", fields.reserved, 0...0)
    var format = try Values.choice("format", fields.format, Values.formats)
    if format == nil, let path { format = try OutputFormat(of: path) }
    func part(_ value: UInt8) -> Double { Double(value) / 255 }
    self.init(
      maxPixelSize: size == 0 ? nil : size, format: format ?? .jpeg,
      quality: try Values.number("quality", fields.quality, 1...100),
      chroma: try Values.choice("chroma", fields.chroma, Values.chromas),
      effort: try Values.number("effort", fields.effort, 1...9),
      isProgressive: try Values.flag("progressive", fields.progressive), depth: try Values.depth(fields.depth),
      color: try Values.choice("color", fields.color, Values.colors),
      intent: try Values.choice("intent", fields.intent, Values.intents),
      isLinear: try Values.flag("linear", fields.linear),
      kernel: try Values.choice("kernel", fields.kernel, Values.kernels),
      background: BackgroundColor(red: part(background.0), green: part(background.1), blue: part(background.2)),
      metadata: try Values.choice("metadata", fields.metadata, Values.metadata),
      stripsGPS: try Values.flag("strip_gps", fields.strip_gps),
      appliesOrientation: try !Values.flag("ignore_orientation", fields.ignore_orientation),
      pixelFormat: pixelFormat)
  }
}

/// `dsm_options`, checked.
struct Options {
  /// Nil: what the container or the machine has, when it is asked for.
  private var ceiling: Int? = MemoryBudget.defaultCeiling
  private var ledger: Ledger?
  /// Nil: as it fits the sizes that are asked for.
  private var overBudget: Request.OverBudget?
  private var salvages = false
  private var threads: Int?
  private var deadline: Duration?
  let progress: dsm_progress_fn?
  let cancelled: dsm_cancelled_fn?
  let user: UnsafeMutableRawPointer?

  /// The defaults.
  init() {
    progress = nil
    cancelled = nil
    user = nil
  }

  init(_ fields: UnsafePointer<dsm_options>?) throws(DownsampleError) {
    let fields = try dsm_options.read(fields)
    switch fields.memory {
    case 0: break
    case .max: ceiling = nil
    default: ceiling = Int(bytes: fields.memory)
    }
    ledger = fields.ledger.map(Ledger.of)
    overBudget = try Values.choice("over_budget", fields.over_budget, [nil, .shrink])
    salvages = try Values.flag("salvage", fields.salvage)
    let count = try Values.number("threads", fields.threads, 0...Int32(Request.threadRange.upperBound))
    threads = count == 0 ? nil : count
    _ = try Values.number("reserved", fields.reserved, 0...0)
    guard fields.deadline_ms >= 0 else {
      throw DownsampleError(.usage, "deadline_ms is \(fields.deadline_ms); it takes 0 or more")
    }
    deadline = fields.deadline_ms == 0 ? nil : .milliseconds(min(fields.deadline_ms, Self.longestDeadline))
    progress = fields.progress
    cancelled = fields.cancelled
    user = fields.user
  }

  /// Thirty years, in milliseconds: no clock's arithmetic overflows.
  private static let longestDeadline: Int64 = 1_000_000_000_000

  var memory: MemoryBudget { ceiling.map { MemoryBudget(ceiling: $0) } ?? .automatic }

  func request(_ renditions: [Rendition]) -> Request {
    Request(
      renditions: renditions, salvages: salvages, threads: threads ?? Request.defaultThreads, memory: memory,
      ledger: ledger, overBudget: overBudget, deadline: deadline)
  }
}
