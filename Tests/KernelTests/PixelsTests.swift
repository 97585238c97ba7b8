import CKernels
import KernelVariants
import TestPictures
import Testing

@Suite struct PixelsTests {
  @Test(arguments: Variant.all) func alpha(_ variant: Variant) {
    var noise = Noise(8)
    let inputs = Inputs()
    defer { inputs.free() }
    for pixels in sizes {
      for channels in [2, 4] {
        let count = pixels * channels
        let color = channels - 1
        let bytes = noise.samples(count, of: UInt8.self)
        let words = noise.samples(count, of: UInt16.self)
        let out = Guarded<UInt16>(count)
        func alpha<T>(_ samples: [T], _ i: Int) -> T { samples[i / channels * channels + color] }

        variant.kernels.premultiply_u8(inputs.holding(bytes), Int32(channels), pixels, out.pointer)
        var expected = bytes.indices.map { i -> UInt16 in
          UInt16(bytes[i]) * (i % channels == color ? 255 : UInt16(alpha(bytes, i)))
        }
        #expect(out.elements == expected)
        variant.kernels.premultiply_u16(inputs.holding(words), Int32(channels), pixels, out.pointer)
        expected = words.indices.map { i -> UInt16 in
          let coverage = i % channels == color ? 1 : Double(alpha(words, i)) / 65535
          return UInt16((Double(words[i]) * coverage).rounded())
        }
        #expect(out.elements == expected)

        for full in [65025, 65535] {
          let samples = words.map { min($0, UInt16(full)) }
          let bytesOut = Guarded<UInt8>(count)
          func unpremultiplied(_ i: Int, maximum: Double) -> Double {
            let coverage = Double(alpha(samples, i))
            if i % channels == color { return (coverage * maximum / Double(full)).rounded() }
            return coverage == 0 ? 0 : min((Double(samples[i]) * maximum / coverage).rounded(), maximum)
          }
          variant.kernels.unpremultiply_u8(
            inputs.holding(samples), Int32(channels), pixels, UInt32(full), bytesOut.pointer)
          let expectedBytes = samples.indices.map { UInt8(unpremultiplied($0, maximum: 255)) }
          #expect(bytesOut.elements == expectedBytes)
          variant.kernels.unpremultiply_u16(
            inputs.holding(samples), Int32(channels), pixels, UInt32(full), out.pointer)
          expected = samples.indices.map { UInt16(unpremultiplied($0, maximum: 65535)) }
          #expect(out.elements == expected)
          #expect(bytesOut.isIntactBefore && out.isIntactBefore)

          let background: [UInt8] = [255, 7, 100]
          let flat = Guarded<UInt8>(pixels * color)
          variant.kernels.flatten_u8(
            inputs.holding(samples), Int32(channels), pixels, UInt32(full), background, flat.pointer)
          let expectedFlat = (0..<pixels * color).map { i -> UInt8 in
            let pixel = i / color * channels
            let rest = full - Int(samples[pixel + color])
            let value = Int(samples[pixel + i % color]) * 255 + rest * Int(background[i % color])
            return UInt8(min((value + full / 2) / full, 255))
          }
          #expect(flat.elements == expectedFlat)
          #expect(flat.isIntactBefore)
        }
      }
    }
  }

  @Test(arguments: Variant.all) func matrix(_ variant: Variant) {
    var noise = Noise(9)
    let inputs = Inputs()
    defer { inputs.free() }
    for (i, pixels) in sizes.enumerated() {
      let hasAlpha = i % 2 == 1
      let channels = hasAlpha ? 4 : 3
      for maximum in [255, 1023, 65535] {
        let planes = (0..<4).map { _ in noise.samples(pixels, of: UInt16.self, upTo: UInt16(maximum)) }
        let m = (0..<9).map { _ in Float.random(in: -2...2, using: &noise) }
        let zero = Float(maximum + 1) / 2
        var matrix = ck_matrix()
        matrix.matrix = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
        matrix.offset = (0, zero, zero)
        matrix.maximum = Float(maximum)
        matrix.alpha_scale = 1
        var expected: [UInt16] = []
        for x in 0..<pixels {
          let v = (Float(planes[0][x]), Float(planes[1][x]) - zero, Float(planes[2][x]) - zero)
          for k in 0..<3 {
            let value = m[3 * k] * v.0 + m[3 * k + 1] * v.1 + m[3 * k + 2] * v.2
            expected.append(UInt16(min(max(value, 0), Float(maximum)) + 0.5))
          }
          if hasAlpha { expected.append(planes[3][x]) }
        }
        let pointers = inputs.holding(planes: planes)
        let out = Guarded<UInt16>(pixels * channels)
        variant.kernels.matrix_u16(pointers, hasAlpha ? pointers[3] : nil, pixels, &matrix, out.pointer)
        #expect(out.elements == expected, "\(pixels) pixels")
        #expect(out.isIntactBefore)
        guard maximum == 255 else { continue }
        let bytePointers = inputs.holding(planes: planes.map { $0.map(UInt8.init) })
        let bytes = Guarded<UInt8>(pixels * channels)
        variant.kernels.matrix_u8(bytePointers, hasAlpha ? bytePointers[3] : nil, pixels, &matrix, bytes.pointer)
        #expect(bytes.elements.map(UInt16.init) == expected, "\(pixels) pixels")
        #expect(bytes.isIntactBefore)
      }
    }
  }

  @Test(arguments: Variant.all) func interleave(_ variant: Variant) {
    var noise = Noise(10)
    let inputs = Inputs()
    defer { inputs.free() }
    for pixels in sizes {
      for channels in 1...4 {
        let planes = (0..<channels).map { _ in noise.samples(pixels, of: UInt16.self) }
        let expected = (0..<pixels * channels).map { planes[$0 % channels][$0 / channels] }
        let out = Guarded<UInt16>(pixels * channels)
        variant.kernels.interleave_u16(
          inputs.holding(planes: planes), Int32(channels), pixels, out.pointer)
        #expect(out.elements == expected)
        let bytePlanes = planes.map { $0.map { UInt8($0 >> 8) } }
        let bytes = Guarded<UInt8>(pixels * channels)
        variant.kernels.interleave_u8(
          inputs.holding(planes: bytePlanes), Int32(channels), pixels, bytes.pointer)
        #expect(bytes.elements == expected.map { UInt8($0 >> 8) })
      }
    }
  }

  @Test(arguments: Variant.all) func cmyk(_ variant: Variant) {
    var noise = Noise(11)
    let inputs = Inputs()
    defer { inputs.free() }
    for pixels in sizes {
      let ink = noise.samples(pixels * 4, of: UInt8.self)
      for isInverted in [false, true] {
        let out = Guarded<UInt8>(pixels * 3)
        variant.kernels.cmyk_u8(inputs.holding(ink), pixels, isInverted ? 1 : 0, out.pointer)
        func light(_ i: Int) -> Double { Double(isInverted ? ink[i] : 255 - ink[i]) }
        let expected = (0..<pixels * 3).map { i -> UInt8 in
          UInt8((light(i / 3 * 4 + i % 3) * light(i / 3 * 4 + 3) / 255).rounded())
        }
        #expect(out.elements == expected)
        #expect(out.isIntactBefore)
      }
    }
  }

  @Test(arguments: Variant.all) func turn(_ variant: Variant) {
    var noise = Noise(12)
    let inputs = Inputs()
    defer { inputs.free() }
    for pixels in [1, 2, 3, 63, 64, 65, 130, 200] {
      for (bytes, count) in [(1, 64), (1, 7), (1, 21), (2, 5), (3, 64), (4, 3), (5, 2), (6, 1), (7, 2), (8, 9)] {
        let stride = pixels * bytes + 3
        let rows = noise.samples(stride * (count - 1) + pixels * bytes, of: UInt8.self)
        for turns in [false, true] {
          // Turned, a row becomes a column of a picture `count` pixels wide; else it stays a row.
          let (width, height) = turns ? (count, pixels) : (pixels, count)
          for (mirrorsX, mirrorsY) in [(false, false), (true, false), (false, true), (true, true)] {
            let size = width * height * bytes
            let out = Guarded([UInt8](repeating: 0xA5, count: size))
            var expected = [UInt8](repeating: 0xA5, count: size)
            for r in 0..<count {
              for x in 0..<pixels {
                let column = turns ? r : x
                let row = turns ? x : r
                let place =
                  ((mirrorsY ? height - 1 - row : row) * width + (mirrorsX ? width - 1 - column : column)) * bytes
                for b in 0..<bytes { expected[place + b] = rows[r * stride + x * bytes + b] }
              }
            }
            let across = (mirrorsX ? -1 : 1) * bytes
            let down = (mirrorsY ? -1 : 1) * width * bytes
            let start = (mirrorsX ? (width - 1) * bytes : 0) + (mirrorsY ? (height - 1) * width * bytes : 0)
            variant.kernels.turn(
              inputs.holding(rows), stride, count, pixels, bytes, out.pointer + start, turns ? down : across,
              turns ? across : down)
            #expect(out.elements == expected, "\(count) rows of \(pixels) pixels of \(bytes) bytes")
            #expect(out.isIntactBefore)
          }
        }
      }
    }
  }
}
