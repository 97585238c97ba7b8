import CKernels
import KernelVariants
import TestPictures
import Testing

@Suite struct HorizontalTests {
  private let batch = Int(CK_BATCH)

  @Test(arguments: Variant.all) func columns(_ variant: Variant) {
    var noise = Noise(5)
    let inputs = Inputs()
    defer { inputs.free() }
    for count in sizes {
      let stride = count + Int(noise.next() % 9)
      let samples = noise.samples(max(0, stride * (batch - 1) + count), of: UInt16.self).map { Int16(bitPattern: $0) }
      var expected: [Int16] = []
      for x in 0..<count { for r in 0..<batch { expected.append(samples[r * stride + x]) } }
      let floatColumns = Guarded<Float>(count * batch)
      variant.kernels.columns_f32(inputs.holding(samples.map(Float.init)), stride, count, floatColumns.pointer)
      #expect(floatColumns.elements == expected.map(Float.init), "\(count) samples")
      #expect(floatColumns.isIntactBefore)
    }
  }

  /// Rows of noise and an axis over them, with any steps between starts, as in no real resampling. `width` pixels, fewer than
  /// the last pair reaches where the axis is of pairs.
  private struct Case {
    let channels: Int
    let taps: Int
    let starts: [Int32]
    let samples: [Int16]
    let stride: Int
    let fixedWeights: [Int16]
    let floatWeights: [Float]

    let width: Int
    let rowStride: Int
    /// Pixels that the kernel has room for: a tight fit, or a large one.
    let capacity: Int

    init(count: Int, index: Int, noise: inout Noise, isPaired: Bool = false) {
      channels = 1 + index % 4
      let taps = isPaired ? [2, 4, 6, 12, 14, 50][index % 6] : [1, 2, 3, 6, 12, 49][index % 6]
      self.taps = taps
      let source = taps + Int(noise.next() % 40)
      starts = (0..<count).map { _ in
        Int32.random(in: 0...Int32(source - taps), using: &noise) & (isPaired ? ~1 : ~0)
      }.sorted()
      let width = isPaired ? source - index % 2 : source
      self.width = width
      rowStride = width * channels + index % 5
      capacity = [taps, taps + 6, 200][index % 3] & (isPaired ? ~1 : ~0)
      samples = (0..<rowStride * (Int(CK_BATCH) - 1) + width * channels).map { _ in
        Int16.random(in: -8000...24000, using: &noise)
      }
      stride = count * channels + index % 3
      fixedWeights = (0..<count * taps).map { _ in
        let most = 24000 / taps
        return Int16(Int.random(in: -most / 2...most, using: &noise))
      }
      floatWeights = fixedWeights.map { Float($0) / 16384 }
    }

    /// Calls back with the index in `samples` of each tap, for each output sample of each row.
    func visitOutputs(_ body: (_ place: Int, _ taps: [(sample: Int, weight: Int)]) -> Void) {
      for x in starts.indices {
        for c in 0..<channels {
          for r in 0..<Int(CK_BATCH) {
            body(
              r * stride + x * channels + c,
              (0..<taps).compactMap {
                let pixel = Int(starts[x]) + $0
                return pixel < width ? (r * rowStride + pixel * channels + c, x * taps + $0) : nil
              })
          }
        }
      }
    }

    var outputCount: Int { stride * (Int(CK_BATCH) - 1) + starts.count * channels }
  }

  private static let counts = Array(0...18) + Array(61...66) + [31, 32, 33, 127, 128, 129, 300]

  @Test(arguments: Variant.all) func fixedPoint(_ variant: Variant) {
    var noise = Noise(6)
    let inputs = Inputs()
    defer { inputs.free() }
    for (i, count) in Self.counts.enumerated() {
      let test = Case(count: count, index: i, noise: &noise, isPaired: true)
      let bias = Int32(i - 30) << 20
      let out = Guarded<UInt8>(test.outputCount)
      let rows = inputs.holding(test.samples)
      let columns = Guarded<Int16>(test.capacity * test.channels * batch)
      let weights = inputs.holding(test.fixedWeights)
      let starts = inputs.holding(test.starts)
      variant.kernels.horizontal_u8(
        rows, test.rowStride, test.width, Int32(test.channels),
        ck_axis(starts: starts, taps: Int32(test.taps), count: Int32(count)), weights, bias, columns.pointer,
        test.capacity, out.pointer, test.stride)
      #expect(columns.isIntactBefore)
      var expected = [UInt8](repeating: 0xA5, count: test.outputCount)
      test.visitOutputs { place, taps in
        var sum = Int(bias) + (1 << 19)
        for tap in taps { sum += Int(test.samples[tap.sample]) * Int(test.fixedWeights[tap.weight]) }
        expected[place] = UInt8(min(max(sum >> 20, 0), 255))
      }
      #expect(out.elements == expected, "\(count) pixels of \(test.channels), \(test.taps) taps")
      #expect(out.isIntactBefore)
    }
  }

  @Test(arguments: Variant.all) func floatingPoint(_ variant: Variant) {
    var noise = Noise(7)
    let inputs = Inputs()
    defer { inputs.free() }
    for (i, count) in Self.counts.enumerated() {
      let test = Case(count: count, index: i, noise: &noise)
      let (scale, bias, maximum) = (Float(1.137), Float(i - 30), Float(i % 2 == 0 ? 65535 : 1023))
      let bytes = Guarded<UInt8>(test.outputCount)
      let words = Guarded<UInt16>(test.outputCount)
      let rows = inputs.holding(test.samples.map(Float.init))
      let columns = Guarded<Float>(test.capacity * test.channels * batch)
      let weights = inputs.holding(test.floatWeights)
      let starts = inputs.holding(test.starts)
      let axis = ck_axis(starts: starts, taps: Int32(test.taps), count: Int32(count))
      variant.kernels.horizontal_f32_u8(
        rows, test.rowStride, Int32(test.channels), axis, weights, scale / 64, bias, columns.pointer, test.capacity,
        bytes.pointer, test.stride)
      variant.kernels.horizontal_f32_u16(
        rows, test.rowStride, Int32(test.channels), axis, weights, scale * 4, bias, maximum, columns.pointer,
        test.capacity, words.pointer, test.stride)
      var expectedBytes = [UInt8](repeating: 0xA5, count: test.outputCount)
      var expectedWords = [UInt16](repeating: 0xA5A5, count: test.outputCount)
      test.visitOutputs { place, taps in
        var sum: Float = 0
        for tap in taps { sum += Float(test.samples[tap.sample]) * test.floatWeights[tap.weight] }
        expectedBytes[place] = UInt8(min(max(sum * (scale / 64) + bias, 0), 255) + 0.5)
        expectedWords[place] = UInt16(min(max(sum * (scale * 4) + bias, 0), maximum) + 0.5)
      }
      #expect(bytes.elements == expectedBytes, "\(count) pixels of \(test.channels), \(test.taps) taps")
      #expect(words.elements == expectedWords, "\(count) pixels of \(test.channels), \(test.taps) taps")
      #expect(bytes.isIntactBefore && words.isIntactBefore && columns.isIntactBefore)
    }
  }
}
