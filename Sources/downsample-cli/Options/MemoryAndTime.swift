import Downsample
import Raster

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension Invocation.Memory {
  /// "120MB", "64MiB", bytes, or "auto".
  init(_ text: String) throws(DownsampleError) {
    if text.lowercased() == "auto" {
      self = .automatic
    } else if let bytes = ByteCount.parse(text) {
      self = .ceiling(bytes)
    } else {
      throw DownsampleError(.usage, "'\(text)' is not a size such as 120MB, 64MiB or 50000000, nor auto")
    }
  }

  /// What the environment says; nil where it says nothing.
  static func fromEnvironment() throws(DownsampleError) -> Self? {
    guard let value = getenv("DOWNSAMPLE_MEMORY"), value.pointee != 0 else { return nil }
    do throws(DownsampleError) {
      return try Self(String(cString: value))
    } catch {
      throw DownsampleError(error.code, "DOWNSAMPLE_MEMORY: \(error.message)")
    }
  }

  var budget: MemoryBudget {
    switch self {
    case .ceiling(let bytes): MemoryBudget(ceiling: bytes)
    case .automatic: .automatic
    }
  }
}

extension Duration {
  /// "30s", "500ms", "2m", "1h", "1.5s"; seconds where no unit is given.
  init(option text: String) throws(DownsampleError) {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)]
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text.dropFirst(number.count).lowercased()
    // A number beyond what can be waited for is as good as none.
    guard let value = Double(number), let factor = units.first(where: { $0.0 == unit })?.1, value > 0,
      value * factor < 1e9
    else { throw DownsampleError(.usage, "'\(text)' is not a time such as 30s, 500ms or 2m") }
    self = .milliseconds((value * factor * 1000).rounded(.up))
  }
}
