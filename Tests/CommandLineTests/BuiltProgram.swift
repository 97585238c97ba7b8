import Foundation
import Testing

/// The program as it was built, run as a shell would run it.
enum BuiltProgram {
  struct Result {
    let status: Int32
    let output: Data
    let errors: String

    /// Standard output as text.
    var text: String { String(decoding: output, as: UTF8.self) }
    /// Standard output as one JSON object.
    var json: [String: Any] {
      get throws { try #require(try JSONSerialization.jsonObject(with: output) as? [String: Any]) }
    }
  }

  /// The products stand beside the test bundle, which is this program.
  static func url() throws -> URL {
    let url = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: "downsample")
    try #require(FileManager.default.isExecutableFile(atPath: url.path))
    return url
  }

  /// Starts a process with signals as a shell leaves them: `swift test` ignores some, the threads that tests run on block
  /// others, and a child would inherit both.
  static func start(_ process: Process) throws {
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
    signal(SIGPIPE, SIG_IGN)
    var none = sigset_t()
    var previous = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
    try process.run()
  }

  /// Runs the program to its end. Output and errors go through files, which no amount of either can block.
  static func run(
    _ arguments: [String], input: URL? = nil, environment: [String: String] = [:], in folder: URL
  ) throws -> Result {
    let streams = ["stdout", "stderr"].map { folder.appending(path: ".\($0)-\(UUID().uuidString)") }
    for stream in streams { try #require(FileManager.default.createFile(atPath: stream.path, contents: nil)) }
    defer { for stream in streams { try? FileManager.default.removeItem(at: stream) } }
    let process = Process()
    process.executableURL = try url()
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.currentDirectoryURL = folder
    process.standardInput = try input.map { try FileHandle(forReadingFrom: $0) } ?? FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: streams[0])
    process.standardError = try FileHandle(forWritingTo: streams[1])
    try start(process)
    process.waitUntilExit()
    try #require(process.terminationReason == .exit)
    return Result(
      status: process.terminationStatus, output: try Data(contentsOf: streams[0]),
      errors: String(decoding: try Data(contentsOf: streams[1]), as: UTF8.self))
  }
}
