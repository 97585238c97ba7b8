import CKernels
import KernelVariants
import TestPictures
import Testing

@Suite struct CurvesTests {
  @Test(arguments: Variant.all) func tables(_ variant: Variant) {
    var noise = Noise(70)
    let inputs = Inputs()
    defer { inputs.free() }
    let words = (0..<3).map { _ in noise.samples(65536, of: UInt16.self) }
    let bytes = (0..<3).map { _ in noise.samples(65536, of: UInt8.self) }
    for pixels in [0, 1, 2, 63, 64, 65, 257] {
      for channels in 1...4 {
        let count = pixels * channels
        // Alpha has none.
        let hasTable = (0..<channels).map { channels % 2 == 1 || $0 < channels - 1 }
        let wordTables = (0..<channels).map { hasTable[$0] ? UnsafePointer(inputs.holding(words[$0])) : nil }
        let byteTables = (0..<channels).map { hasTable[$0] ? UnsafePointer(inputs.holding(bytes[$0])) : nil }
        let deep = noise.samples(count, of: UInt16.self)
        let shallow = noise.samples(count, of: UInt8.self)
        let out = Guarded<UInt16>(count)
        variant.kernels.curves_u8_u16(inputs.holding(shallow), Int32(channels), pixels, wordTables, out.pointer)
        #expect(
          out.elements
            == shallow.indices.map {
              hasTable[$0 % channels] ? words[$0 % channels][Int(shallow[$0])] : UInt16(shallow[$0]) * 257
            })
        variant.kernels.curves_u16_u16(inputs.holding(deep), Int32(channels), pixels, wordTables, out.pointer)
        #expect(
          out.elements
            == deep.indices.map { hasTable[$0 % channels] ? words[$0 % channels][Int(deep[$0])] : deep[$0] })
        #expect(out.isIntactBefore)
        let narrow = Guarded<UInt8>(count)
        variant.kernels.curves_u16_u8(inputs.holding(deep), Int32(channels), pixels, byteTables, narrow.pointer)
        #expect(
          narrow.elements
            == deep.indices.map {
              hasTable[$0 % channels]
                ? bytes[$0 % channels][Int(deep[$0])] : UInt8((Double(deep[$0]) / 257).rounded())
            })
        #expect(narrow.isIntactBefore)
      }
    }
  }

  @Test(arguments: Variant.all) func meansAreAddedUp(_ variant: Variant) {
    var noise = Noise(71)
    let inputs = Inputs()
    defer { inputs.free() }
    for count in sizes {
      let before = (0..<count).map { _ in Float.random(in: 0...500, using: &noise) }
      let weight = Float.random(in: 0...1, using: &noise)
      let (shallow, deep) = (noise.samples(count, of: UInt8.self), noise.samples(count, of: UInt16.self))
      var sums = Guarded(before)
      variant.kernels.mean_add_u8(inputs.holding(shallow), weight, sums.pointer, count)
      #expect(sums.elements == before.indices.map { before[$0] + Float(shallow[$0]) * weight })
      sums = Guarded(before)
      variant.kernels.mean_add_u16(inputs.holding(deep), weight, sums.pointer, count)
      #expect(sums.elements == before.indices.map { before[$0] + Float(deep[$0]) * weight })
      #expect(sums.isIntactBefore)
    }
  }

  private func limited(_ value: Float, _ coverage: Float, _ maximum: Float) -> UInt16 {
    let shrunk = coverage > maximum ? value * (maximum / coverage) : value
    return UInt16(min(max(shrunk, 0), min(max(coverage, 0), maximum)) + 0.5)
  }

  @Test(arguments: Variant.all) func premultiplied(_ variant: Variant) {
    var noise = Noise(72)
    let inputs = Inputs()
    defer { inputs.free() }
    for channels in [2, 4] {
      for count in [1, 7, 16, 17, 32, 33] {
        let (taps, source) = (3, count + 3)
        let starts = (0..<count).map { Int32($0) }
        let weights = (0..<count * taps).map { _ in Float.random(in: -0.3...1, using: &noise) }
        let batch = Int(CK_BATCH)
        let stride = source * channels
        let rows = (0..<stride * batch).map { _ in Float.random(in: 0...60000, using: &noise) }
        let width = count * channels
        let out = Guarded<UInt16>(width * batch)
        let axis = ck_axis(starts: inputs.holding(starts), taps: Int32(taps), count: Int32(count))
        let columns = Guarded<Float>((taps + 2) * channels * batch)
        variant.kernels.horizontal_premultiplied(
          inputs.holding(rows), stride, Int32(channels), axis, inputs.holding(weights), 0.9, 65535, columns.pointer,
          taps + 2, out.pointer, width)
        #expect(columns.isIntactBefore)
        var expected = [UInt16](repeating: 0, count: width * batch)
        for r in 0..<batch {
          for x in 0..<count {
            let values = (0..<channels).map { c in
              (0..<taps).reduce(Float(0)) {
                $0 + rows[r * stride + (x + $1) * channels + c] * weights[x * taps + $1]
              } * 0.9
            }
            for c in 0..<channels { expected[r * width + x * channels + c] = limited(values[c], values.last!, 65535) }
          }
        }
        #expect(out.elements == expected)
        #expect(out.isIntactBefore)

        let narrow = (0..<width).map { _ in Int16.random(in: (-500)...20000, using: &noise) }
        let finished = Guarded<UInt16>(width)
        func check(_ sums: [Float], _ scale: Float) {
          let expected = sums.indices.map { i in
            limited(sums[i] * scale, sums[i / channels * channels + channels - 1] * scale, 65025)
          }
          #expect(finished.elements == expected)
          #expect(finished.isIntactBefore)
        }
        variant.kernels.finish_premultiplied_i16(
          inputs.holding(narrow), Int32(channels), count, 3.98, 65025, finished.pointer)
        check(narrow.map(Float.init), 3.98)
        let floats = (0..<width).map { _ in Float.random(in: -500...80000, using: &noise) }
        variant.kernels.finish_premultiplied_f32(
          inputs.holding(floats), Int32(channels), count, 1, 65025, finished.pointer)
        check(floats, 1)
      }
    }
  }

  @Test(arguments: Variant.all) func flatten(_ variant: Variant) {
    var noise = Noise(73)
    let inputs = Inputs()
    defer { inputs.free() }
    for channels in [2, 4] {
      for pixels in [1, 64, 130] {
        let samples = noise.samples(pixels * channels, of: UInt16.self)
        let background: [UInt16] = [65535, 7, 30000]
        let out = Guarded<UInt16>(pixels * (channels - 1))
        variant.kernels.flatten_u16(
          inputs.holding(samples), Int32(channels), pixels, 65535, inputs.holding(background), out.pointer)
        let expected = (0..<pixels * (channels - 1)).map { i -> UInt16 in
          let pixel = i / (channels - 1) * channels
          let rest = 65535 - Int(samples[pixel + channels - 1])
          let value = Int(samples[pixel + i % (channels - 1)]) * 65535 + rest * Int(background[i % (channels - 1)])
          return UInt16(min((value + 32767) / 65535, 65535))
        }
        #expect(out.elements == expected)
        #expect(out.isIntactBefore)
      }
    }
  }
}
