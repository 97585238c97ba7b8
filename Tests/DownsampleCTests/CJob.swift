import CDownsample
import Foundation
import Testing

/// A job as a C program uses it.
final class CJob {
  let handle: OpaquePointer

  init() {
    handle = dsm_job_create()
    // The tests' own process is beyond the default ceiling.
    options { $0.memory = 16 << 30 }
  }

  deinit { dsm_job_destroy(handle) }

  var message: String { String(cString: dsm_job_message(handle)) }
  var report: String? { dsm_job_report(handle).map { String(cString: $0) } }
  var warnings: [String] {
    var result: [String] = []
    while let text = dsm_job_warning(handle, result.count) { result.append(String(cString: text)) }
    return result
  }
  func json() throws -> [String: Any] {
    let text = try #require(report)
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @discardableResult func options(_ set: (inout dsm_options) -> Void) -> dsm_status {
    var options = dsm_options()
    options.struct_size = MemoryLayout<dsm_options>.size
    options.memory = 16 << 30
    set(&options)
    return dsm_job_set_options(handle, &options)
  }

  func run() -> dsm_status { dsm_job_run(handle) }

  func output(_ index: Int = 0) throws -> dsm_output {
    var output = dsm_output()
    output.struct_size = MemoryLayout<dsm_output>.size
    try #require(dsm_job_output(handle, index, &output) == DSM_OK, "\(message)")
    return output
  }

  /// What `dsm_job_add_bytes` made.
  func bytes(_ index: Int = 0) throws -> [UInt8] {
    let output = try output(index)
    return Array(UnsafeRawBufferPointer(start: output.bytes, count: Int(output.byte_count)))
  }
}

/// What DSM_RENDITION_INIT says, and what is changed of it.
func rendition(_ set: (inout dsm_rendition) -> Void = { _ in }) -> dsm_rendition {
  var value = dsm_rendition()
  value.struct_size = MemoryLayout<dsm_rendition>.size
  value.max_pixel_size = 2048
  value.quality = 85
  value.effort = 2
  value.intent = Int32(DSM_INTENT_RELATIVE.rawValue)
  value.kernel = Int32(DSM_KERNEL_LANCZOS3.rawValue)
  value.background = (255, 255, 255, 0)
  set(&value)
  return value
}

/// What jobs have pointers to, which Swift does not see: kept until the tests end.
class Kept {
  init() { _ = Unmanaged.passRetained(self) }

  /// For callbacks.
  final var user: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}

/// Bytes that stay where they are.
final class Held: Kept, @unchecked Sendable {
  let memory: UnsafeMutableRawBufferPointer
  let count: Int

  init(_ bytes: [UInt8]) {
    memory = .allocate(byteCount: max(1, bytes.count), alignment: 16)
    memory.copyBytes(from: bytes)
    count = bytes.count
  }

  /// Where the next read begins.
  var position = 0
  /// What read callbacks do wrong, and on which call.
  var fault: (call: Int, result: Int)?
  var calls = 0

  static func of(_ user: UnsafeMutableRawPointer?) -> Held { Unmanaged.fromOpaque(user!).takeUnretainedValue() }

  func read(_ buffer: UnsafeMutableRawPointer?, _ size: Int, at offset: Int) -> Int {
    calls += 1
    if let fault, fault.call == calls { return fault.result }
    let number = min(size, max(0, count - offset))
    if number > 0 { memcpy(buffer!, memory.baseAddress! + offset, number) }
    return number
  }
}

/// A folder of a test's own, removed with the object.
final class Folder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "downsample-c-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appending(path: name).path }
  func put(_ name: String, _ bytes: [UInt8]) throws { try Data(bytes).write(to: url.appending(path: name)) }
  func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: url.appending(path: name))) }
  var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() } }

  /// What the command line makes.
  func commandLine(_ arguments: [String]) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: "downsample")
    process.arguments = arguments
    process.currentDirectoryURL = url
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
