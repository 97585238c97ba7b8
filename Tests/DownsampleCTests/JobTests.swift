import CDownsample
import CPictures
import Foundation
import TestPictures
import Testing

/// Gathers what callbacks are given.
private final class Gathered: Kept, @unchecked Sendable {
  var bytes: [UInt8] = []
  var rows: [Int32] = []
  var pixels = dsm_pixels()
  var profile: [UInt8] = []
  var progress: [(rows: UInt64, of: UInt64)] = []
  var asked = 0
  /// The call that fails, counted from 1.
  var failing = 0
  var calls = 0
  var memory: (bytes: UnsafeMutableRawBufferPointer, size: Int, stride: Int)?

  static func of(_ user: UnsafeMutableRawPointer?) -> Gathered { Unmanaged.fromOpaque(user!).takeUnretainedValue() }

  /// What a callback returns.
  func next() -> Int32 {
    calls += 1
    return calls == failing ? 1 : 0
  }
}

private let gather: dsm_write_fn = { user, bytes, size in
  Gathered.of(user).bytes += UnsafeRawBufferPointer(start: bytes, count: size)
  return Gathered.of(user).next()
}

private let gatherRow: dsm_row_fn = { user, row, size, y in
  Gathered.of(user).bytes += UnsafeRawBufferPointer(start: row, count: size)
  Gathered.of(user).rows.append(y)
  return Gathered.of(user).next()
}

private let begin: dsm_rows_begin_fn = { user, pixels, memory in
  let gathered = Gathered.of(user)
  gathered.pixels = pixels!.pointee
  gathered.profile = Array(
    UnsafeRawBufferPointer(start: pixels!.pointee.icc_profile, count: pixels!.pointee.icc_profile_size))
  if let given = gathered.memory {
    memory!.pointee.bytes = given.bytes.baseAddress
    memory!.pointee.size = given.size
    memory!.pointee.stride = given.stride
  }
  return gathered.next()
}

private let readNext: dsm_read_fn = { user, buffer, size in
  let held = Held.of(user)
  let count = held.read(buffer, size, at: held.position)
  held.position += max(0, count)
  return count
}

private let readAt: dsm_read_at_fn = { user, buffer, size, offset in
  Held.of(user).read(buffer, size, at: Int(clamping: offset))
}

private func sink(begin: dsm_rows_begin_fn? = nil, row: dsm_row_fn? = nil, _ gathered: Gathered) -> dsm_row_sink {
  dsm_row_sink(
    struct_size: MemoryLayout<dsm_row_sink>.size, begin: begin, row: row, user: gathered.user,
    keeps_rows: 0, reserved: 0)
}

private func reader(
  read: dsm_read_fn? = nil, readAt: dsm_read_at_fn? = nil, count: Int = 0, _ held: Held
) -> dsm_reader {
  dsm_reader(
    struct_size: MemoryLayout<dsm_reader>.size, read: read, read_at: readAt, byte_count: UInt64(count), user: held.user)
}

/// What stands before the zero byte.
private func text(_ message: [CChar]) -> String {
  String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

@Suite struct JobTests {
  static let photo = Picture(CPIC_PHOTO, 301, 207)
  static let jpeg = photo.jpeg { $0.progressive = true }
  static let heic = photo.padded.heif()
  static let files: [(name: String, bytes: [UInt8])] = [
    ("a.jpg", jpeg), ("a.png", Picture(CPIC_PHOTO, 301, 207, channels: 4).png()), ("a.heic", heic),
  ]

  private func made(_ bytes: [UInt8], _ set: (inout dsm_rendition) -> Void = { _ in }) throws -> [UInt8] {
    let held = Held(bytes)
    let job = CJob()
    var wanted = rendition(set)
    try #require(dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count) == DSM_OK)
    try #require(dsm_job_add_bytes(job.handle, &wanted) == DSM_OK, "\(job.message)")
    try #require(job.run() == DSM_OK, "\(job.message)")
    return try job.bytes()
  }

  typealias Change = @Sendable (inout dsm_rendition) -> Void

  /// The command line's options, and the same here.
  static let sameOptions: [(arguments: [String], change: Change)] = [
    ([], { _ in }),
    (
      ["--max", "100", "--quality", "60"],
      {
        $0.max_pixel_size = 100
        $0.quality = 60
      }
    ),
    (
      ["--format", "png", "--max", "64", "--color", "p3"],
      {
        $0.format = Int32(DSM_FORMAT_PNG.rawValue)
        $0.max_pixel_size = 64
        $0.color = Int32(DSM_COLOR_P3.rawValue)
      }
    ),
    (
      "--progressive --chroma 444 --kernel mitchell --linear --background #102030 --max 99".split(separator: " ")
        .map(String.init),
      {
        $0.progressive = 1
        $0.chroma = Int32(DSM_CHROMA_444.rawValue)
        $0.kernel = Int32(DSM_KERNEL_MITCHELL.rawValue)
        $0.linear = 1
        $0.background = (0x10, 0x20, 0x30, 0)
        $0.max_pixel_size = 99
      }
    ),
  ]

  @Test(arguments: sameOptions)
  func theCommandLinesBytes(arguments: [String], change: Change) throws {
    let folder = try Folder()
    for (name, bytes) in Self.files {
      try folder.put(name, bytes)
      try #require(try folder.commandLine(["--quiet"] + arguments + [name, "out"]) == 0)
      #expect(try made(bytes, change) == folder.bytes("out"), "\(name)")
    }
  }

  @Test func everySourceAndDestinationGivesTheSameBytes() throws {
    let folder = try Folder()
    for (name, bytes) in Self.files {
      let expected = try made(bytes) { $0.max_pixel_size = 120 }
      try folder.put(name, bytes)
      for source in 0..<6 {
        let held = Held(bytes)
        let gathered = Gathered()
        let job = CJob()
        var wanted = rendition { $0.max_pixel_size = 120 }
        var input: Int32 = -1
        switch source {
        case 0: #expect(dsm_job_set_input_path(job.handle, folder.path(name)) == DSM_OK)
        case 1:
          input = open(folder.path(name), O_RDONLY)
          #expect(dsm_job_set_input_descriptor(job.handle, input) == DSM_OK)
        case 2: #expect(dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count) == DSM_OK)
        case 3, 4:
          // In order, with the number of bytes known and not.
          var callbacks = reader(read: readNext, count: source == 3 ? 0 : held.count, held)
          #expect(dsm_job_set_input_reader(job.handle, &callbacks) == DSM_OK)
        default:
          var callbacks = reader(readAt: readAt, count: held.count, held)
          #expect(dsm_job_set_input_reader(job.handle, &callbacks) == DSM_OK)
        }
        let output = open(folder.path("descriptor"), O_RDWR | O_CREAT | O_TRUNC, 0o600)
        #expect(dsm_job_add_path(job.handle, &wanted, folder.path("path"), 0) == DSM_OK)
        #expect(dsm_job_add_descriptor(job.handle, &wanted, output) == DSM_OK)
        #expect(dsm_job_add_bytes(job.handle, &wanted) == DSM_OK)
        #expect(dsm_job_add_writer(job.handle, &wanted, gather, gathered.user) == DSM_OK)
        #expect(job.run() == DSM_OK, "\(name), source \(source): \(job.message)")
        if input >= 0 { #expect(close(input) == 0) }
        #expect(close(output) == 0)
        #expect(try folder.bytes("path") == expected)
        #expect(try folder.bytes("descriptor") == expected)
        #expect(try job.bytes(2) == expected)
        #expect(gathered.bytes == expected)
        for index in 0..<4 {
          let output = try job.output(index)
          #expect((output.width, output.height) == (120, 83))
          #expect(Int(output.byte_count) == expected.count)
          #expect((output.bytes == nil) == (index != 2))
        }
      }
    }
  }

  @Test func threeSizesOfOneDecode() throws {
    let held = Held(Self.jpeg)
    let job = CJob()
    dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count)
    for size in [32, 64, 150] as [Int32] {
      var wanted = rendition { $0.max_pixel_size = size }
      #expect(dsm_job_add_bytes(job.handle, &wanted) == DSM_OK)
    }
    #expect(job.run() == DSM_OK, "\(job.message)")
    for (index, size) in [32, 64, 150].enumerated() {
      #expect(try job.output(index).width == Int32(size))
      #expect(try DecodedFile(job.bytes(index))?.picture.width == size)
    }
    // It can be run again, and the same comes of it.
    let first = try job.bytes(1)
    #expect(job.run() == DSM_OK)
    #expect(try job.bytes(1) == first)
  }

  @Test func probeAndPlan() throws {
    let held = Held(Self.jpeg)
    let job = CJob()
    dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count)
    var header = dsm_header()
    header.struct_size = MemoryLayout<dsm_header>.size
    #expect(dsm_job_probe(job.handle, &header) == DSM_OK)
    #expect((header.width, header.height, header.coded_width, header.coded_height) == (301, 207, 301, 207))
    #expect((header.orientation, header.depth, header.has_alpha) == (1, 8, 0))
    #expect(Int(header.byte_count) == held.count)
    #expect(withUnsafeBytes(of: header.kind) { String(cString: $0.bindMemory(to: CChar.self).baseAddress!) } == "JPEG")
    #expect(job.report == nil)

    var plan = dsm_plan()
    plan.struct_size = MemoryLayout<dsm_plan>.size
    #expect(dsm_job_plan(job.handle, &plan) == DSM_OK)
    #expect(plan.fits == 1 && plan.threads >= 1 && plan.largest_fitting_size == 0)
    #expect(plan.added_bytes > 0 && plan.predicted_peak_bytes > plan.added_bytes)
    #expect(plan.limit_bytes >= plan.predicted_peak_bytes)
    #expect(try job.json()["fits"] as? Bool == true)

    job.options { $0.memory = 1 << 20 }
    #expect(dsm_job_plan(job.handle, &plan) == DSM_OK)
    #expect(plan.fits == 0)
    #expect(dsm_job_add_bytes(job.handle, nil) == DSM_OK)
    #expect(job.run() == DSM_OVER_BUDGET)
    #expect(!job.message.isEmpty)
  }

  @Test func aReportAndWarnings() throws {
    let folder = try Folder()
    try folder.put("cut.jpg", Self.photo.jpeg().dropLast(2000) + [0xFF, 0xD9])
    let job = CJob()
    job.options { $0.salvage = 1 }
    dsm_job_set_input_path(job.handle, folder.path("cut.jpg"))
    dsm_job_add_path(job.handle, nil, folder.path("out.jpg"), 0)
    #expect(job.run() == DSM_OK, "\(job.message)")
    #expect(!job.warnings.isEmpty && job.warnings.allSatisfy { !$0.isEmpty })
    dsm_job_set_input_path(job.handle, "other")
    let json = try job.json()
    #expect(json["warnings"] as? [String] == job.warnings)
    #expect((json["input"] as? [String: Any])?["file"] as? String == folder.path("cut.jpg"))
    // It tells of the run, whatever is set since; asked for twice it is the same text.
    dsm_job_set_input_path(job.handle, folder.path("cut.jpg"))
    #expect(dsm_job_report(job.handle) == dsm_job_report(job.handle))
    job.options { $0.salvage = 0 }
    #expect(job.run() == DSM_DAMAGED_DATA)
    #expect(job.warnings.isEmpty)
    #expect((try job.json()["error"] as? [String: Any])?["exit_status"] as? Int == 65)
  }

  @Test func inputsAndOutputsThatCannotBe() throws {
    let folder = try Folder()
    try folder.put("a.jpg", Self.jpeg)
    let job = CJob()
    dsm_job_set_input_path(job.handle, folder.path("missing"))
    dsm_job_add_path(job.handle, nil, folder.path("a.jpg"), DSM_NO_CLOBBER)
    #expect(job.run() == DSM_NO_INPUT)
    dsm_job_set_input_path(job.handle, folder.path("a.jpg"))
    #expect(job.run() == DSM_CANNOT_CREATE, "\(job.message)")
    #expect(try folder.bytes("a.jpg") == Self.jpeg)
    dsm_job_set_input_bytes(job.handle, nil, 0)
    #expect(job.run() == DSM_DAMAGED_DATA)
    #expect(try folder.names == ["a.jpg"])
  }

  // MARK: Callbacks

  @Test func progress() throws {
    let held = Held(Picture(CPIC_PHOTO, 400, 3000).png())
    let gathered = Gathered()
    let job = CJob()
    job.options {
      $0.progress = { user, rows, all in Gathered.of(user).progress.append((rows, all)) }
      $0.cancelled = { user in
        Gathered.of(user).asked += 1
        return 0
      }
      $0.user = gathered.user
    }
    dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count)
    dsm_job_add_bytes(job.handle, nil)
    #expect(job.run() == DSM_OK)
    #expect((2...101).contains(gathered.progress.count))
    #expect(gathered.progress.map(\.rows) == gathered.progress.map(\.rows).sorted())
    #expect(gathered.progress.allSatisfy { $0.of == gathered.progress[0].of })
    #expect(gathered.progress.last?.rows == gathered.progress.last?.of)
    #expect(gathered.asked > 0)
  }

  @Test func cancelling() throws {
    let folder = try Folder()
    let held = Held(Picture(CPIC_NOISE, 3000, 2000).png())
    let job = CJob()
    dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count)
    dsm_job_add_path(job.handle, nil, folder.path("out.jpg"), 0)
    // Before: the next run, and only that.
    dsm_job_cancel(job.handle)
    #expect(job.run() == DSM_CANCELLED)
    #expect(!job.message.isEmpty)
    #expect(try folder.names == [])
    #expect(job.run() == DSM_OK)
    #expect(try folder.names == ["out.jpg"])
    try FileManager.default.removeItem(atPath: folder.path("out.jpg"))
    // Meanwhile, by another thread: begun when the first bytes are read.
    let gathered = Gathered()
    gathered.memory = nil
    nonisolated(unsafe) let handle = job.handle
    let thread = Thread {
      usleep(30_000)
      dsm_job_cancel(handle)
    }
    job.options {
      $0.progress = { user, _, _ in Gathered.of(user).asked += 1 }
      $0.user = gathered.user
    }
    thread.start()
    let status = job.run()
    #expect(status == DSM_CANCELLED || status == DSM_OK)
    if status == DSM_CANCELLED { #expect(try folder.names == []) }
    while !thread.isFinished { usleep(1000) }
    // By the callback.
    dsm_job_cancel(job.handle)
    _ = job.run()
    job.options { $0.cancelled = { _ in 1 } }
    #expect(job.run() == DSM_CANCELLED)
  }

  @Test func aRunWithinARun() throws {
    let held = Held(Self.jpeg)
    let job = CJob()
    job.options {
      $0.progress = { user, _, _ in
        #expect(dsm_job_run(OpaquePointer(user)) == DSM_USAGE)
        #expect(String(cString: dsm_job_message(OpaquePointer(user))) == "the job is running")
      }
      $0.user = UnsafeMutableRawPointer(job.handle)
    }
    dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count)
    dsm_job_add_bytes(job.handle, nil)
    #expect(job.run() == DSM_OK)
    #expect(job.message == "")
    #expect(try !job.bytes().isEmpty)
  }

  @Test(arguments: [(1, -1), (1, .min), (1, .max), (2, -1), (2, -7), (2, 1 << 40)])
  func readersThatFail(call: Int, result: Int) throws {
    for useOffsets in [false, true] {
      let held = Held(Picture(CPIC_NOISE, 700, 500).png())
      held.fault = (call, result)
      let job = CJob()
      var callbacks =
        useOffsets ? reader(readAt: readAt, count: held.count, held) : reader(read: readNext, held)
      #expect(dsm_job_set_input_reader(job.handle, &callbacks) == DSM_OK)
      dsm_job_add_bytes(job.handle, nil)
      #expect(job.run() == DSM_INPUT_OUTPUT)
      let name = useOffsets ? "read_at" : "read"
      let expected = result < 0 ? "the \(name) callback failed" : "the \(name) callback gave \(result) bytes where "
      #expect(job.message.hasPrefix(expected), "\(job.message)")
    }
  }

  @Test func writersThatFail() throws {
    let held = Held(Self.jpeg)
    let gathered = Gathered()
    gathered.failing = 1
    let job = CJob()
    dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count)
    dsm_job_add_writer(job.handle, nil, gather, gathered.user)
    #expect(job.run() == DSM_INPUT_OUTPUT)
    #expect(job.message == "the write callback failed")
  }

  // MARK: Rows

  /// 8-bit rows are what a PNG of the same rendition holds.
  @Test func rowsAreThePNGs() throws {
    let gathered = Gathered()
    let held = Held(Self.files[1].bytes)
    let job = CJob()
    var wanted = rendition {
      $0.max_pixel_size = 100
      $0.format = Int32(DSM_FORMAT_PNG.rawValue)
    }
    dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count)
    var callbacks = sink(begin: begin, row: gatherRow, gathered)
    #expect(dsm_job_add_rows(job.handle, &wanted, DSM_PIXELS_RGBA8, &callbacks) == DSM_OK)
    dsm_job_add_bytes(job.handle, &wanted)
    #expect(job.run() == DSM_OK, "\(job.message)")
    let picture = try #require(DecodedFile(try job.bytes(1))).picture
    #expect((gathered.pixels.width, gathered.pixels.height) == (100, 69))
    #expect(gathered.pixels.format == Int32(DSM_PIXELS_RGBA8.rawValue))
    #expect(gathered.pixels.row_size == 400)
    #expect(gathered.rows == (0..<69).map { Int32($0) })
    #expect(gathered.bytes.count == 400 * 69)
    #expect(try job.output(0).byte_count == 400 * 69)
    for (x, y) in [(0, 0), (50, 30), (99, 68)] {
      #expect(gathered.bytes[(y * 400 + x * 4)...].prefix(4).map { Int($0) } == picture.pixel(x, y))
    }
  }

  @Test(arguments: [0, 13]) func rowsIntoTheProgramsMemory(padding: Int) throws {
    let gathered = Gathered()
    let held = Held(Self.jpeg)
    let job = CJob()
    var wanted = rendition { $0.max_pixel_size = 100 }
    dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count)
    var callbacks = sink(row: gatherRow, gathered)
    #expect(dsm_job_add_rows(job.handle, &wanted, DSM_PIXELS_BGRA8, &callbacks) == DSM_OK)
    // The last row needs no padding behind it.
    let stride = 400 + padding
    let size = stride * 68 + 400
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size + 64, alignment: 1)
    defer { memory.deallocate() }
    for index in memory.indices { memory[index] = 0x5A }
    let other = Gathered()
    other.memory = (memory, size, stride)
    var others = sink(begin: begin, other)
    #expect(dsm_job_add_rows(job.handle, &wanted, DSM_PIXELS_BGRA8, &others) == DSM_OK)
    #expect(job.run() == DSM_OK, "\(job.message)")
    for y in 0..<69 {
      #expect(Array(memory[(y * stride)..<(y * stride + 400)]) == Array(gathered.bytes[(y * 400)..<(y * 400 + 400)]))
      if y < 68 { #expect(memory[(y * stride + 400)..<((y + 1) * stride)].allSatisfy { $0 == 0x5A }) }
    }
    #expect(memory[size...].allSatisfy { $0 == 0x5A })
  }

  /// The format is what the name says, where none is asked for.
  @Test(arguments: [("a.png", [0x89, 0x50]), ("a.jpeg", [0xFF, 0xD8]), ("a", [0xFF, 0xD8])] as [(String, [UInt8])])
  func formatByName(name: String, beginning: [UInt8]) throws {
    let folder = try Folder()
    let job = CJob()
    let held = Held(Picture(CPIC_PHOTO, 30, 20).png())
    dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count)
    #expect(dsm_job_add_path(job.handle, nil, folder.path(name) + ".gif", 0) == DSM_USAGE)
    #expect(dsm_job_add_path(job.handle, nil, folder.path(name), 0) == DSM_OK)
    #expect(job.run() == DSM_OK, "\(job.message)")
    #expect(try Array(folder.bytes(name).prefix(2)) == beginning)
  }

  @Test func memoryThatIsTooSmall() throws {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
    defer { memory.deallocate() }
    // As size_t the last is beyond Int.
    for (size, stride) in [(400 * 69 - 1, 400), (400 * 69, 399), (.max, .max), (400 * 69, -400)] {
      let gathered = Gathered()
      gathered.memory = (memory, size, stride)
      let (status, text) = try rows(sink(begin: begin, gathered))
      #expect(status == DSM_USAGE)
      let shown = stride < 0 ? Int.max : stride
      #expect(
        text
          == "the memory for pixels has \(size) bytes, \(shown) from row to row; 100x69 takes 400 a row, 27600 in all")
    }
    // None at all, and nobody to hand rows to.
    let (status, _) = try rows(sink(begin: begin, Gathered()))
    #expect(status == DSM_USAGE)
  }

  @Test func rowCallbacksThatFail() throws {
    let gathered = Gathered()
    gathered.failing = 1
    var (status, text) = try rows(sink(begin: begin, row: gatherRow, gathered))
    #expect(status == DSM_INPUT_OUTPUT)
    #expect(text == "the begin callback failed")
    #expect(gathered.rows.isEmpty)
    let later = Gathered()
    later.failing = 20
    (status, text) = try rows(sink(row: gatherRow, later))
    #expect(status == DSM_INPUT_OUTPUT)
    #expect(text == "the row callback failed")
    #expect(later.rows == (0..<20).map { Int32($0) })
  }

  private func rows(_ sink: dsm_row_sink) throws -> (dsm_status, String) {
    let held = Held(Self.jpeg)
    let job = CJob()
    var sink = sink
    var wanted = rendition { $0.max_pixel_size = 100 }
    dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count)
    try #require(dsm_job_add_rows(job.handle, &wanted, DSM_PIXELS_RGBA8, &sink) == DSM_OK)
    return (job.run(), job.message)
  }

  // MARK: Ledger and thumbnail

  @Test func aLedger() throws {
    let held = Held(Self.jpeg)
    let small = dsm_ledger_create(1 << 20)
    let large = dsm_ledger_create(1 << 30)
    let job = CJob()
    dsm_job_set_input_bytes(job.handle, held.memory.baseAddress, held.count)
    dsm_job_add_bytes(job.handle, nil)
    job.options { $0.ledger = small }
    // The job keeps it.
    dsm_ledger_destroy(small)
    #expect(job.run() == DSM_OVER_BUDGET, "\(job.message)")
    let gathered = Gathered()
    gathered.memory = nil
    job.options {
      $0.ledger = large
      $0.progress = { user, _, _ in #expect(dsm_ledger_reserved_bytes(OpaquePointer(user)) > 0) }
      $0.user = UnsafeMutableRawPointer(large)
    }
    #expect(job.run() == DSM_OK, "\(job.message)")
    #expect(dsm_ledger_reserved_bytes(large) == 0)
    dsm_ledger_destroy(large)
  }

  @Test func thumbnail() throws {
    let folder = try Folder()
    try folder.put("a.jpg", Self.photo.jpeg())
    var message = [CChar](repeating: 0x55, count: 200)
    func make(_ output: String, _ size: Int32 = 64) -> (dsm_status, String) {
      let status = dsm_thumbnail(folder.path("a.jpg"), folder.path(output), size, &message, message.count)
      return (status, text(message))
    }
    guard dsm_peak_resident_bytes() < 100 << 20 else {
      // The tests' process may be beyond what a thumbnail may reach by then: what is left is the refusal.
      #expect(make("o.jpg").0 == DSM_OVER_BUDGET || make("o.jpg").0 == DSM_OK)
      return
    }
    for (name, start) in [("o.jpg", [0xFF, 0xD8]), ("o", [0xFF, 0xD8]), ("o.png", [0x89, 0x50])] as [(String, [UInt8])]
    {
      let (status, text) = make(name)
      #expect(status == DSM_OK, "\(text)")
      #expect(text == "")
      let bytes = try folder.bytes(name)
      #expect(Array(bytes.prefix(2)) == start)
      #expect(DecodedFile(bytes)?.picture.width == 64)
    }
  }

  @Test func thumbnailsThatCannotBe() throws {
    let folder = try Folder()
    var message = [CChar](repeating: 0x55, count: 200)
    func make(_ output: String, _ size: Int32 = 64, room: Int = 200) -> (dsm_status, String) {
      let status = dsm_thumbnail(folder.path("é.jpg"), folder.path(output), size, &message, room)
      return (status, text(message))
    }
    #expect(make("o.gif").0 == DSM_USAGE)
    #expect(make("o.gif").1.hasPrefix("the extension .gif of "))
    #expect(make("o.jpg", 65_501).1 == "max_pixel_size is 65501; it takes 0 to 65500")
    #expect(make("o.jpg").0 == DSM_NO_INPUT)
    // Cut, and between two characters.
    #expect(make("o.jpg", -1, room: 5).1 == "max_")
    #expect(message[5] != 0)
    #expect(make("o.jpg", -1, room: 1).1 == "")
    message[0] = 0x55
    #expect(dsm_thumbnail("x", "y.jpg", -1, &message, 0) == DSM_USAGE)
    #expect(message[0] == 0x55)
    #expect(try folder.names == [])
  }
}
