// The names are the header's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CDownsample
import Downsample

extension Ledger {
  /// What a handle stands for.
  static func of(_ handle: OpaquePointer) -> Ledger {
    Unmanaged<Ledger>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
  }
}

@c @implementation
public func dsm_ledger_create(_ capacity: UInt64) -> OpaquePointer! {
  OpaquePointer(Unmanaged.passRetained(Ledger(capacity: Int(clamping: capacity))).toOpaque())
}

@c @implementation
public func dsm_ledger_destroy(_ ledger: OpaquePointer?) {
  if let ledger { Unmanaged<Ledger>.fromOpaque(UnsafeRawPointer(ledger)).release() }
}

@c @implementation
public func dsm_ledger_reserved_bytes(_ ledger: OpaquePointer?) -> UInt64 {
  ledger.map { UInt64(Ledger.of($0).reservedBytes) } ?? 0
}

@c @implementation
public func dsm_configure_process() -> Int32 { Allocator.configure() ? 1 : 0 }

@c @implementation
public func dsm_peak_resident_bytes() -> UInt64 { UInt64(Footprint.peakResidentBytes) }
