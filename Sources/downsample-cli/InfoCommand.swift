import Downsample
import Raster

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// `downsample info`: what the inputs' headers say, a line each.
struct InfoCommand {
  let invocation: Invocation

  /// - Throws: when standard output cannot be written. What is wrong with an input is said, and the others go on.
  func run() throws(DownsampleError) -> Int32 {
    var failure: DownsampleError.Code?
    for input in invocation.operands {
      AbortHandler.install(
        inputName: input.description, json: invocation.json ? STDOUT_FILENO : nil, text: true)
      let result = describe(input)
      switch result {
      case .success(let text):
        if invocation.json || !invocation.quiet { try Console.print(text) }
      case .failure(let error):
        if invocation.json { try Console.print(errorJSON(error, inputName: input.description)) }
        Console.complain("downsample: \(input.inputName): \(error.message)")
        failure = error.code
      }
    }
    guard let failure else { return 0 }
    return invocation.operands.count == 1 ? failure.rawValue : Program.someFailed
  }

  private func describe(_ input: Path) -> Result<String, DownsampleError> {
    Result { () throws(DownsampleError) in
      let header = try Downsampler.probe(input.source)
      if invocation.json { return header.json(name: input.description) }
      let notes = header.notes.map { ", \($0)" }.joined()
      return Console.printable("\(input.inputName): \(header.summary)\(notes)")
    }
  }
}
