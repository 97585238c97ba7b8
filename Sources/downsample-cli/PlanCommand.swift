import Codecs
import Downsample
import Raster

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// `downsample plan`: how each picture would be made and what memory that takes.
struct PlanCommand {
  let invocation: Invocation

  /// 0 when all fit, 80 when one does not; else what is wrong with the only input, or 1.
  ///
  /// - Throws: when standard output cannot be written. What is wrong with an input is said, and the others go on.
  func run() throws(DownsampleError) -> Int32 {
    let request = try invocation.request(format: invocation.format ?? .jpeg)
    var failure: DownsampleError.Code?
    var allFit = true
    for input in invocation.operands {
      AbortHandler.install(inputName: input.description, json: invocation.json ? STDOUT_FILENO : nil, text: true)
      do throws(DownsampleError) {
        let (header, plan) = try Downsampler.plan(input.source, request: request)
        if !plan.fits { allFit = false }
        if invocation.json {
          try Console.print(plan.json(inputName: input.description, header: header))
        } else if !invocation.quiet {
          for line in plan.lines(inputName: input.inputName, header: header, isVerbose: invocation.verbose) {
            try Console.print(Console.printable(line))
          }
        }
      } catch {
        if invocation.json { try Console.print(errorJSON(error, inputName: input.description)) }
        Console.complain("downsample: \(input.inputName): \(error.message)")
        failure = error.code
      }
    }
    if let failure { return invocation.operands.count == 1 ? failure.rawValue : Program.someFailed }
    return allFit ? 0 : DownsampleError.Code.overBudget.rawValue
  }
}

extension Invocation {
  /// - Throws: `.usage` when the environment's ceiling is none.
  func request(format: OutputFormat) throws(DownsampleError) -> Request {
    var memory = memory
    if memory == nil { memory = try Memory.fromEnvironment() }
    return Request(
      maxPixelSize: maxPixelSize, format: format, quality: quality, chroma: chroma, effort: effort,
      isProgressive: isProgressive, depth: depth, color: color, intent: intent, isLinear: isLinear, kernel: kernel,
      background: background, metadata: metadata, stripsGPS: stripsGPS, salvages: salvages,
      threads: threads ?? Request.defaultThreads,
      memory: memory?.budget ?? MemoryBudget(), overBudget: overBudget, deadline: deadline)
  }
}
