/// Memory that one part of a piece of work holds.
public struct MemoryUse: Sendable, Equatable {
  /// For people: "resampler, luma", "libjpeg".
  public var name: String
  /// Resident bytes at most.
  public var bytes: Int

  public init(_ name: String, _ bytes: Int) {
    self.name = name
    self.bytes = bytes
  }
}

extension Sequence<MemoryUse> {
  /// The bytes of all of them; `Int.max` where that is more than can be counted.
  public var totalBytes: Int {
    reduce(0) { sum, use in
      let (total, isTooMuch) = sum.addingReportingOverflow(use.bytes)
      return isTooMuch ? .max : total
    }
  }
}
