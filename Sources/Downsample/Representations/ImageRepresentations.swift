import Budget
import Codecs
import Raster

/// The kinds that a picture can be given as, each made only when it is asked for: what an item provider declares for whoever
/// receives from it, in its words.
///
/// The source is not opened before something is asked. Its kind is then told by its content, once; the source opened for that is
/// the one that the first representation is made of, so that a source that can be read only once serves for one. A path is
/// opened again for each further one.
///
/// Safe to use from any number of threads.
public final class ImageRepresentations: Sendable {
  /// Size, quality and the rest of what is made; its format does not matter. It has one rendition.
  public let request: Request
  private let input: LookedAtInput

  /// - Parameters:
  ///   - source: bytes that are borrowed have to stay for as long as this is in use.
  ///   - request: with one rendition.
  public init(of source: ImageSource, request: Request = Request()) {
    self.request = request
    input = LookedAtInput(source)
  }

  // MARK: What there is

  /// What the source is, by its content.
  ///
  /// - Throws: `.unsupported` for a kind that is not decoded, `.damagedData` for what is not an image, `.noInput`, `.inputOutput`.
  public var sourceType: ImageType {
    get throws(DownsampleError) { try input.type() }
  }

  /// The types in order of preference: the source's own where it can be written, then JPEG, PNG, HEIC and AVIF. Those whose
  /// encoder is not installed are not among them, nor those that cannot hold the depth that the request asks for.
  ///
  /// - Throws: as `sourceType`, and `.usage` where the request has not one rendition.
  public var registeredTypes: [ImageType] {
    get throws(DownsampleError) { try formats().filter(CodecRegistry.canEncode).map(\.type) }
  }

  /// The identifiers of `registeredTypes`.
  ///
  /// - Throws: as `registeredTypes`.
  public var registeredTypeIdentifiers: [String] {
    get throws(DownsampleError) { try registeredTypes.map(\.identifier) }
  }

  /// Whether there is a type that is this one or is below it.
  ///
  /// - Throws: as `registeredTypes`.
  public func hasItemConforming(to type: ImageType) throws(DownsampleError) -> Bool {
    try self.type(conformingTo: type) != nil
  }

  /// The same by identifier; false for one that is not known.
  ///
  /// - Throws: as `registeredTypes`.
  public func hasItemConforming(toTypeIdentifier identifier: String) throws(DownsampleError) -> Bool {
    guard let type = ImageType(identifier) else { return false }
    return try hasItemConforming(to: type)
  }

  /// The preferred one of the types that are this one or below it: of `public.image` the first of all. Nil where there is none.
  /// Only encoders that come into question are looked for.
  ///
  /// - Throws: as `registeredTypes`.
  public func type(conformingTo type: ImageType) throws(DownsampleError) -> ImageType? {
    try formats().first { $0.type.conforms(to: type) && CodecRegistry.canEncode($0) }?.type
  }

  /// The type that an Accept field of HTTP wants most, see `AcceptedTypes`; of those that are wanted alike, the preferred one.
  /// Nil where it takes none, which HTTP answers with 406.
  ///
  /// - Throws: as `registeredTypes`.
  public func type(accepting list: String) throws(DownsampleError) -> ImageType? {
    let accepted = AcceptedTypes(list)
    let formats = try formats()
    return accepted.best(of: formats.lazy.filter { accepted.takes($0.type) && CodecRegistry.canEncode($0) }.map(\.type))
  }

  // MARK: Making one

  /// Makes the preferred one of the types that conform to `type`, and blocks until it is done.
  ///
  /// - Parameters:
  ///   - type: one of `registeredTypes`, or a broader one.
  ///   - destination: a file, memory or a function; not rows of pixels.
  ///   - cancellation: ends the work with `.cancelled` from another thread.
  ///   - progress: told of every hundredth part or so, on the thread that does the work.
  /// - Throws: `.unsupported` where there is no such type, naming what there is; else as `registeredTypes` and `Downsampler.run`.
  @discardableResult
  public func makeRepresentation(
    of type: ImageType, to destination: ImageDestination, cancellation: Cancellation? = nil,
    progress: (@Sendable (RowProgress) -> Void)? = nil
  ) throws(DownsampleError) -> Report {
    try Downsampler.run(
      input.source, request: try request(for: type), to: destination, cancellation: cancellation, progress: progress)
  }

  /// The bytes of the preferred one of the types that conform to `type`.
  ///
  /// - Throws: as `makeRepresentation`.
  public func loadDataRepresentation(
    for type: ImageType, cancellation: Cancellation? = nil
  ) throws(DownsampleError) -> [UInt8] {
    try Downsampler.bytes(of: input.source, request: try request(for: type), cancellation: cancellation)
  }

  /// The same by identifier.
  ///
  /// - Throws: as `makeRepresentation`; `.unsupported` too for an identifier that is not known.
  public func loadDataRepresentation(
    forTypeIdentifier identifier: String, cancellation: Cancellation? = nil
  ) throws(DownsampleError) -> [UInt8] {
    try loadDataRepresentation(for: try knownType(identifier), cancellation: cancellation)
  }

  // MARK: Choosing

  /// What could be written, in order of preference, whether or not its encoder is there.
  private func formats() throws(DownsampleError) -> [OutputFormat] {
    guard request.renditions.count == 1 else {
      throw DownsampleError(
        .usage, "a representation is made by a request of one rendition, not of \(request.renditions.count)")
    }
    let own = try sourceType
    let formats = OutputFormat.allCases.filter { $0.type.conforms(to: own) } + [.jpeg, .png, .heic, .avif]
    var unique: [OutputFormat] = []
    for format in formats where !unique.contains(format) { unique.append(format) }
    return request.renditions[0].depth == .sixteen ? unique.filter(\.holdsDeepSamples) : unique
  }

  func request(for type: ImageType) throws(DownsampleError) -> Request {
    guard let format = try self.type(conformingTo: type)?.outputFormat else { throw try missing(type.identifier) }
    var request = request
    request.renditions[0].format = format
    request.renditions[0].pixelFormat = nil
    return request
  }

  func knownType(_ identifier: String) throws(DownsampleError) -> ImageType {
    guard let type = ImageType(identifier) else { throw try missing(identifier) }
    return type
  }

  private func missing(_ identifier: String) throws(DownsampleError) -> DownsampleError {
    let there = try registeredTypeIdentifiers.joined(separator: ", ")
    return DownsampleError(.unsupported, "the picture cannot be given as \(identifier), only as \(there)")
  }

  /// Gives the source that was looked at.
  var source: ImageSource { input.source }
}

#if Async
  extension ImageRepresentations {
    /// The same on a thread of its own. Cancelling the task ends the work with `.cancelled`.
    ///
    /// - Throws: as the call that blocks. The kind of the source is looked up on the calling thread.
    @discardableResult
    public func makeRepresentation(
      of type: ImageType, to destination: ImageDestination, progress: (@Sendable (RowProgress) -> Void)? = nil
    ) async throws(DownsampleError) -> Report {
      try await Downsampler.run(source, request: try request(for: type), to: destination, progress: progress)
    }

    /// The same on a thread of its own.
    ///
    /// - Throws: as the call that blocks. The kind of the source is looked up on the calling thread.
    public func loadDataRepresentation(for type: ImageType) async throws(DownsampleError) -> [UInt8] {
      try await Downsampler.bytes(of: source, request: try request(for: type))
    }

    /// The same by identifier, on a thread of its own.
    ///
    /// - Throws: as the call that blocks. The kind of the source is looked up on the calling thread.
    public func loadDataRepresentation(
      forTypeIdentifier identifier: String
    ) async throws(DownsampleError) -> [UInt8] {
      try await loadDataRepresentation(for: try knownType(identifier))
    }
  }
#endif

/// A source that is opened to see what it is, and is then read as it was opened.
private final class LookedAtInput: Sendable {
  private struct State {
    var opened: ByteSource?
    var type: ImageType?
  }

  private let original: ImageSource
  private let state = Lock(State())

  init(_ source: ImageSource) { original = source }

  func type() throws(DownsampleError) -> ImageType {
    try state.with { state throws(DownsampleError) in
      if let type = state.type { return type }
      let source = try opened(state)
      state.opened = source
      let type = try CodecRegistry.type(of: source)
      state.type = type
      return type
    }
  }

  /// What was opened, once; after that it opens anew.
  var source: ImageSource {
    ImageSource { [self] () throws(DownsampleError) in
      try state.with { state throws(DownsampleError) in
        defer { state.opened = nil }
        return try opened(state)
      }
    }
  }

  private func opened(_ state: State) throws(DownsampleError) -> ByteSource {
    if let opened = state.opened { return opened }
    return try original.open()
  }
}
