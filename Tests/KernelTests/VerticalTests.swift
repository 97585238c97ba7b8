import CKernels
import KernelVariants
import TestPictures
import Testing

@Suite struct VerticalTests {
  @Test(arguments: Variant.all) func bytes(_ variant: Variant) throws {
    var noise = Noise(1)
    let inputs = Inputs()
    defer { inputs.free() }
    for (i, count) in sizes.enumerated() {
      let taps = [1, 2, 3, 6, 12, 49][i % 6]
      let rows = (0..<taps).map { _ in noise.samples(count, of: UInt8.self) }
      // Of alternating signs and an absolute sum of 2: the most there is room for.
      let weights = (0..<taps).map { Int16(($0 % 2 == 0 ? 1 : -1) * (32767 / taps)) }
      let out = Guarded<Int16>(count)
      variant.kernels.vertical_u8(
        inputs.holding(planes: rows), inputs.holding(weights), Int32(taps), out.pointer, count)
      let expected = (0..<count).map { x -> Int16 in
        var sum = 128
        for k in 0..<taps { sum += Int(rows[k][x]) * Int(weights[k]) }
        return Int16(sum >> 8)
      }
      #expect(out.elements == expected, "\(count) samples, \(taps) taps")
      #expect(out.isIntactBefore)
    }
  }

  @Test(arguments: Variant.all) func words(_ variant: Variant) throws {
    var noise = Noise(2)
    let inputs = Inputs()
    defer { inputs.free() }
    for (i, count) in sizes.enumerated() {
      let taps = [1, 2, 3, 6, 12, 49][i % 6]
      let rows = (0..<taps).map { _ in noise.samples(count, of: UInt16.self) }
      let weights = (0..<taps).map { _ in Float.random(in: -0.3...1, using: &noise) }
      let out = Guarded<Float>(count)
      variant.kernels.vertical_u16(
        inputs.holding(planes: rows), inputs.holding(weights), Int32(taps), out.pointer, count)
      let expected = (0..<count).map { x -> Float in
        var sum: Float = 0
        for k in 0..<taps { sum += Float(rows[k][x]) * weights[k] }
        return sum
      }
      #expect(out.elements.map(\.bitPattern) == expected.map(\.bitPattern), "\(count) samples, \(taps) taps")
      #expect(out.isIntactBefore)
    }
  }

  @Test(arguments: Variant.all) func boxSums(_ variant: Variant) {
    var noise = Noise(3)
    let inputs = Inputs()
    defer { inputs.free() }
    for count in sizes {
      let before = noise.samples(count, of: UInt32.self, upTo: 1 << 24)
      let bytes = noise.samples(count, of: UInt8.self)
      let words = noise.samples(count, of: UInt16.self)
      let sums = Guarded(before)
      variant.kernels.box_add_u8(inputs.holding(bytes), sums.pointer, count)
      var expected = (0..<count).map { before[$0] + UInt32(bytes[$0]) }
      #expect(sums.elements == expected)
      variant.kernels.box_add_u16(inputs.holding(words), sums.pointer, count)
      for i in 0..<count { expected[i] += UInt32(words[i]) }
      #expect(sums.elements == expected)
      #expect(sums.isIntactBefore)
    }
  }

  @Test(arguments: Variant.all) func boxMeans(_ variant: Variant) {
    var noise = Noise(4)
    let inputs = Inputs()
    defer { inputs.free() }
    for width in Array(1...70) + [255, 256, 257, 1000] {
      for factor in [1, 2, 3, 7, 64, 256] {
        let channels = 1 + Int(noise.next() % 4)
        let rows = [1, 3, 256][Int(noise.next() % 3)]
        // As many rows of full intensity as there may be, in 16 bits and, scaled up, in 8.
        let (most, scale) = noise.next() % 2 == 0 ? (65535, 1) : (255, 257)
        let sums = noise.samples(width * channels, of: UInt32.self, upTo: UInt32(most * rows))
        let boxes = (width + factor - 1) / factor
        let out = Guarded<UInt16>(boxes * channels)
        variant.kernels.box_mean(
          inputs.holding(sums), width, Int32(channels), factor, rows, UInt32(scale), out.pointer)
        var expected: [UInt16] = []
        for box in 0..<boxes {
          let pixels = box * factor..<min(width, (box + 1) * factor)
          for c in 0..<channels {
            let sum = pixels.reduce(0) { $0 + Int(sums[$1 * channels + c]) }
            expected.append(UInt16((Double(sum * scale) / Double(pixels.count * rows)).rounded()))
          }
        }
        #expect(out.elements == expected, "\(width) pixels by \(factor)")
        #expect(out.isIntactBefore)
      }
    }
  }
}
