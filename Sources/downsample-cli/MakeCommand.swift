import Downsample

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// `downsample INPUT OUTPUT`.
final class MakeCommand {
  private let invocation: Invocation
  private let input: Path
  /// As given, until it is known which file it means.
  private var output: Path
  /// Where the report goes as JSON; nil when none is wanted.
  private let json: Int32?
  private let isPictureOnStandardOutput: Bool

  init(invocation: Invocation) {
    self.invocation = invocation
    input = invocation.operands[0]
    output = invocation.operands[1]
    isPictureOnStandardOutput = output.isStandardStream || OutputFile.isStandardOutput(output)
    // A report beside the picture on standard output would break it.
    json = !invocation.json ? nil : isPictureOnStandardOutput ? STDERR_FILENO : STDOUT_FILENO
  }

  /// Text beside JSON would break the report.
  private var saysText: Bool { json != STDERR_FILENO }

  /// The exit status; what goes wrong is reported.
  func run() -> Int32 {
    AbortHandler.install(inputName: input.description, json: json, text: saysText)
    if let deadline = invocation.deadline {
      DeadlineAlarm.set(deadline, inputName: input.description, json: json, text: saysText)
    }
    do throws(DownsampleError) {
      let report = try make()
      DeadlineAlarm.cancel()
      // The report needs other code than the picture did.
      Allocator.trim()
      if saysText, !invocation.quiet { say(report) }
      guard let json else { return 0 }
      let text = report.json(inputName: input.description, outputNames: [output.description])
      if json == STDOUT_FILENO { try Console.print(text) } else { Console.complain(text) }
      return 0
    } catch {
      complain(error)
      return error.code.rawValue
    }
  }

  private func make() throws(DownsampleError) -> Report {
    let name = try OutputName(input: input, output: output, format: invocation.format)
    output = name.path
    if isPictureOnStandardOutput, isatty(STDOUT_FILENO) == 1 {
      throw DownsampleError(.usage, "the picture would go to a terminal: redirect standard output, or name a file")
    }
    let request = try invocation.request(format: name.format)
    let destination: ImageDestination =
      name.path.isStandardStream
      ? .descriptor(STDOUT_FILENO) : .path(name.path, replacesExisting: !invocation.noClobber)
    return try Downsampler.run(input.source, request: request, to: destination)
  }

  private func say(_ report: Report) {
    let outputName = output.isStandardStream ? "standard output" : output.description
    if invocation.verbose {
      for line in report.summary(inputName: input.inputName, outputName: outputName) { Console.complain(line) }
    }
    for warning in report.warnings { Console.complain("downsample: \(input.inputName): warning: \(warning)") }
  }

  private func complain(_ error: DownsampleError) {
    let text = errorJSON(error, inputName: input.description)
    guard saysText else { return Console.complain(text) }
    if error.code == .usage {
      Console.complain("downsample: \(error.message)", "Try 'downsample --help'.")
    } else if error.isAboutOutput, output.isStandardStream {
      Console.complain("downsample: standard output: \(error.message)")
    } else {
      Console.complain("downsample: \(error.isAboutOutput ? output.description : input.inputName): \(error.message)")
    }
    if json == STDOUT_FILENO { try? Console.print(text) }
  }
}
