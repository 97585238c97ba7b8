// The names are the header's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CDownsample
import Downsample

extension DownsampleError {
  var status: dsm_status { dsm_status(UInt32(bitPattern: code.rawValue)) }
}

/// Text that lasts as long as the process.
func constant(_ text: StaticString) -> UnsafePointer<CChar> {
  UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

/// By status; they last as long as the process.
private let statusNames: [Int32: CText] = Dictionary(
  uniqueKeysWithValues: DownsampleError.Code.allCases.map { ($0.rawValue, CText($0.name)) })

@c @implementation
public func dsm_version() -> UnsafePointer<CChar>! { constant(Downsampler.version) }

@c @implementation
public func dsm_status_name(_ status: dsm_status) -> UnsafePointer<CChar>! {
  if status == DSM_OK { return constant("ok") }
  return statusNames[Int32(bitPattern: status.rawValue)]?.pointer ?? constant("unknown")
}
