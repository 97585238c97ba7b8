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

  /// The exit status; what goes wrong is reported.
  func run() -> Int32 {
    let input = invocation.operands[0]
    let output = invocation.operands[1]
    // A report beside the picture on standard output would break it, text beside JSON the report.
    let isPictureOnStandardOutput = output.isStandardStream || OutputFile.isStandardOutput(output)
    let json = !invocation.json ? nil : isPictureOnStandardOutput ? STDERR_FILENO : STDOUT_FILENO
    AbortHandler.install(inputName: input.description, json: json, text: json != STDERR_FILENO)
    do throws(DownsampleError) {
      let name = try OutputName(input: input, output: output, format: invocation.format)
      if isPictureOnStandardOutput, isatty(STDOUT_FILENO) == 1 {
        throw DownsampleError(.usage, "the picture would go to a terminal: redirect standard output, or name a file")
      }
      let report = try make(from: input, to: name)
      let outputName = name.path.description
      if json != STDERR_FILENO, !invocation.quiet {
        if invocation.verbose {
          for line in report.summary(inputName: input.inputName, outputName: outputName) { Console.complain(line) }
        }
        for warning in report.warnings { Console.complain("downsample: \(input.inputName): warning: \(warning)") }
      }
      guard let json else { return 0 }
      let text = report.json(inputName: input.description, outputName: outputName)
      if json == STDOUT_FILENO { try Console.print(text) } else { Console.complain(text) }
      return 0
    } catch {
      let text = errorJSON(error, inputName: input.description)
      if json == STDERR_FILENO {
        Console.complain(text)
        return error.code.rawValue
      }
      Console.complain("downsample: \(error.code == .cannotCreate ? "\(output)" : input.inputName): \(error.message)")
      if json == STDOUT_FILENO { try? Console.print(text) }
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
