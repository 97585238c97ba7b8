import CKernels
import Glibc
import KernelVariants
import TestPictures
import Testing

/// Every variant of every kernel gives the bytes that the baseline gives: of every size class, from and to every alignment that
/// the samples can have, with values at the ends of their ranges.
@Suite struct AgreementTests {
  private static let most = 4099
  /// Rows that a kernel may take, and the most bytes of a sample times the most channels.
  private static let rows = Int(CK_BATCH)
  private static let stride = (most + 61) * 4

  /// What a kernel is given: bytes of samples that may hold anything, or floats; `stride` samples between rows.
  private struct Place {
    let bytes: UnsafeRawPointer
    let out: UnsafeMutableRawPointer
    /// Tables and weights, the same for all.
    let weights: [Int16]
    let floats: [Float]
    let starts: [Int32]
    let columns: UnsafeMutableRawPointer

    func source<T>(_ type: T.Type, row: Int = 0) -> UnsafePointer<T> {
      (bytes + row * AgreementTests.stride * MemoryLayout<T>.stride).assumingMemoryBound(to: T.self)
    }

    func rows<T>(_ type: T.Type, _ count: Int) -> [UnsafePointer<T>?] { (0..<count).map { source(T.self, row: $0) } }

    func target<T>(_ type: T.Type) -> UnsafeMutablePointer<T> { out.assumingMemoryBound(to: T.self) }
  }

  private struct Kernel: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isFloat: Bool
    /// Bytes of a sample of the input and of the output: what alignments go up by.
    let sample: (Int, Int)
    let channels: [Int]
    let call: @Sendable (kernel_table, Place, Int, Int, Int) -> Void

    init(
      _ name: String, _ sample: (Int, Int), _ channels: [Int] = [1], isFloat: Bool = false,
      _ call: @escaping @Sendable (kernel_table, Place, Int, Int, Int) -> Void
    ) {
      testDescription = name
      self.sample = sample
      self.channels = channels
      self.isFloat = isFloat
      self.call = call
    }
  }

  private static func axis(_ place: Place, _ count: Int, taps: Int, _ body: (ck_axis) -> Void) {
    place.starts.withUnsafeBufferPointer {
      body(ck_axis(starts: $0.baseAddress, taps: Int32(taps), count: Int32(count)))
    }
  }

  private static let resampling: [Kernel] = [
    Kernel("vertical_u8", (1, 2)) { k, p, n, _, taps in
      k.vertical_u8(p.rows(UInt8.self, taps), p.weights, Int32(taps), p.target(Int16.self), n)
    },
    Kernel("vertical_u16", (2, 4)) { k, p, n, _, taps in
      k.vertical_u16(p.rows(UInt16.self, taps), p.floats, Int32(taps), p.target(Float.self), n)
    },
    Kernel("columns_f32", (4, 4), isFloat: true) { k, p, n, _, _ in
      k.columns_f32(p.source(Float.self), stride, min(n, 300), p.target(Float.self))
    },
    Kernel("columns_u8", (1, 2)) { k, p, n, _, _ in
      k.columns_u8(p.source(UInt8.self), stride, min(n, 300), p.target(Int16.self))
    },
    Kernel("columns_u16", (2, 4)) { k, p, n, _, _ in
      k.columns_u16(p.source(UInt16.self), stride, min(n, 300), p.target(Float.self))
    },
    Kernel("horizontal_u8", (2, 1), [1, 2, 3, 4]) { k, p, n, channels, taps in
      let (n, even) = (min(n, 300), (taps + 1) & ~1)
      axis(p, n, taps: even) {
        k.horizontal_u8(
          p.source(Int16.self), stride, n, Int32(channels), $0, p.weights, -70000,
          p.columns.assumingMemoryBound(to: Int16.self),
          even + n % 40 & ~1, p.target(UInt8.self), n * channels + 1)
      }
    },
    Kernel("horizontal_f32_u8", (4, 1), [1, 2, 3, 4], isFloat: true) { k, p, n, channels, taps in
      let n = min(n, 300)
      axis(p, n, taps: taps) {
        k.horizontal_f32_u8(
          p.source(Float.self), stride, Int32(channels), $0, p.floats, 0.01, -3,
          p.columns.assumingMemoryBound(to: Float.self),
          taps + n % 40, p.target(UInt8.self), n * channels + 1)
      }
    },
    Kernel("horizontal_f32_u16", (4, 2), [1, 2, 3, 4], isFloat: true) { k, p, n, channels, taps in
      let n = min(n, 300)
      axis(p, n, taps: taps) {
        k.horizontal_f32_u16(
          p.source(Float.self), stride, Int32(channels), $0, p.floats, 1, -3, 65535,
          p.columns.assumingMemoryBound(to: Float.self),
          taps + n % 40, p.target(UInt16.self), n * channels + 1)
      }
    },
    Kernel("horizontal_premultiplied", (4, 2), [2, 4], isFloat: true) { k, p, n, channels, taps in
      let n = min(n, 300)
      axis(p, n, taps: taps) {
        k.horizontal_premultiplied(
          p.source(Float.self), stride, Int32(channels), $0, p.floats, 1, 65535,
          p.columns.assumingMemoryBound(to: Float.self),
          taps + n % 40, p.target(UInt16.self), n * channels + 1)
      }
    },
    Kernel("mean_add_u8", (1, 4)) { k, p, n, _, _ in k.mean_add_u8(p.source(UInt8.self), 0.3, p.target(Float.self), n)
    },
    Kernel("mean_add_u16", (2, 4)) { k, p, n, _, _ in
      k.mean_add_u16(p.source(UInt16.self), 0.3, p.target(Float.self), n)
    },
    Kernel("box_add_u8", (1, 4)) { k, p, n, _, _ in k.box_add_u8(p.source(UInt8.self), p.target(UInt32.self), n) },
    Kernel("box_add_u16", (2, 4)) { k, p, n, _, _ in k.box_add_u16(p.source(UInt16.self), p.target(UInt32.self), n) },
    Kernel("pass_i16", (2, 2), [1, 2, 3, 4]) { k, p, n, channels, taps in
      let n = min(n, 300)
      axis(p, n, taps: taps) {
        k.pass_i16(
          p.source(Int16.self), Int32(channels), $0, ck_pass(first: 1, shift: 1, count: 120), p.weights, 13,
          p.target(Int16.self), n * channels)
      }
    },
    Kernel("pass_f32_i16", (4, 2), [1, 2, 3, 4], isFloat: true) { k, p, n, channels, taps in
      let n = min(n, 300)
      axis(p, n, taps: taps) {
        k.pass_f32_i16(
          p.source(Float.self), Int32(channels), $0, ck_pass(first: 1, shift: 1, count: 120), p.floats, 0.5, 13,
          p.target(Int16.self), n * channels)
      }
    },
    Kernel("pass_f32", (4, 4), [1, 2, 3, 4], isFloat: true) { k, p, n, channels, taps in
      let n = min(n, 300)
      axis(p, n, taps: taps) {
        k.pass_f32(
          p.source(Float.self), Int32(channels), $0, ck_pass(first: 1, shift: 1, count: 120), p.floats, 13,
          p.target(Float.self), n * channels)
      }
    },
    Kernel("add_rows_i16", (2, 2)) { k, p, n, _, taps in
      k.add_rows_i16(p.rows(Int16.self, taps), p.floats, Int32(taps), p.target(Int16.self), n)
    },
    Kernel("add_rows_f32", (4, 4), isFloat: true) { k, p, n, _, taps in
      k.add_rows_f32(p.rows(Float.self, taps), p.floats, Int32(taps), p.target(Float.self), n)
    },
    Kernel("finish_i16_u8", (2, 1)) { k, p, n, _, _ in
      k.finish_i16_u8(p.source(Int16.self), n, 0.02, 1, 255, p.target(UInt8.self))
    },
    Kernel("finish_i16_u16", (2, 2)) { k, p, n, _, _ in
      k.finish_i16_u16(p.source(Int16.self), n, 3, 1, 65535, p.target(UInt16.self))
    },
    Kernel("finish_f32_u16", (4, 2), isFloat: true) { k, p, n, _, _ in
      k.finish_f32_u16(p.source(Float.self), n, 1.1, 1, 65535, p.target(UInt16.self))
    },
  ]

  private static let colors: [Kernel] = [
    Kernel("widen", (1, 2)) { k, p, n, _, _ in k.widen(p.source(UInt8.self), n, p.target(UInt16.self)) },
    Kernel("narrow", (2, 1)) { k, p, n, _, _ in k.narrow(p.source(UInt16.self), n, p.target(UInt8.self)) },
    Kernel("cmyk_u8", (1, 1)) { k, p, n, _, _ in k.cmyk_u8(p.source(UInt8.self), n, 1, p.target(UInt8.self)) },
    Kernel("premultiply_u8", (1, 2), [2, 4]) { k, p, n, c, _ in
      k.premultiply_u8(p.source(UInt8.self), Int32(c), n, p.target(UInt16.self))
    },
    Kernel("premultiply_u16", (2, 2), [2, 4]) { k, p, n, c, _ in
      k.premultiply_u16(p.source(UInt16.self), Int32(c), n, p.target(UInt16.self))
    },
    Kernel("unpremultiply_u8", (2, 1), [2, 4]) { k, p, n, c, _ in
      k.unpremultiply_u8(p.source(UInt16.self), Int32(c), n, 65535, p.target(UInt8.self))
    },
    Kernel("unpremultiply_u16", (2, 2), [2, 4]) { k, p, n, c, _ in
      k.unpremultiply_u16(p.source(UInt16.self), Int32(c), n, 65535, p.target(UInt16.self))
    },
    Kernel("flatten_u8", (2, 1), [2, 4]) { k, p, n, c, _ in
      k.flatten_u8(p.source(UInt16.self), Int32(c), n, 65535, [1, 200, 255], p.target(UInt8.self))
    },
    Kernel("flatten_u16", (2, 2), [2, 4]) { k, p, n, c, _ in
      k.flatten_u16(p.source(UInt16.self), Int32(c), n, 65535, [1, 20000, 65535], p.target(UInt16.self))
    },
    Kernel("interleave_u8", (1, 1), [1, 2, 3, 4]) { k, p, n, c, _ in
      k.interleave_u8(p.rows(UInt8.self, c), Int32(c), n, p.target(UInt8.self))
    },
    Kernel("interleave_u16", (2, 2), [1, 2, 3, 4]) { k, p, n, c, _ in
      k.interleave_u16(p.rows(UInt16.self, c), Int32(c), n, p.target(UInt16.self))
    },
    Kernel("matrix_u8", (1, 1), [3, 4]) { k, p, n, c, _ in
      var matrix = ycc(maximum: 255)
      k.matrix_u8(p.rows(UInt8.self, 3), c == 4 ? p.source(UInt8.self, row: 3) : nil, n, &matrix, p.target(UInt8.self))
    },
    Kernel("matrix_u16", (2, 2), [3, 4]) { k, p, n, c, _ in
      var matrix = ycc(maximum: 65535)
      k.matrix_u16(
        p.rows(UInt16.self, 3), c == 4 ? p.source(UInt16.self, row: 3) : nil, n, &matrix, p.target(UInt16.self))
    },
    Kernel("shape_u8_u8", (1, 1), [3, 4]) { k, p, n, c, _ in
      shaper { k.shape_u8_u8(p.source(UInt8.self), Int32(c), n, $0, p.target(UInt8.self)) }
    },
    Kernel("shape_u8_u16", (1, 2), [3, 4]) { k, p, n, c, _ in
      shaper { k.shape_u8_u16(p.source(UInt8.self), Int32(c), n, $0, p.target(UInt16.self)) }
    },
    Kernel("shape_u16_u8", (2, 1), [3, 4]) { k, p, n, c, _ in
      shaper { k.shape_u16_u8(p.source(UInt16.self), Int32(c), n, $0, p.target(UInt8.self)) }
    },
    Kernel("shape_u16_u16", (2, 2), [3, 4]) { k, p, n, c, _ in
      shaper { k.shape_u16_u16(p.source(UInt16.self), Int32(c), n, $0, p.target(UInt16.self)) }
    },
  ]

  private static func ycc(maximum: Float) -> ck_matrix {
    var matrix = ck_matrix()
    matrix.matrix = (1, 0, 1.402, 1, -0.344136, -0.714136, 1, 1.772, 0)
    matrix.offset = (0, (maximum + 1) / 2, (maximum + 1) / 2)
    matrix.maximum = maximum
    matrix.alpha_scale = 1
    return matrix
  }

  private static let light = (0...8192).map { powf(Float($0) / 8192, 1.7) }
  private static let codes = (0...Int(CK_CODE_STEPS)).map { sqrtf(Float($0) / Float(CK_CODE_STEPS)) * 65535 }
  private static let bytes = codes.map { UInt8($0 / 257) }

  private static func shaper(_ body: (UnsafePointer<ck_shaper>) -> Void) {
    light.withUnsafeBufferPointer { light in
      codes.withUnsafeBufferPointer { codes in
        bytes.withUnsafeBufferPointer { bytes in
          let table = light.baseAddress
          var shaper = ck_shaper(
            light: (table, table, table), matrix: (1.3, -0.3, 0.01, -0.1, 1.2, -0.2, 0, 0.1, 0.9),
            codes: codes.baseAddress,
            bytes: bytes.baseAddress)
          body(&shaper)
        }
      }
    }
  }

  private static let sizes =
    Array(1...130) + [159, 160, 161, 191, 192, 193, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, most]
  private static let tapCounts = [1, 2, 3, 4, 5, 7, 12, 13, 16]

  @Test(arguments: resampling + colors) private func variantsAgree(_ kernel: Kernel) throws {
    var noise = Noise(90)
    let most = Self.stride * Self.rows
    let page = 64
    // Half of the samples at an end of their range.
    let source = UnsafeMutableRawPointer.allocate(byteCount: most * kernel.sample.0 + page, alignment: 64)
    let outBytes = Self.most * 4 * 4 + 300 * 4 * 16 * 4 + 4096
    let outs = (0..<2).map { _ in UnsafeMutableRawPointer.allocate(byteCount: outBytes, alignment: 64) }
    let columns = UnsafeMutableRawPointer.allocate(byteCount: 64 * 4 * 64 * 4, alignment: 64)
    defer { for memory in [source, columns] + outs { memory.deallocate() } }
    if kernel.isFloat {
      let floats = source.assumingMemoryBound(to: Float.self)
      for i in 0..<most + page / 4 {
        floats[i] = i % 3 == 0 ? 65535 : i % 5 == 0 ? -1e4 : Float(noise.next() & 0xFFFFF) / 16
      }
    } else {
      let words = source.assumingMemoryBound(to: UInt64.self)
      for i in 0..<(most * kernel.sample.0 + page) / 8 {
        let value = noise.next()
        words[i] = i % 4 == 0 ? .max : i % 4 == 1 ? 0 : i % 16 == 2 ? 0x8000_7FFF_FF00_00FF : value
      }
    }
    let weights = (0..<16 * 310).map { Int16(truncatingIfNeeded: 1900 - $0 % 7 * 600) }
    let place = { (offset: (Int, Int), out: Int) in
      Place(
        bytes: source + offset.0, out: outs[out] + offset.1, weights: weights,
        floats: weights.map { Float($0) / 16384 },
        starts: (0..<300).map { Int32($0 / 3 * 2) }, columns: columns)
    }
    func compare(_ size: Int, _ offset: (Int, Int), _ channels: Int, _ taps: Int) {
      let offset = (offset.0 / kernel.sample.0 * kernel.sample.0, offset.1 / kernel.sample.1 * kernel.sample.1)
      memset(outs[0], 0, outBytes)
      kernel.call(baseline, place(offset, 0), size, channels, taps)
      for variant in Variant.all where variant.testDescription != "baseline" {
        memset(outs[1], 0, outBytes)
        kernel.call(variant.kernels, place(offset, 1), size, channels, taps)
        #expect(
          memcmp(outs[0], outs[1], outBytes) == 0,
          "\(variant.testDescription): \(size) pixels of \(channels), \(taps) taps, bytes \(offset) from alignment")
      }
    }
    for (i, size) in Self.sizes.enumerated() {
      let channels = kernel.channels[i % kernel.channels.count]
      compare(size, (i * 5 % 64, i * 11 % 64), channels, Self.tapCounts[i % Self.tapCounts.count])
    }
    for alignment in 0..<64 {
      let channels = kernel.channels[alignment % kernel.channels.count]
      for size in [33, 130] {
        compare(size, (alignment, 63 - alignment), channels, 12)
        compare(size, (alignment, 0), channels, 3)
        compare(size, (0, alignment), channels, 13)
      }
    }
  }

  private var baseline: kernel_table {
    Variant.all.first { $0.testDescription == "baseline" }!.kernels
  }
}
