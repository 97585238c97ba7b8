import CDownsample
import Downsample

/// What a `dsm_job` stands for.
final class Job {
  enum Input {
    case path(Path)
    case descriptor(Int32)
    case bytes(UnsafeRawBufferPointer)
    case reader(Reader)
  }

  enum Target {
    case path(Path, replacesExisting: Bool)
    case descriptor(Int32)
    case bytes
    case writer(Writer)
    case rows(RowCallbacks)

    var path: Path? {
      if case .path(let path, _) = self { path } else { nil }
    }
  }

  /// What became of the last run or plan.
  private enum Outcome {
    case none
    case made(Report, collected: [EncodedBytes?])
    case planned(ImageHeader, Plan)
    case failed(DownsampleError)
  }

  var options = Options()
  var input: Input?
  private var outputs: [(rendition: Rendition, target: Target)] = []
  let canceller = Canceller()

  var message = CText("")
  private var outcome = Outcome.none
  /// The names of what that was made of and into; nil for what is no path.
  private var names: (input: Path?, outputs: [Path?]) = (nil, [])
  /// Made when it is first asked for.
  private var madeReport: CText?
  private var madeWarnings: [CText]?

  func add(_ rendition: Rendition, _ target: Target) throws(DownsampleError) {
    let most = Request.renditionRange.upperBound
    guard outputs.count < most else {
      throw DownsampleError(.usage, "the job has \(outputs.count) outputs; it takes \(most) at most")
    }
    outputs.append((rendition, target))
  }

  func probe() throws(DownsampleError) -> ImageHeader {
    try Downsampler.probe(try source(Turns()), memory: options.memory)
  }

  func plan() throws(DownsampleError) -> Plan {
    try forget { () throws(DownsampleError) in
      let turns = Turns()
      let renditions = outputs.isEmpty ? [Rendition()] : outputs.map(\.rendition)
      let (header, plan) = try Downsampler.plan(
        try source(turns), request: options.request(renditions), to: destinations(collectors, turns))
      outcome = .planned(header, plan)
      return plan
    }
  }

  func run() throws(DownsampleError) {
    let turns = Turns()
    let cancellation: Cancellation
    if let cancelled = options.cancelled {
      let user = UserPointer(pointer: options.user)
      cancellation = Cancellation { turns.take { cancelled(user.pointer) } != 0 }
    } else {
      cancellation = Cancellation()
    }
    try canceller.begin(cancellation)
    defer { canceller.end() }
    try forget { () throws(DownsampleError) in
      guard !outputs.isEmpty else { throw DownsampleError(.usage, "the job has no output") }
      let collected = collectors
      let report = try Downsampler.run(
        try source(turns), request: options.request(outputs.map(\.rendition)), to: destinations(collected, turns),
        cancellation: cancellation, progress: progress(turns))
      outcome = .made(report, collected: collected)
    }
  }

  /// Does what makes a new outcome; the old one is let go of first, with what it holds.
  private func forget<Result>(_ body: () throws(DownsampleError) -> Result) throws(DownsampleError) -> Result {
    outcome = .none
    madeReport = nil
    madeWarnings = nil
    names = (inputPath, outputs.map(\.target.path))
    do throws(DownsampleError) {
      return try body()
    } catch {
      outcome = .failed(error)
      throw error
    }
  }

  private func source(_ turns: Turns) throws(DownsampleError) -> ImageSource {
    switch input {
    case .path(let path): return .path(path)
    case .descriptor(let descriptor): return .descriptor(descriptor)
    case .bytes(let bytes): return .borrowed(bytes)
    case .reader(let reader): return reader.source(turns)
    case nil: throw DownsampleError(.usage, "the job has no input")
    }
  }

  /// For the outputs that are kept in memory.
  private var collectors: [EncodedBytes?] {
    outputs.map { output in
      if case .bytes = output.target { EncodedBytes() } else { nil }
    }
  }

  private func destinations(_ collectors: [EncodedBytes?], _ turns: Turns) -> [ImageDestination] {
    zip(outputs, collectors).map { output, collector in
      switch output.target {
      case .path(let path, let replacesExisting): .path(path, replacesExisting: replacesExisting)
      case .descriptor(let descriptor): .descriptor(descriptor)
      case .bytes: .bytes(collector ?? EncodedBytes())
      case .writer(let writer): writer.destination(turns)
      case .rows(let callbacks): .rows(CallbackSink(callbacks, turns), keepsRows: callbacks.keepsRows)
      }
    }
  }

  private func progress(_ turns: Turns) -> (@Sendable (RowProgress) -> Void)? {
    guard let progress = options.progress else { return nil }
    let user = UserPointer(pointer: options.user)
    return { rows in
      turns.take { progress(user.pointer, UInt64(rows.completedRows), UInt64(rows.totalRows)) }
    }
  }

  private var inputPath: Path? {
    if case .path(let path) = input { path } else { nil }
  }

  /// Nil before a run or a plan.
  var report: CText? {
    if let madeReport { return madeReport }
    let inputName = names.input?.description
    switch outcome {
    case .none: return nil
    case .made(let report, _):
      madeReport = CText(
        report.json(inputName: inputName, outputNames: names.outputs.map { $0?.description }))
    case .planned(let header, let plan): madeReport = CText(plan.json(inputName: inputName, header: header))
    case .failed(let error): madeReport = CText(errorJSON(error, inputName: inputName))
    }
    return madeReport
  }

  /// Of the last run or plan, where it did not fail.
  var warnings: [CText] {
    if let madeWarnings { return madeWarnings }
    let texts: [String]
    switch outcome {
    case .made(let report, _): texts = report.warnings
    case .planned(let header, let plan): texts = header.notes + plan.warnings
    case .none, .failed: texts = []
    }
    let made = texts.map { CText($0) }
    madeWarnings = made
    return made
  }

  /// One of the pictures that the last run made.
  func output(_ index: Int) throws(DownsampleError) -> (Report.Output, EncodedBytes?) {
    guard case .made(let report, let collected) = outcome else {
      throw DownsampleError(.usage, "there are no outputs: the job's last run failed, or it was not run")
    }
    guard report.outputs.indices.contains(index) else {
      throw DownsampleError(
        .usage, "there is no output \(UInt(bitPattern: index)): \(report.outputs.count) were made, from 0 on")
    }
    return (report.outputs[index], collected[index])
  }
}
