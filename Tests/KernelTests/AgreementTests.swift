import CKernels
import Glibc
import KernelVariants
import TestPictures
import Testing

/// Every variant of every kernel gives the bytes that the baseline gives: of every size class, from and to every alignment that
/// the samples can have, with values at the ends of their ranges; and writes nothing beside its output.
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

  private enum Input { case bits, floats, sums }

  /// What a kernel writes, in samples: `rows` of `count`, `stride` apart.
  private struct Extent {
    var count: Int
    var rows = 1
    var stride = 0
  }

  private struct Kernel: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let input: Input
    /// Bytes of a sample of the input and of the output: what alignments go up by.
    let sample: (Int, Int)
    let channels: [Int]
    let extent: @Sendable (_ pixels: Int, _ channels: Int, _ taps: Int) -> Extent
    let call: @Sendable (kernel_table, Place, Int, Int, Int) -> Void

    init(
      _ name: String, _ sample: (Int, Int), _ channels: [Int] = [1], _ input: Input = .bits,
      extent: @escaping @Sendable (Int, Int, Int) -> Extent = { n, channels, _ in Extent(count: n * channels) },
      _ call: @escaping @Sendable (kernel_table, Place, Int, Int, Int) -> Void
    ) {
      testDescription = name
      self.sample = sample
      self.channels = channels
      self.input = input
      self.extent = extent
      self.call = call
    }
  }

  /// Kernels whose work grows with channels and taps get so many pixels at most.
  private static let few = 300

  private static let toColumns: @Sendable (Int, Int, Int) -> Extent = { n, _, _ in
    Extent(count: min(n, few) * rows)
  }
  private static let toBatch: @Sendable (Int, Int, Int) -> Extent = { n, channels, _ in
    Extent(count: min(n, few) * channels, rows: rows, stride: min(n, few) * channels + 1)
  }
  private static let toPassRows: @Sendable (Int, Int, Int) -> Extent = { n, channels, _ in
    Extent(count: min(n, few) * channels * 13)
  }
  private static let toColors: @Sendable (Int, Int, Int) -> Extent = { n, channels, _ in
    Extent(count: n * (channels - 1))
  }
  private static let toRGB: @Sendable (Int, Int, Int) -> Extent = { n, _, _ in Extent(count: n * 3) }
  private static let toTurned: @Sendable (Int, Int, Int) -> Extent = { n, bytes, count in
    Extent(count: min(n, few) * bytes * count)
  }
  /// Boxes of as many pixels as there are taps.
  private static let toBoxes: @Sendable (Int, Int, Int) -> Extent = { n, channels, factor in
    Extent(count: (n + factor - 1) / factor * channels)
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
    Kernel("columns_f32", (4, 4), [1], .floats, extent: toColumns) { k, p, n, _, _ in
      k.columns_f32(p.source(Float.self), stride, min(n, few), p.target(Float.self))
    },
    Kernel("columns_u8", (1, 2), extent: toColumns) { k, p, n, _, _ in
      k.columns_u8(p.source(UInt8.self), stride, min(n, few), p.target(Int16.self))
    },
    Kernel("columns_u16", (2, 4), extent: toColumns) { k, p, n, _, _ in
      k.columns_u16(p.source(UInt16.self), stride, min(n, few), p.target(Float.self))
    },
    Kernel("horizontal_u8", (2, 1), [1, 2, 3, 4], extent: toBatch) { k, p, n, channels, taps in
      let (n, even) = (min(n, few), (taps + 1) & ~1)
      axis(p, n, taps: even) {
        k.horizontal_u8(
          p.source(Int16.self), stride, n, Int32(channels), $0, p.weights, -70000,
          p.columns.assumingMemoryBound(to: Int16.self),
          even + n % 40 & ~1, p.target(UInt8.self), n * channels + 1)
      }
    },
    Kernel("horizontal_f32_u8", (4, 1), [1, 2, 3, 4], .floats, extent: toBatch) { k, p, n, channels, taps in
      let n = min(n, few)
      axis(p, n, taps: taps) {
        k.horizontal_f32_u8(
          p.source(Float.self), stride, Int32(channels), $0, p.floats, 0.01, -3,
          p.columns.assumingMemoryBound(to: Float.self),
          taps + n % 40, p.target(UInt8.self), n * channels + 1)
      }
    },
    Kernel("horizontal_f32_u16", (4, 2), [1, 2, 3, 4], .floats, extent: toBatch) { k, p, n, channels, taps in
      let n = min(n, few)
      axis(p, n, taps: taps) {
        k.horizontal_f32_u16(
          p.source(Float.self), stride, Int32(channels), $0, p.floats, 1, -3, 65535,
          p.columns.assumingMemoryBound(to: Float.self),
          taps + n % 40, p.target(UInt16.self), n * channels + 1)
      }
    },
    Kernel("horizontal_premultiplied", (4, 2), [2, 4], .floats, extent: toBatch) { k, p, n, channels, taps in
      let n = min(n, few)
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
    Kernel("pass_i16", (2, 2), [1, 2, 3, 4], extent: toPassRows) { k, p, n, channels, taps in
      let n = min(n, few)
      axis(p, n, taps: taps) {
        k.pass_i16(
          p.source(Int16.self), Int32(channels), $0, ck_pass(first: 1, shift: 1, count: 120), p.weights, 13,
          p.target(Int16.self), n * channels)
      }
    },
    Kernel("pass_f32_i16", (4, 2), [1, 2, 3, 4], .floats, extent: toPassRows) { k, p, n, channels, taps in
      let n = min(n, few)
      axis(p, n, taps: taps) {
        k.pass_f32_i16(
          p.source(Float.self), Int32(channels), $0, ck_pass(first: 1, shift: 1, count: 120), p.floats, 0.5, 13,
          p.target(Int16.self), n * channels)
      }
    },
    Kernel("pass_f32", (4, 4), [1, 2, 3, 4], .floats, extent: toPassRows) { k, p, n, channels, taps in
      let n = min(n, few)
      axis(p, n, taps: taps) {
        k.pass_f32(
          p.source(Float.self), Int32(channels), $0, ck_pass(first: 1, shift: 1, count: 120), p.floats, 13,
          p.target(Float.self), n * channels)
      }
    },
    Kernel("add_rows_i16", (2, 2)) { k, p, n, _, taps in
      k.add_rows_i16(p.rows(Int16.self, taps), p.floats, Int32(taps), p.target(Int16.self), n)
    },
    Kernel("add_rows_f32", (4, 4), [1], .floats) { k, p, n, _, taps in
      k.add_rows_f32(p.rows(Float.self, taps), p.floats, Int32(taps), p.target(Float.self), n)
    },
    Kernel("finish_i16_u8", (2, 1)) { k, p, n, _, _ in
      k.finish_i16_u8(p.source(Int16.self), n, 0.02, 1, 255, p.target(UInt8.self))
    },
    Kernel("finish_i16_u16", (2, 2)) { k, p, n, _, _ in
      k.finish_i16_u16(p.source(Int16.self), n, 3, 1, 65535, p.target(UInt16.self))
    },
    Kernel("finish_f32_u16", (4, 2), [1], .floats) { k, p, n, _, _ in
      k.finish_f32_u16(p.source(Float.self), n, 1.1, 1, 65535, p.target(UInt16.self))
    },
    Kernel("finish_premultiplied_i16", (2, 2), [2, 4]) { k, p, n, c, _ in
      k.finish_premultiplied_i16(p.source(Int16.self), Int32(c), n, 3.98, 65025, p.target(UInt16.self))
    },
    Kernel("finish_premultiplied_f32", (4, 2), [2, 4], .floats) { k, p, n, c, _ in
      k.finish_premultiplied_f32(p.source(Float.self), Int32(c), n, 1.1, 65535, p.target(UInt16.self))
    },
    Kernel("box_mean", (4, 2), [1, 2, 3, 4], .sums, extent: toBoxes) { k, p, n, c, factor in
      k.box_mean(p.source(UInt32.self), n, Int32(c), factor, 256, 1, p.target(UInt16.self))
    },
    Kernel("box_pass_u8", (1, 4), [1, 2, 3, 4], extent: toBoxes) { k, p, n, c, factor in
      k.box_pass_u8(
        p.source(UInt8.self), Int32(c), ck_pass(first: 1, shift: 1, count: Int32(n / 2)), factor,
        p.target(Float.self))
    },
    Kernel("box_pass_u16", (2, 4), [1, 2, 3, 4], extent: toBoxes) { k, p, n, c, factor in
      k.box_pass_u16(
        p.source(UInt16.self), Int32(c), ck_pass(first: 1, shift: 1, count: Int32(n / 2)), factor,
        p.target(Float.self))
    },
  ]

  private static let colors: [Kernel] = [
    Kernel("widen", (1, 2)) { k, p, n, _, _ in k.widen(p.source(UInt8.self), n, p.target(UInt16.self)) },
    Kernel("narrow", (2, 1)) { k, p, n, _, _ in k.narrow(p.source(UInt16.self), n, p.target(UInt8.self)) },
    Kernel("cmyk_u8", (1, 1), extent: toRGB) { k, p, n, _, _ in
      k.cmyk_u8(p.source(UInt8.self), n, 1, p.target(UInt8.self))
    },
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
    Kernel("flatten_u8", (2, 1), [2, 4], extent: toColors) { k, p, n, c, _ in
      k.flatten_u8(p.source(UInt16.self), Int32(c), n, 65535, [1, 200, 255], p.target(UInt8.self))
    },
    Kernel("flatten_u16", (2, 2), [2, 4], extent: toColors) { k, p, n, c, _ in
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
    Kernel("curves_u8_u16", (1, 2), [1, 2, 3, 4]) { k, p, n, c, _ in
      curves(wordCurves, c) { k.curves_u8_u16(p.source(UInt8.self), Int32(c), n, $0, p.target(UInt16.self)) }
    },
    Kernel("curves_u16_u8", (2, 1), [1, 2, 3, 4]) { k, p, n, c, _ in
      curves(byteCurves, c) { k.curves_u16_u8(p.source(UInt16.self), Int32(c), n, $0, p.target(UInt8.self)) }
    },
    Kernel("curves_u16_u16", (2, 2), [1, 2, 3, 4]) { k, p, n, c, _ in
      curves(wordCurves, c) { k.curves_u16_u16(p.source(UInt16.self), Int32(c), n, $0, p.target(UInt16.self)) }
    },
    Kernel("tone_u8", (2, 1), [1, 2, 3, 4]) { k, p, n, c, taps in
      tone(maximum: 255, hasSystem: taps % 2 == 0) {
        k.tone_u8(p.source(UInt16.self), Int32(c), n, $0, p.target(UInt8.self))
      }
    },
    Kernel("tone_u16", (2, 2), [1, 2, 3, 4]) { k, p, n, c, taps in
      tone(maximum: 65535, hasSystem: taps % 2 == 0) {
        k.tone_u16(p.source(UInt16.self), Int32(c), n, $0, p.target(UInt16.self))
      }
    },
    // Rows into columns; pixels of as many bytes as there are channels, as many rows as taps, from right to left by turns.
    Kernel("turn", (1, 1), Array(1...8), extent: toTurned) {
      k, p, n, bytes, count in
      let isMirrored = n % 2 == 1
      let out = p.target(UInt8.self) + (isMirrored ? (count - 1) * bytes : 0)
      k.turn(
        p.bytes, stride, count, min(n, few), bytes, out, count * bytes, isMirrored ? -bytes : bytes)
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

  /// A table of its own for each colour; alpha has none.
  private static let wordCurves = (0..<65536 + 1024).map { UInt16(truncatingIfNeeded: $0 * 40503) }
  private static let byteCurves = wordCurves.map { UInt8($0 >> 8) }

  private static func curves<T>(_ tables: [T], _ channels: Int, _ body: (UnsafePointer<UnsafePointer<T>?>) -> Void) {
    tables.withUnsafeBufferPointer { tables in
      body(
        (0..<channels).map { c in
          channels % 2 == 0 && c == channels - 1 ? nil : tables.baseAddress.map { $0 + c * 256 }
        })
    }
  }

  private static let steps = (0...Int(CK_LIGHT_STEPS)).map { Float($0) / Float(CK_LIGHT_STEPS) }
  private static let toneSteps = (0...Int(CK_TONE_STEPS)).map { Float($0) / Float(CK_TONE_STEPS) }
  private static let toneLight = steps.map { powf($0, 2.4) }
  private static let system = toneSteps.map { powf($0, 0.8) * 1.2 }
  private static let gain = toneSteps.map { 1.5 - $0 }

  private static func tone(maximum: Float, hasSystem: Bool, _ body: (UnsafePointer<ck_tone>) -> Void) {
    toneLight.withUnsafeBufferPointer { light in
      system.withUnsafeBufferPointer { system in
        gain.withUnsafeBufferPointer { gain in
          toneSteps.withUnsafeBufferPointer { code in
            var tone = ck_tone(
              light: light.baseAddress, system: hasSystem ? system.baseAddress : nil, luma: (0.2627, 0.678, 0.0593),
              gain: gain.baseAddress, matrix: (1.66, -0.59, -0.07, -0.12, 1.13, -0.01, -0.02, -0.1, 1.12),
              weights: (0.2126, 0.7152, 0.0722), code: code.baseAddress, maximum: maximum)
            body(&tone)
          }
        }
      }
    }
  }

  // Half of the samples are at an end of their range.
  private static let bits: [UInt64] = {
    var noise = Noise(90)
    return (0..<stride * rows / 2 + 8).map { i in
      let value = noise.next()
      return i % 4 == 0 ? .max : i % 4 == 1 ? 0 : i % 16 == 2 ? 0x8000_7FFF_FF00_00FF : value
    }
  }()
  private static let floats: [Float] = {
    var noise = Noise(91)
    return (0..<stride * rows + 16).map { i in
      let value = noise.next()
      return i % 3 == 0 ? 65535 : i % 5 == 0 ? -1e4 : Float(value & 0xFFFFF) / 16
    }
  }()
  /// Sums of 256 rows.
  private static let sums: [UInt32] = {
    var noise = Noise(92)
    return noise.samples(stride + 16, of: UInt32.self, upTo: 65535 * 256)
  }()
  private static let weights = (0..<16 * 310).map { Int16(truncatingIfNeeded: 1900 - $0 % 7 * 600) }
  private static let floatWeights = weights.map { Float($0) / 16384 }
  private static let starts = (0..<few).map { Int32($0 / 3 * 2) }

  private static let sizes =
    Array(1...130) + [159, 160, 161, 191, 192, 193, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, most]
  private static let tapCounts = [1, 2, 3, 4, 5, 7, 12, 13, 16]

  @Test(arguments: resampling + colors) private func variantsAgree(_ kernel: Kernel) throws {
    let baseline = try #require(Variant.all.first { $0.testDescription == "baseline" })
    let others = Variant.all.filter { $0.testDescription != "baseline" }
    let source = UnsafeMutableRawPointer.allocate(byteCount: Self.bits.count * 8, alignment: 64)
    let outBytes = Self.most * 4 * 4 + Self.few * 4 * 16 * 4 + 4096
    // What was there before: sums are added to it, and the rest has to stay.
    let untouched = UnsafeMutableRawPointer.allocate(byteCount: outBytes, alignment: 64)
    let outs = (0..<2).map { _ in UnsafeMutableRawPointer.allocate(byteCount: outBytes, alignment: 64) }
    let columns = UnsafeMutableRawPointer.allocate(byteCount: 64 * 4 * 64 * 4, alignment: 64)
    defer { for memory in [source, untouched, columns] + outs { memory.deallocate() } }
    memset(untouched, 0x25, outBytes)
    func fill<T>(_ values: [T]) {
      values.withUnsafeBytes { source.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    }
    switch kernel.input {
    case .bits: fill(Self.bits)
    case .floats: fill(Self.floats)
    case .sums: fill(Self.sums)
    }
    func place(_ offset: (Int, Int), _ out: UnsafeMutableRawPointer) -> Place {
      Place(
        bytes: source + offset.0, out: out + offset.1, weights: Self.weights, floats: Self.floatWeights,
        starts: Self.starts, columns: columns)
    }
    func isUntouched(_ range: Range<Int>) -> Bool {
      memcmp(outs[0] + range.lowerBound, untouched, range.count) == 0
    }
    // An expectation for each would take longer than the kernels.
    var faults: [String] = []
    func compare(_ size: Int, _ offset: (Int, Int), _ channels: Int, _ taps: Int) {
      let offset = (offset.0 / kernel.sample.0 * kernel.sample.0, offset.1 / kernel.sample.1 * kernel.sample.1)
      let what = "\(size) pixels of \(channels), \(taps) taps, bytes \(offset) from alignment"
      memcpy(outs[0], untouched, outBytes)
      kernel.call(baseline.kernels, place(offset, outs[0]), size, channels, taps)
      let extent = kernel.extent(size, channels, taps)
      var end = 0
      for row in 0..<extent.rows {
        let start = offset.1 + row * extent.stride * kernel.sample.1
        if !isUntouched(end..<start) { faults.append("written before row \(row): \(what)") }
        end = start + extent.count * kernel.sample.1
      }
      if !isUntouched(end..<outBytes) { faults.append("written behind the end: \(what)") }
      for variant in others {
        memcpy(outs[1], untouched, outBytes)
        kernel.call(variant.kernels, place(offset, outs[1]), size, channels, taps)
        if memcmp(outs[0], outs[1], outBytes) != 0 { faults.append("\(variant.testDescription): \(what)") }
      }
    }
    for (i, size) in Self.sizes.enumerated() {
      for channels in kernel.channels {
        compare(
          size, ((i + channels) * 5 % 64, (i + channels) * 11 % 64), channels,
          Self.tapCounts[(i + channels) % Self.tapCounts.count])
      }
    }
    for alignment in 0..<64 {
      let channels = kernel.channels[alignment % kernel.channels.count]
      for size in [33, 130] {
        compare(size, (alignment, 63 - alignment), channels, 12)
        compare(size, (alignment, 0), channels, 3)
        compare(size, (0, alignment), channels, 13)
      }
    }
    #expect(faults.isEmpty, "\(faults.count) faults, the first: \(faults.first ?? "")")
  }
}
