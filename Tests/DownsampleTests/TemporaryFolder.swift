import Foundation

@testable import Downsample

/// A folder of a test's own, removed with the object.
final class TemporaryFolder {
  let path: String

  init() {
    // What ProcessSignals.install does for the command line, here for the tests' process.
    signal(SIGPIPE, SIG_IGN)
    var template = Array((NSTemporaryDirectory() + "/downsample-test-XXXXXX").utf8CString)
    let made = template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }
    path = String(cString: made!)
  }

  deinit {
    let remover = Process()
    remover.executableURL = URL(fileURLWithPath: "/bin/rm")
    remover.arguments = ["-rf", path]
    try? remover.run()
    remover.waitUntilExit()
  }

  /// Opens and lets go of an output here, as the next run would.
  func nextRun() {
    // A folder is swept once in a row, and is known by its inode, which may have been another test's before. A folder
    // that exists beside this one has another inode.
    let other = TemporaryFolder()
    _ = try? OutputFile(path: other("x"))
    _ = try? OutputFile(path: self("next"))
  }

  func callAsFunction(_ name: String) -> Path { Path(path + "/" + name) }

  func text(_ name: String) -> String { path + "/" + name }

  /// Everything in the folder, hidden names too.
  var names: [String] { (try! FileManager.default.contentsOfDirectory(atPath: path)).sorted() }

  func put(_ name: String, _ content: String, mode: mode_t = 0o644) {
    try! Data(content.utf8).write(to: URL(fileURLWithPath: text(name)))
    chmod(text(name), mode)
  }

  func content(_ name: String) -> String? {
    FileManager.default.contents(atPath: text(name)).map { String(decoding: $0, as: UTF8.self) }
  }

  func status(_ name: String) -> stat {
    var status = stat()
    lstat(text(name), &status)
    return status
  }
}
