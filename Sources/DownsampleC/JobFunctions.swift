// The names are the header's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CDownsample
import Downsample

extension Job {
  /// What a handle stands for.
  fileprivate static func of(_ handle: OpaquePointer) -> Job {
    Unmanaged<Job>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
  }

  /// Calls `body` with the job, keeps what it throws as the job's message, and gives its status.
  fileprivate static func call(
    _ handle: OpaquePointer?, _ body: (Job) throws(DownsampleError) -> Void
  ) -> dsm_status {
    guard let handle else { return DSM_USAGE }
    let job = of(handle)
    do throws(DownsampleError) {
      try body(job)
      job.message = CText("")
      return DSM_OK
    } catch {
      job.message = CText(error.message)
      return error.status
    }
  }
}

private func needed<Value>(_ value: Value?, _ name: String) throws(DownsampleError) -> Value {
  guard let value else { throw DownsampleError(.usage, "\(name) is a null pointer") }
  return value
}

@c @implementation
public func dsm_job_create() -> OpaquePointer! {
  OpaquePointer(Unmanaged.passRetained(Job()).toOpaque())
}

@c @implementation
public func dsm_job_destroy(_ job: OpaquePointer?) {
  if let job { Unmanaged<Job>.fromOpaque(UnsafeRawPointer(job)).release() }
}

@c @implementation
public func dsm_job_set_options(_ job: OpaquePointer?, _ options: UnsafePointer<dsm_options>?) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in job.options = try Options(options) }
}

// MARK: Input

@c @implementation
public func dsm_job_set_input_path(_ job: OpaquePointer?, _ path: UnsafePointer<CChar>?) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in job.input = .path(Path(cString: try needed(path, "path"))) }
}

@c @implementation
public func dsm_job_set_input_descriptor(_ job: OpaquePointer?, _ descriptor: Int32) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in
    guard descriptor >= 0 else { throw DownsampleError(.usage, "descriptor is \(descriptor); it takes 0 or more") }
    job.input = .descriptor(descriptor)
  }
}

@c @implementation
public func dsm_job_set_input_bytes(
  _ job: OpaquePointer?, _ bytes: UnsafeRawPointer?, _ size: Int
) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in
    guard size >= 0 else {
      throw DownsampleError(.usage, "size is \(UInt(bitPattern: size)); it takes \(Int.max) at most")
    }
    if size > 0 { _ = try needed(bytes, "bytes") }
    job.input = .bytes(UnsafeRawBufferPointer(start: bytes, count: size))
  }
}

@c @implementation
public func dsm_job_set_input_reader(_ job: OpaquePointer?, _ reader: UnsafePointer<dsm_reader>?) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in job.input = .reader(try Reader(reader)) }
}

// MARK: Outputs

@c @implementation
public func dsm_job_add_path(
  _ job: OpaquePointer?, _ rendition: UnsafePointer<dsm_rendition>?, _ path: UnsafePointer<CChar>?, _ flags: UInt32
) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in
    let path = Path(cString: try needed(path, "path"))
    let noClobber = UInt32(DSM_NO_CLOBBER)
    guard flags & ~noClobber == 0 else {
      throw DownsampleError(.usage, "flags are \(flags); they take 0 or DSM_NO_CLOBBER, which is \(noClobber)")
    }
    try job.add(
      try Rendition(rendition, path: path), .path(path, replacesExisting: flags & noClobber == 0))
  }
}

@c @implementation
public func dsm_job_add_descriptor(
  _ job: OpaquePointer?, _ rendition: UnsafePointer<dsm_rendition>?, _ descriptor: Int32
) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in
    guard descriptor >= 0 else { throw DownsampleError(.usage, "descriptor is \(descriptor); it takes 0 or more") }
    try job.add(try Rendition(rendition), .descriptor(descriptor))
  }
}

@c @implementation
public func dsm_job_add_bytes(_ job: OpaquePointer?, _ rendition: UnsafePointer<dsm_rendition>?) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in try job.add(try Rendition(rendition), .bytes) }
}

@c @implementation
public func dsm_job_add_writer(
  _ job: OpaquePointer?, _ rendition: UnsafePointer<dsm_rendition>?, _ write: dsm_write_fn?,
  _ user: UnsafeMutableRawPointer?
) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in
    try job.add(try Rendition(rendition), .writer(Writer(write: try needed(write, "write"), user: user)))
  }
}

@c @implementation
public func dsm_job_add_rows(
  _ job: OpaquePointer?, _ rendition: UnsafePointer<dsm_rendition>?, _ format: dsm_pixel_format,
  _ sink: UnsafePointer<dsm_row_sink>?
) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in
    let pixelFormat = try Values.pixelFormat(format)
    try job.add(try Rendition(rendition, pixelFormat: pixelFormat), .rows(try RowCallbacks(sink)))
  }
}

// MARK: Work

extension dsm_header {
  fileprivate init(_ header: ImageHeader) {
    self.init()
    withUnsafeMutableBytes(of: &kind) { field in
      // The last byte stays zero.
      for (index, byte) in header.kind.utf8.prefix(field.count - 1).enumerated() { field[index] = byte }
    }
    width = Int32(clamping: header.size.width)
    height = Int32(clamping: header.size.height)
    coded_width = Int32(clamping: header.codedSize.width)
    coded_height = Int32(clamping: header.codedSize.height)
    orientation = Int32(header.orientation.rawValue)
    depth = Int32(header.depth)
    has_alpha = header.hasAlpha ? 1 : 0
    byte_count = UInt64(clamping: header.fileByteCount ?? 0)
  }
}

extension dsm_plan {
  fileprivate init(_ plan: Plan) {
    self.init()
    fits = plan.fits ? 1 : 0
    threads = Int32(clamping: plan.threads)
    predicted_peak_bytes = UInt64(clamping: plan.predictedPeakBytes)
    added_bytes = UInt64(clamping: plan.addedBytes)
    limit_bytes = UInt64(clamping: plan.limitBytes)
    largest_fitting_size = Int32(clamping: plan.largestFittingSize ?? 0)
  }
}

@c @implementation
public func dsm_job_probe(_ job: OpaquePointer?, _ header: UnsafeMutablePointer<dsm_header>?) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in
    _ = try dsm_header.read(header)
    try dsm_header(try job.probe()).write(to: header)
  }
}

@c @implementation
public func dsm_job_plan(_ job: OpaquePointer?, _ plan: UnsafeMutablePointer<dsm_plan>?) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in
    _ = try dsm_plan.read(plan)
    try dsm_plan(try job.plan()).write(to: plan)
  }
}

@c @implementation
public func dsm_job_run(_ job: OpaquePointer?) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in try job.run() }
}

@c @implementation
public func dsm_job_cancel(_ job: OpaquePointer?) {
  if let job { Job.of(job).canceller.cancel() }
}

// MARK: Results

@c @implementation
public func dsm_job_message(_ job: OpaquePointer?) -> UnsafePointer<CChar>! {
  job.map { Job.of($0).message.pointer } ?? constant("")
}

@c @implementation
public func dsm_job_report(_ job: OpaquePointer?) -> UnsafePointer<CChar>! {
  job.flatMap { Job.of($0).report?.pointer }
}

@c @implementation
public func dsm_job_warning(_ job: OpaquePointer?, _ index: Int) -> UnsafePointer<CChar>! {
  guard let job else { return nil }
  let warnings = Job.of(job).warnings
  return warnings.indices.contains(index) ? warnings[index].pointer : nil
}

@c @implementation
public func dsm_job_output(
  _ job: OpaquePointer?, _ index: Int, _ output: UnsafeMutablePointer<dsm_output>?
) -> dsm_status {
  Job.call(job) { job throws(DownsampleError) in
    let (made, collected) = try job.output(index)
    var fields = dsm_output()
    fields.width = Int32(clamping: made.size.width)
    fields.height = Int32(clamping: made.size.height)
    fields.byte_count = UInt64(made.byteCount)
    // They stay where they are once the work is done, as long as the job keeps their collector.
    fields.bytes = collected?.withUnsafeBytes { $0.baseAddress }
    try fields.write(to: output)
  }
}
