import CDownsample
import Downsample

/// A struct of the header that begins with its size, as the program that was compiled with it knows it.
protocol SizedStruct {
  init()
  /// Its size in the first version that had it. Once fields are added, where the first of them begins.
  static var firstSize: Int { get }
  /// What its _INIT macro says.
  static var defaults: Self { get }
}

extension SizedStruct {
  /// For messages.
  static var name: String { "\(Self.self)" }
  static var defaults: Self { Self() }
  static var firstSize: Int { MemoryLayout<Self>.size }

  /// A size beyond this is none: memory that was never set.
  private static var largestSize: Int { 4096 }

  /// The program's struct, with the defaults for what it does not know.
  ///
  /// - Throws: `.usage` for null, or a size that no version of it has.
  static func read(_ pointer: UnsafePointer<Self>?) throws(DownsampleError) -> Self {
    let (source, size) = try known(pointer)
    var value = defaults
    withUnsafeMutableBytes(of: &value) { $0.copyMemory(from: UnsafeRawBufferPointer(start: source, count: size)) }
    return value
  }

  /// Writes this over the program's struct, as far as that reaches, but for its size.
  ///
  /// - Throws: as `read`.
  func write(to pointer: UnsafeMutablePointer<Self>?) throws(DownsampleError) {
    let (_, size) = try Self.known(UnsafePointer(pointer))
    withUnsafeBytes(of: self) { bytes in
      let fields = MemoryLayout<Int>.size..<size
      UnsafeMutableRawPointer(pointer!).advanced(by: fields.lowerBound)
        .copyMemory(from: bytes.baseAddress!.advanced(by: fields.lowerBound), byteCount: fields.count)
    }
  }

  /// The program's struct, and how many of its bytes are known here.
  private static func known(_ pointer: UnsafePointer<Self>?) throws(DownsampleError) -> (UnsafeRawPointer, Int) {
    guard let pointer else { throw DownsampleError(.usage, "a null pointer was given where a \(name) is needed") }
    let raw = UnsafeRawPointer(pointer)
    let size = raw.loadUnaligned(as: Int.self)
    guard (firstSize...largestSize).contains(size) else {
      throw DownsampleError(
        .usage,
        "struct_size of a \(name) is \(UInt(bitPattern: size)); it takes \(firstSize) to \(largestSize): set it by \(name.uppercased())_INIT"
      )
    }
    return (raw, min(size, MemoryLayout<Self>.size))
  }
}

extension dsm_rendition: SizedStruct {
  static var defaults: dsm_rendition {
    var value = dsm_rendition()
    value.max_pixel_size = 2048
    value.quality = 85
    value.effort = 2
    value.intent = Int32(DSM_INTENT_RELATIVE.rawValue)
    value.kernel = Int32(DSM_KERNEL_LANCZOS3.rawValue)
    value.background = (255, 255, 255, 0)
    return value
  }
}

extension dsm_options: SizedStruct {}
extension dsm_reader: SizedStruct {}
extension dsm_row_sink: SizedStruct {}
extension dsm_header: SizedStruct {}
extension dsm_plan: SizedStruct {}
extension dsm_output: SizedStruct {}
