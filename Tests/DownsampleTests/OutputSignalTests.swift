import Codecs
import Foundation
import Raster
import Testing

@testable import Downsample

/// What is left when the process ends in the middle of writing at a temporary name. Each body runs in a process of its
/// own; `swift test` starts it with some signals ignored, so that they are set back first.
@Suite struct OutputSignalTests {
  let folder = TemporaryFolder()

  fileprivate static func write(_ folder: String, _ names: [String]) throws -> [OutputFile] {
    let outputs = try names.map {
      try OutputFile(path: Path(folder + "/" + $0), replaceExisting: true, unnamedFiles: false)
    }
    let bytes = [UInt8](repeating: 7, count: 100_000)
    for output in outputs { try bytes.withUnsafeBytes { try output.write($0) } }
    return outputs
  }

  /// The threads that tests run on block signals.
  fileprivate static func signalProcess(_ number: Int32) {
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
    raise(number)
  }

  @Test func interrupted() async {
    folder.put("old", "old")
    await #expect(processExitsWith: .signal(SIGINT)) { [path = folder.path as String] in
      signal(SIGINT, SIG_DFL)
      ProcessSignals.install()
      let outputs = try OutputSignalTests.write(path, ["old", "new"])
      try withExtendedLifetime(outputs) {
        try #require(try FileManager.default.contentsOfDirectory(atPath: path).count == 3)
        OutputSignalTests.signalProcess(SIGINT)
      }
    }
    #expect(folder.names == ["old"])
    #expect(folder.content("old") == "old")
  }

  @Test func terminated() async {
    await #expect(processExitsWith: .signal(SIGTERM)) { [path = folder.path as String] in
      signal(SIGTERM, SIG_DFL)
      ProcessSignals.install()
      // More than the table holds: the last ones are the next run's to sweep.
      let outputs = try OutputSignalTests.write(path, (0..<70).map { "\($0)" })
      withExtendedLifetime(outputs) { OutputSignalTests.signalProcess(SIGTERM) }
    }
    #expect(folder.names.count == 6)
    folder.nextRun()
    #expect(folder.names == [])
  }

  @Test func aHandlerOfTheProgramsOwn() async {
    await #expect(processExitsWith: .exitCode(65)) { [path = folder.path as String] in
      ProcessSignals.install()
      signal(SIGABRT) { _ in
        ProcessSignals.removeUnfinishedOutputs()
        _exit(65)
      }
      let outputs = try OutputSignalTests.write(path, ["new"])
      withExtendedLifetime(outputs) { OutputSignalTests.signalProcess(SIGABRT) }
    }
    #expect(folder.names == [])
  }

  @Test func finishedOutputsStay() async {
    await #expect(processExitsWith: .signal(SIGHUP)) { [path = folder.path as String] in
      signal(SIGHUP, SIG_DFL)
      ProcessSignals.install()
      let outputs = try OutputSignalTests.write(path, ["done", "discarded", "open"])
      try outputs[0].commit()
      outputs[1].discard()
      withExtendedLifetime(outputs) { OutputSignalTests.signalProcess(SIGHUP) }
    }
    #expect(folder.names == ["done"])
  }

  @Test func ignoredSignalsStayIgnored() async {
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      signal(SIGHUP, SIG_IGN)
      ProcessSignals.install()
      let outputs = try OutputSignalTests.write(path, ["out"])
      OutputSignalTests.signalProcess(SIGHUP)
      try outputs[0].commit()
    }
    #expect(folder.names == ["out"])
  }

  @Test func killed() async {
    folder.put("old", "old")
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
      let outputs = try OutputSignalTests.write(path, ["old"])
      withExtendedLifetime(outputs) { _ = raise(SIGKILL) }
    }
    #expect(folder.names.count == 2)
    #expect(folder.content("old") == "old")
    folder.nextRun()
    #expect(folder.names == ["old"])
  }

  @Test(arguments: [true, false]) func fileSizeLimit(unnamed: Bool) async {
    folder.put("old", "old")
    await #expect(processExitsWith: .success) { [path = folder.path as String, unnamed = unnamed as Bool] in
      ProcessSignals.install()
      var limit = rlimit(rlim_cur: 50_000, rlim_max: 50_000)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let output = try OutputFile(path: Path(path + "/old"), replaceExisting: true, unnamedFiles: unnamed)
      do {
        let bytes = [UInt8](repeating: 7, count: 100_000)
        try bytes.withUnsafeBytes { try output.write($0) }
        try output.commit()
        exit(1)
      } catch {
        let error = try #require(error as? Raster.DownsampleError)
        try #require(error.code == .inputOutput && error.message.contains("File too large"))
      }
    }
    #expect(folder.names == ["old"])
    #expect(folder.content("old") == "old")
  }
}
