import Codecs
import Downsample
import Raster

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// One run of the command line.
struct Program {
  let arguments: [Path]

  /// The exit status of a run in which some of several inputs failed.
  static let someFailed: Int32 = 1

  func run() -> Int32 {
    guard CommandLine.argc > 0 else {
      Console.complain("downsample: the command line cannot be read: /proc is not mounted")
      return DownsampleError.Code.internalFault.rawValue
    }
    let invocation: Invocation
    do throws(DownsampleError) {
      invocation = try ArgumentParser().parse(arguments)
    } catch {
      Console.complain("downsample: \(error.message)", "Try 'downsample --help'.")
      // Whoever reads reports reads this one too.
      if arguments.contains("--json") { try? Console.print(errorJSON(error, inputName: nil)) }
      return error.code.rawValue
    }
    do throws(DownsampleError) {
      if invocation.showsHelp {
        try Console.print(String(HelpText.make().dropLast()))
        return 0
      }
      if invocation.showsVersion {
        try Console.print(Self.versionText)
        return 0
      }
      switch invocation.command {
      case .make: return MakeCommand(invocation: invocation).run()
      case .info: return try InfoCommand(invocation: invocation).run()
      case .plan: return try PlanCommand(invocation: invocation).run()
      }
    } catch {
      Console.complain("downsample: \(error.message)")
      return error.code.rawValue
    }
  }

  private static var versionText: String {
    let tiles =
      Libraries.decodesTiles ? "grids are decoded tile by tile" : "grids are decoded whole: tiles need libheif 1.19"
    let libraries = Libraries.versions.map { name, version in
      "\(name) \(version)" + (name == "libheif" && version != "missing" ? " (\(tiles))" : "")
    }
    return (["downsample \(Downsampler.version)"] + libraries).joined(separator: "\n")
  }
}

extension Path {
  /// Standard input or output.
  var isStandardStream: Bool { self == "-" }

  /// The command line's arguments as they were given, which need not be UTF-8, without the program's name.
  static var arguments: [Path] {
    UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst().compactMap {
      $0.map { Path(cString: $0) }
    }
  }

  var source: ImageSource { isStandardStream ? .descriptor(STDIN_FILENO) : .path(self) }

  /// For messages.
  var inputName: String { isStandardStream ? "standard input" : description }
}
