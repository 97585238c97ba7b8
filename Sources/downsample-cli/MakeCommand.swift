import Downsample
import Raster

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// `downsample INPUT OUTPUT`.
struct MakeCommand {
  let invocation: Invocation

  /// - Throws: when the report cannot be written; what goes wrong with the picture is reported and gives the exit status.
  func run() throws(DownsampleError) -> Int32 {
    let input = invocation.operands[0]
    let output = invocation.operands[1]
    // A report beside the picture on standard output would break it, text beside JSON the report.
    let jsonGoesToStandardError = invocation.json && output.isStandardStream
    do throws(DownsampleError) {
      let name = try OutputName(input: input, output: output, format: invocation.format)
      if name.path.isStandardStream, isatty(STDOUT_FILENO) == 1 {
        throw DownsampleError(.usage, "the picture would go to a terminal: redirect standard output, or name a file")
      }
      let report = try make(from: input, to: name)
      if invocation.json {
        let text = report.json(inputName: input.description, outputName: name.path.description)
        if jsonGoesToStandardError { Console.complain(text) } else { try Console.print(text) }
      }
      if !invocation.quiet && !jsonGoesToStandardError {
        if invocation.verbose {
          Console.complain(report.summary(inputName: input.inputName, outputName: name.path.description))
        }
        for warning in report.warnings { Console.complain("downsample: \(input.inputName): warning: \(warning)") }
      }
      return 0
    } catch {
      let text = invocation.json ? errorJSON(error, inputName: input.description) : ""
      if jsonGoesToStandardError {
        Console.complain(text)
        return error.code.rawValue
      }
      Console.complain("downsample: \(error.code.concernsOutput ? "\(output)" : input.inputName): \(error.message)")
      if invocation.json { try Console.print(text) }
      return error.code.rawValue
    }
  }

  private func make(from input: Path, to name: OutputName) throws(DownsampleError) -> Report {
    let request = Request(
      maxPixelSize: invocation.maxPixelSize, format: name.format, quality: invocation.quality)
    return try Downsampler.run(try input.openSource(), request: request) { () throws(DownsampleError) in
      name.path.isStandardStream
        ? OutputFile(descriptor: STDOUT_FILENO)
        : try OutputFile(path: name.path, replaceExisting: !invocation.noClobber)
    }
  }
}

extension DownsampleError.Code {
  fileprivate var concernsOutput: Bool { self == .cannotCreate }
}
