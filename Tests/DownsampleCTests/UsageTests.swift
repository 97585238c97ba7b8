import CDownsample
import CPictures
import Downsample
import Foundation
import TestPictures
import Testing

/// What the header calls a wrong use is a status and a sentence, never a crash.
@Suite struct UsageTests {
  @Test func nullPointers() {
    #expect(dsm_job_set_options(nil, nil) == DSM_USAGE)
    #expect(dsm_job_set_input_path(nil, "x") == DSM_USAGE)
    #expect(dsm_job_set_input_descriptor(nil, 0) == DSM_USAGE)
    #expect(dsm_job_set_input_bytes(nil, nil, 0) == DSM_USAGE)
    #expect(dsm_job_set_input_reader(nil, nil) == DSM_USAGE)
    #expect(dsm_job_add_path(nil, nil, "x", 0) == DSM_USAGE)
    #expect(dsm_job_add_descriptor(nil, nil, 1) == DSM_USAGE)
    #expect(dsm_job_add_bytes(nil, nil) == DSM_USAGE)
    #expect(dsm_job_add_writer(nil, nil, nil, nil) == DSM_USAGE)
    #expect(dsm_job_add_rows(nil, nil, DSM_PIXELS_RGB8, nil) == DSM_USAGE)
    #expect(dsm_job_probe(nil, nil) == DSM_USAGE)
    #expect(dsm_job_plan(nil, nil) == DSM_USAGE)
    #expect(dsm_job_run(nil) == DSM_USAGE)
    #expect(dsm_job_output(nil, 0, nil) == DSM_USAGE)
    #expect(dsm_thumbnail(nil, "x", 100, nil, 0) == DSM_USAGE)
    #expect(dsm_thumbnail("x", nil, 100, nil, 0) == DSM_USAGE)
    #expect(String(cString: dsm_job_message(nil)) == "")
    #expect(dsm_job_report(nil) == nil)
    #expect(dsm_job_warning(nil, 0) == nil)
    #expect(dsm_ledger_reserved_bytes(nil) == 0)
    dsm_job_cancel(nil)
    dsm_job_destroy(nil)
    dsm_ledger_destroy(nil)

    let job = CJob()
    #expect(dsm_job_set_options(job.handle, nil) == DSM_USAGE)
    #expect(job.message == "a null pointer was given where a dsm_options is needed")
    #expect(dsm_job_set_input_path(job.handle, nil) == DSM_USAGE)
    #expect(job.message == "path is a null pointer")
    #expect(dsm_job_set_input_bytes(job.handle, nil, 1) == DSM_USAGE)
    #expect(dsm_job_set_input_bytes(job.handle, nil, 0) == DSM_OK)
    #expect(job.message == "")
    #expect(dsm_job_set_input_reader(job.handle, nil) == DSM_USAGE)
    #expect(dsm_job_add_path(job.handle, nil, nil, 0) == DSM_USAGE)
    #expect(dsm_job_add_writer(job.handle, nil, nil, nil) == DSM_USAGE)
    #expect(dsm_job_add_rows(job.handle, nil, DSM_PIXELS_RGB8, nil) == DSM_USAGE)
    #expect(dsm_job_probe(job.handle, nil) == DSM_USAGE)
    #expect(dsm_job_plan(job.handle, nil) == DSM_USAGE)
    #expect(dsm_job_output(job.handle, 0, nil) == DSM_USAGE)
  }

  static let renditionOutOfRangeCases: [(message: String, change: @Sendable (inout dsm_rendition) -> Void)] = [
    ("max_pixel_size is -1; it takes 0 to 65500", { $0.max_pixel_size = -1 }),
    ("max_pixel_size is 65501; it takes 0 to 65500", { $0.max_pixel_size = 65_501 }),
    ("format is 5; it takes 0 to 4", { $0.format = 5 }),
    ("format is -1; it takes 0 to 4", { $0.format = -1 }),
    ("quality is 0; it takes 1 to 100", { $0.quality = 0 }),
    ("quality is 2147483647; it takes 1 to 100", { $0.quality = .max }),
    ("chroma is 3; it takes 0 to 2", { $0.chroma = 3 }),
    ("effort is 10; it takes 1 to 9", { $0.effort = 10 }),
    ("progressive is 2; it takes 0 to 1", { $0.progressive = 2 }),
    ("depth is 12; it takes 0, 8 or 16", { $0.depth = 12 }),
    ("color is 3; it takes 0 to 2", { $0.color = 3 }),
    ("intent is 4; it takes 0 to 3", { $0.intent = 4 }),
    ("linear is -1; it takes 0 to 1", { $0.linear = -1 }),
    ("kernel is 6; it takes 0 to 5", { $0.kernel = 6 }),
    ("the last byte of background is 1; it takes 0 to 0", { $0.background.3 = 1 }),
    ("metadata is 3; it takes 0 to 2", { $0.metadata = 3 }),
    ("strip_gps is 7; it takes 0 to 1", { $0.strip_gps = 7 }),
    ("ignore_orientation is 2; it takes 0 to 1", { $0.ignore_orientation = 2 }),
    ("reserved is 1; it takes 0 to 0", { $0.reserved = 1 }),
  ]

  @Test(arguments: renditionOutOfRangeCases)
  func renditionOutOfRange(message: String, change: @Sendable (inout dsm_rendition) -> Void) {
    let job = CJob()
    var value = rendition(change)
    #expect(dsm_job_add_bytes(job.handle, &value) == DSM_USAGE)
    #expect(job.message == message)
  }

  static let optionsOutOfRangeCases: [(message: String, change: @Sendable (inout dsm_options) -> Void)] = [
    ("over_budget is 2; it takes 0 to 1", { $0.over_budget = 2 }),
    ("salvage is 2; it takes 0 to 1", { $0.salvage = 2 }),
    ("threads is 65; it takes 0 to 64", { $0.threads = 65 }),
    ("threads is -1; it takes 0 to 64", { $0.threads = -1 }),
    ("reserved is 3; it takes 0 to 0", { $0.reserved = 3 }),
    ("deadline_ms is -1; it takes 0 or more", { $0.deadline_ms = -1 }),
  ]

  @Test(arguments: optionsOutOfRangeCases)
  func optionsOutOfRange(message: String, change: @Sendable (inout dsm_options) -> Void) {
    let job = CJob()
    #expect(job.options(change) == DSM_USAGE)
    #expect(job.message == message)
  }

  @Test func otherArgumentsOutOfRange() {
    let job = CJob()
    #expect(dsm_job_add_path(job.handle, nil, "x", 2) == DSM_USAGE)
    #expect(job.message == "flags are 2; they take 0 or DSM_NO_CLOBBER, which is 1")
    #expect(dsm_job_set_input_descriptor(job.handle, -1) == DSM_USAGE)
    #expect(dsm_job_add_descriptor(job.handle, nil, -1) == DSM_USAGE)
    #expect(dsm_job_set_input_bytes(job.handle, job.bytesOfNothing, -1) == DSM_USAGE)
    #expect(job.message == "size is 18446744073709551615; it takes 9223372036854775807 at most")
    var sink = dsm_row_sink()
    sink.struct_size = MemoryLayout<dsm_row_sink>.size
    #expect(dsm_job_add_rows(job.handle, nil, DSM_PIXELS_RGB8, &sink) == DSM_USAGE)
    #expect(job.message == "a dsm_row_sink has neither begin nor row")
    sink.row = { _, _, _, _ in 0 }
    #expect(dsm_job_add_rows(job.handle, nil, dsm_pixel_format(0), &sink) == DSM_USAGE)
    #expect(job.message == "the pixel format is 0; it takes 1 to 7")
    #expect(dsm_job_add_rows(job.handle, nil, dsm_pixel_format(.max), &sink) == DSM_USAGE)
    var reader = dsm_reader()
    reader.struct_size = MemoryLayout<dsm_reader>.size
    #expect(dsm_job_set_input_reader(job.handle, &reader) == DSM_USAGE)
    reader.read_at = { _, _, _, _ in 0 }
    #expect(dsm_job_set_input_reader(job.handle, &reader) == DSM_USAGE)
    #expect(job.message == "byte_count is 0; read_at needs the number of bytes")
    reader.byte_count = 1 << 63
    #expect(dsm_job_set_input_reader(job.handle, &reader) == DSM_USAGE)
  }

  @Test func aJobWithoutInputOrOutput() throws {
    let job = CJob()
    #expect(job.run() == DSM_USAGE)
    #expect(job.message == "the job has no output")
    dsm_job_add_bytes(job.handle, nil)
    #expect(job.run() == DSM_USAGE)
    #expect(job.message == "the job has no input")
    #expect(try job.json()["error"] != nil)
    var output = dsm_output()
    output.struct_size = MemoryLayout<dsm_output>.size
    #expect(dsm_job_output(job.handle, 0, &output) == DSM_USAGE)
    for _ in 1..<16 { #expect(dsm_job_add_bytes(job.handle, nil) == DSM_OK) }
    #expect(dsm_job_add_bytes(job.handle, nil) == DSM_USAGE)
    #expect(job.message == "the job has 16 outputs; it takes 16 at most")
  }

  /// The largest numbers of every kind, all at once.
  @Test func hugeNumbers() throws {
    let file = Held(Picture(CPIC_PHOTO, 64, 48).jpeg())
    let job = CJob()
    let ledger = dsm_ledger_create(.max)
    defer { dsm_ledger_destroy(ledger) }
    for memory in [UInt64.max - 1, 1 << 63, (1 << 63) - 1, .max] {
      let status = job.options {
        $0.memory = memory
        $0.deadline_ms = .max
        $0.ledger = ledger
      }
      #expect(status == DSM_OK)
      dsm_job_set_input_bytes(job.handle, file.memory.baseAddress, file.count)
      var plan = dsm_plan()
      plan.struct_size = MemoryLayout<dsm_plan>.size
      #expect(dsm_job_plan(job.handle, &plan) == DSM_OK, "\(job.message)")
      #expect(plan.fits == 1)
    }
    var output = dsm_output()
    output.struct_size = MemoryLayout<dsm_output>.size
    dsm_job_add_bytes(job.handle, nil)
    #expect(job.run() == DSM_OK, "\(job.message)")
    #expect(dsm_job_output(job.handle, .max, &output) == DSM_USAGE)
    #expect(dsm_job_output(job.handle, -1, &output) == DSM_USAGE)
    #expect(job.message == "there is no output 18446744073709551615: 1 were made, from 0 on")
    #expect(dsm_job_warning(job.handle, .max) == nil)
    #expect(dsm_job_warning(job.handle, -1) == nil)
    #expect(dsm_thumbnail("x", "y", .max, nil, .max) == DSM_USAGE)
  }

  @Test func statusNames() {
    #expect(String(cString: dsm_status_name(DSM_OK)) == "ok")
    #expect(String(cString: dsm_status_name(dsm_status(1))) == "unknown")
    #expect(String(cString: dsm_status_name(dsm_status(.max))) == "unknown")
    for code in Downsample.DownsampleError.Code.allCases {
      #expect(String(cString: dsm_status_name(dsm_status(UInt32(code.rawValue)))) == code.name)
    }
    let known = [
      DSM_USAGE, DSM_DAMAGED_DATA, DSM_NO_INPUT, DSM_UNSUPPORTED, DSM_INTERNAL_FAULT, DSM_CANNOT_CREATE,
      DSM_INPUT_OUTPUT, DSM_DEADLINE_PASSED, DSM_OVER_BUDGET, DSM_CANCELLED,
    ]
    #expect(known.map { Int32($0.rawValue) } == Downsample.DownsampleError.Code.allCases.map(\.rawValue))
    #expect(
      String(cString: dsm_version()) == "\(DSM_VERSION_MAJOR).\(DSM_VERSION_MINOR).\(DSM_VERSION_PATCH)")
  }
}

extension CJob {
  fileprivate var bytesOfNothing: UnsafeRawPointer { UnsafeRawPointer(handle) }
}
