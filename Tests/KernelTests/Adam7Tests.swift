import CKernels
import KernelVariants
import TestPictures
import Testing

@Suite struct Adam7Tests {
  private let batch = Int(CK_BATCH)

  @Test(arguments: Variant.all) func columns(_ variant: Variant) {
    var noise = Noise(30)
    let inputs = Inputs()
    defer { inputs.free() }
    for count in sizes {
      let stride = count + Int(noise.next() % 9)
      let samples = noise.samples(max(0, stride * (batch - 1) + count), of: UInt16.self)
      var expected: [UInt16] = []
      for x in 0..<count { for r in 0..<batch { expected.append(samples[r * stride + x]) } }
      let words = Guarded<Int16>(count * batch)
      variant.kernels.columns_u8(inputs.holding(samples.map { UInt8($0 >> 8) }), stride, count, words.pointer)
      #expect(words.elements == expected.map { Int16($0 >> 8) }, "\(count) samples")
      let floats = Guarded<Float>(count * batch)
      variant.kernels.columns_u16(inputs.holding(samples), stride, count, floats.pointer)
      #expect(floats.elements == expected.map(Float.init), "\(count) samples")
      #expect(words.isIntactBefore && floats.isIntactBefore)
    }
  }

  @Test(arguments: Variant.all) func onePassOfARow(_ variant: Variant) {
    var noise = Noise(31)
    let inputs = Inputs()
    defer { inputs.free() }
    for (index, count) in sizes.enumerated() where count > 0 {
      let channels = 1 + index % 4
      let taps = [1, 2, 3, 6, 12, 49][index % 6]
      let shift = index % 4
      let first = Int(noise.next() % UInt64(1 << shift + 1))
      let source = taps + Int(noise.next() % 40)
      let passCount = first >= source ? 0 : (source - first + (1 << shift) - 1) >> shift
      let rows = 1 + index % batch
      let starts = (0..<count).map { _ in Int32.random(in: 0...Int32(source - taps), using: &noise) }
      let samples = (0..<passCount * channels * batch).map { _ in Int16.random(in: 0...255, using: &noise) }
      let most = 24000 / taps
      let weights = (0..<count * taps).map { _ in Int16(Int.random(in: -most / 2...most, using: &noise)) }
      let floatWeights = weights.map { Float($0) / 16384 }
      let stride = count * channels + index % 3
      let before = noise.samples(stride * (rows - 1) + count * channels, of: UInt16.self).map(Int16.init(bitPattern:))
      let scale: Float = 37.3

      let axis = ck_axis(starts: inputs.holding(starts), taps: Int32(taps), count: Int32(count))
      let pass = ck_pass(first: Int32(first), shift: Int32(shift), count: Int32(passCount))
      let fixed = Guarded(before)
      let scaled = Guarded(before)
      let plain = Guarded(before.map(Float.init))
      let floats = inputs.holding(samples.map(Float.init))
      let held = inputs.holding(floatWeights)
      variant.kernels.pass_i16(
        inputs.holding(samples), Int32(channels), axis, pass, inputs.holding(weights), Int32(rows), fixed.pointer,
        stride)
      variant.kernels.pass_f32_i16(
        floats, Int32(channels), axis, pass, held, scale, Int32(rows), scaled.pointer, stride)
      variant.kernels.pass_f32(floats, Int32(channels), axis, pass, held, Int32(rows), plain.pointer, stride)

      var (expectedFixed, expectedScaled, expectedPlain) = (before, before, before.map(Float.init))
      for r in 0..<rows {
        for x in 0..<count {
          for c in 0..<channels {
            var (sum, floatSum) = (0, Float(0))
            for j in 0..<passCount {
              let k = first + j << shift - Int(starts[x])
              guard k >= 0 && k < taps else { continue }
              let sample = samples[(j * channels + c) * batch + r]
              sum += Int(sample) * Int(weights[x * taps + k])
              floatSum += Float(sample) * floatWeights[x * taps + k]
            }
            let place = r * stride + x * channels + c
            expectedFixed[place] = saturated(Int(before[place]) + Int(saturated((sum + 128) >> 8)))
            expectedScaled[place] = saturated(Int(before[place]) + nearest(floatSum * scale))
            expectedPlain[place] += floatSum
          }
        }
      }
      #expect(fixed.elements == expectedFixed, "\(count) pixels of \(channels), \(taps) taps")
      #expect(scaled.elements == expectedScaled, "\(count) pixels of \(channels), \(taps) taps")
      #expect(plain.elements.map(\.bitPattern) == expectedPlain.map(\.bitPattern), "\(count) of \(channels)")
      #expect(fixed.isIntactBefore && scaled.isIntactBefore && plain.isIntactBefore)
    }
  }

  @Test(arguments: Variant.all) func boxesOfAPass(_ variant: Variant) {
    var noise = Noise(32)
    let inputs = Inputs()
    defer { inputs.free() }
    for width in Array(1...70) + [255, 256, 257, 1000] {
      for factor in [1, 2, 3, 7, 64, 256] {
        let channels = 1 + Int(noise.next() % 4)
        let shift = Int(noise.next() % 4)
        let first = Int(noise.next() % 5)
        let count = first >= width ? 0 : (width - first + (1 << shift) - 1) >> shift
        let row = noise.samples(count * channels, of: UInt16.self)
        let pass = ck_pass(first: Int32(first), shift: Int32(shift), count: Int32(count))
        let boxes = (width + factor - 1) / factor
        let words = Guarded([Float](repeating: 5, count: boxes * channels))
        let bytes = Guarded([Float](repeating: 5, count: boxes * channels))
        variant.kernels.box_pass_u16(inputs.holding(row), Int32(channels), pass, factor, words.pointer)
        variant.kernels.box_pass_u8(
          inputs.holding(row.map { UInt8($0 >> 8) }), Int32(channels), pass, factor, bytes.pointer)
        var expected = [Float](repeating: 5, count: boxes * channels)
        var expectedBytes = expected
        for i in row.indices {
          let place = (first + (i / channels) << shift) / factor * channels + i % channels
          expected[place] += Float(row[i])
          expectedBytes[place] += Float(row[i] >> 8)
        }
        #expect(words.elements == expected && bytes.elements == expectedBytes, "\(width) pixels by \(factor)")
        #expect(words.isIntactBefore && bytes.isIntactBefore)
      }
    }
  }

  @Test(arguments: Variant.all) func sumsOfRows(_ variant: Variant) {
    var noise = Noise(33)
    let inputs = Inputs()
    defer { inputs.free() }
    for (i, count) in sizes.enumerated() {
      let taps = [1, 2, 3, 6, 12, 49][i % 6]
      let rows = (0..<taps).map { _ in noise.samples(count, of: UInt16.self).map(Int16.init(bitPattern:)) }
      let weights = (0..<taps).map { _ in Float.random(in: -0.3...1, using: &noise) }
      let before = noise.samples(count, of: UInt16.self).map(Int16.init(bitPattern:))
      let words = Guarded(before)
      let floats = Guarded(before.map(Float.init))
      let held = inputs.holding(weights)
      variant.kernels.add_rows_i16(inputs.holding(planes: rows), held, Int32(taps), words.pointer, count)
      variant.kernels.add_rows_f32(
        inputs.holding(planes: rows.map { $0.map(Float.init) }), held, Int32(taps), floats.pointer, count)
      let sums = (0..<count).map { x in
        (0..<taps).reduce(Float(0)) { $0 + Float(rows[$1][x]) * weights[$1] }
      }
      #expect(words.elements == (0..<count).map { saturated(Int(before[$0]) + nearest(sums[$0])) }, "\(count)")
      #expect(
        floats.elements.map(\.bitPattern) == (0..<count).map { (Float(before[$0]) + sums[$0]).bitPattern }, "\(count)")
      #expect(words.isIntactBefore && floats.isIntactBefore)
    }
  }

  @Test(arguments: Variant.all) func finishing(_ variant: Variant) {
    var noise = Noise(34)
    let inputs = Inputs()
    defer { inputs.free() }
    for count in sizes {
      let sums = noise.samples(count, of: UInt16.self).map(Int16.init(bitPattern:))
      let (scale, bias) = (Float.random(in: 0.01...4, using: &noise), Float.random(in: -20...20, using: &noise))
      func finished(_ maximum: Float) -> [UInt16] {
        sums.map { UInt16(min(max(Float($0) * scale + bias, 0), maximum) + 0.5) }
      }
      let bytes = Guarded<UInt8>(count)
      let words = Guarded<UInt16>(count)
      let fromFloats = Guarded<UInt16>(count)
      let held = inputs.holding(sums)
      variant.kernels.finish_i16_u8(held, count, scale, bias, 255, bytes.pointer)
      variant.kernels.finish_i16_u16(held, count, scale, bias, 65025, words.pointer)
      variant.kernels.finish_f32_u16(
        inputs.holding(sums.map(Float.init)), count, scale, bias, 65535, fromFloats.pointer)
      #expect(bytes.elements.map(UInt16.init) == finished(255))
      #expect(words.elements == finished(65025))
      #expect(fromFloats.elements == finished(65535))
      #expect(bytes.isIntactBefore && words.isIntactBefore && fromFloats.isIntactBefore)
    }
  }
}

private func saturated(_ value: Int) -> Int16 { Int16(clamping: value) }

/// As the kernels round: halves up.
private func nearest(_ value: Float) -> Int { Int(min(max(value, -32768), 32767) + 32768.5) - 32768 }
