// The names are the header's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CDownsample
import Downsample

extension Int {
  /// More than any machine has, and little enough that sums with it do not overflow.
  private static var mostMemory: UInt64 { 1 << 60 }

  /// A number of bytes that a program gives; above an exabyte they are all the same.
  init(bytes: UInt64) { self = Int(Swift.min(bytes, Self.mostMemory)) }
}

extension Ledger {
  /// What a handle stands for.
  static func of(_ handle: OpaquePointer) -> Ledger {
    Unmanaged<Ledger>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
  }
}

@c @implementation
public func dsm_ledger_create(_ capacity: UInt64) -> OpaquePointer! {
  OpaquePointer(Unmanaged.passRetained(Ledger(capacity: Int(bytes: capacity))).toOpaque())
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
