import TestPictures
import Testing

@testable import Raster

@Suite struct ColorTests {
  /// H.273's equations, from R'G'B' of 0...1 to the codes of `bits` bits, unrounded and as they stand there.
  private func codes(of rgb: [Double], matrix: Int, isFullRange: Bool, bits: Int) -> [Double] {
    let unit = Double(1 << (bits - 8))
    let most = Double((1 << bits) - 1)
    let zero = Double(1 << (bits - 1))
    func luma(_ value: Double) -> Double { isFullRange ? most * value : (219 * value + 16) * unit }
    func difference(_ value: Double) -> Double { isFullRange ? most * value + zero : 224 * unit * value + zero }
    switch matrix {
    case 0: return [luma(rgb[1]), luma(rgb[2]), luma(rgb[0])]
    case 8:
      let y = 0.25 * rgb[0] + 0.5 * rgb[1] + 0.25 * rgb[2]
      let cg = -0.25 * rgb[0] + 0.5 * rgb[1] - 0.25 * rgb[2]
      return [luma(y), difference(cg), difference(0.5 * rgb[0] - 0.5 * rgb[2])]
    default:
      let (red, blue) = [1: (0.2126, 0.0722), 5: (0.299, 0.114), 6: (0.299, 0.114), 9: (0.2627, 0.0593)][matrix]!
      let y = red * rgb[0] + (1 - red - blue) * rgb[1] + blue * rgb[2]
      return [luma(y), difference(0.5 * (rgb[2] - y) / (1 - blue)), difference(0.5 * (rgb[0] - y) / (1 - red))]
    }
  }

  /// Planes of unrounded codes, mapped to full range as the resampler does it (but not rounded there) and through the kernel,
  /// come back as the colours they were made of.
  @Test(arguments: [0, 1, 5, 6, 8, 9], [8, 10, 12, 16]) func matrices(_ number: Int, _ bits: Int) throws {
    var noise = Noise(70)
    for isFullRange in [false, true] {
      let matrix = ColorMatrix(number: number, isFullRange: isFullRange)
      #expect(matrix.isSupported)
      let maximum = (1 << bits) - 1
      for outputMaximum in bits == 8 ? [255] : [255, 65535] {
        var colors = [[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]].map {
          $0.map(Double.init)
        }
        for _ in 0..<200 { colors.append((0..<3).map { _ in Double.random(in: 0...1, using: &noise) }) }
        let planes = (0..<3).map { plane in
          let mapping = ColorMatrix.fullRange(
            from: maximum, isFullRange: isFullRange, isDifference: number != 0 && plane > 0, to: outputMaximum)
          return colors.map {
            let code = codes(of: $0, matrix: number, isFullRange: isFullRange, bits: bits)[plane]
            return code * mapping.scale + mapping.bias
          }
        }
        let kernel = matrix.kernel(maximum: outputMaximum)
        let m = kernel.matrix
        let rows = [[m.0, m.1, m.2], [m.3, m.4, m.5], [m.6, m.7, m.8]].map { $0.map(Double.init) }
        let offsets = [kernel.offset.0, kernel.offset.1, kernel.offset.2].map(Double.init)
        for (i, color) in colors.enumerated() {
          for k in 0..<3 {
            let value = (0..<3).reduce(0.0) { $0 + rows[k][$1] * (planes[$1][i] - offsets[$1]) }
            let distance = abs(value - color[k] * Double(outputMaximum))
            if distance > 0.02 { Issue.record("\(color): channel \(k) is off by \(distance)") }
          }
        }
        // With the resampler and the kernel as they are, codes rounded: the codes' own rounding is a part of the difference.
        let pixels = colors.count
        let layouts = (0..<3).map { _ in
          PlaneLayout(
            width: pixels, height: 1, channels: 1, sampleType: outputMaximum == 255 ? .uint8 : .uint16,
            maximum: outputMaximum)
        }
        var output = layouts[0]
        output.channels = 3
        let collector = RowCollector(rowBytes: [output.bytesPerRow])
        let stage = try ColorStages.matrix(matrix, planes: layouts, output: output, next: collector)
        var decoded = [[Double]](repeating: [], count: 3)
        for plane in 0..<3 {
          let isDifference = number != 0 && plane > 0
          let source = Samples(width: pixels, height: 1, channels: 1) { x, _, _ in
            min(
              codes(of: colors[x], matrix: number, isFullRange: isFullRange, bits: bits)[plane].rounded(),
              Double(maximum))
          }
          let mapping = ColorMatrix.fullRange(
            from: maximum, isFullRange: isFullRange, isDifference: isDifference, to: outputMaximum)
          decoded[plane] = source.values.map {
            min(max(($0 * mapping.scale + mapping.bias).rounded(), 0), Double(outputMaximum))
          }
          let mapped = try resampled(
            source, maximum: maximum, type: bits == 8 ? .uint8 : .uint16, x: .whole(pixels, to: pixels),
            y: .whole(1, to: 1), to: outputMaximum, as: layouts[plane].sampleType, mapping: mapping)
          for (one, other) in zip(mapped.values, decoded[plane]) { #expect(abs(one - other) <= 1) }
          decoded[plane] = mapped.values
          if outputMaximum == 255 {
            try stage.write(samples: mapped.values.map { UInt8($0) }, plane: plane)
          } else {
            try stage.write(samples: mapped.values.map { UInt16($0) }, plane: plane)
          }
        }
        let bytes = collector.rows[0][0]
        let result = outputMaximum == 255 ? bytes.map(Double.init) : bytes.samples(of: UInt16.self).map(Double.init)
        for i in 0..<pixels {
          for k in 0..<3 {
            let exact = (0..<3).reduce(0.0) { $0 + rows[k][$1] * (decoded[$1][i] - offsets[$1]) }
            let clamped = min(max(exact, 0), Double(outputMaximum))
            if abs(result[3 * i + k] - clamped) > 0.52 {
              Issue.record("pixel \(i): \(result[3 * i + k]), not \(clamped)")
            }
          }
        }
      }
    }
  }

  private func through(
    _ samples: [UInt8], channels: Int, _ make: (PlaneLayout, RowSink) throws -> MapStage
  ) throws -> [UInt8] {
    let layout = PlaneLayout(
      width: samples.count / channels, height: 1, channels: channels, sampleType: .uint8, maximum: 255)
    let collector = RowCollector(rowBytes: [layout.bytesPerRow])
    try make(layout, collector).write(samples: samples)
    return collector.rows[0][0]
  }

  @Test(arguments: [2, 4]) func premultiplyAndBack(_ channels: Int) throws {
    for alpha in 0...255 {
      var samples: [UInt8] = []
      for value in 0...255 {
        for c in 0..<channels - 1 { samples.append(UInt8((value + c * 85) % 256)) }
        samples.append(UInt8(alpha))
      }
      let back = try through(samples, channels: channels) { layout, collector in
        let premultiplied = AlphaStages.premultipliedLayout(of: layout)
        return try AlphaStages.premultiply(
          input: layout, isPremultiplied: false,
          next: try AlphaStages.unpremultiply(input: premultiplied, output: layout, next: collector))
      }
      // 8 bits times 8 bits are 16: nothing is lost, but where nothing is seen.
      let expected = alpha > 0 ? samples : [UInt8](repeating: 0, count: samples.count)
      #expect(back == expected, "alpha \(alpha)")
    }
  }

  @Test func premultiplyAndBackOf16Bits() throws {
    var noise = Noise(71)
    let layout = PlaneLayout(width: 1000, height: 1, channels: 4, sampleType: .uint16, maximum: 65535)
    for alpha: UInt16 in [0, 1, 255, 256, 30000, 65534, 65535] {
      var samples = noise.samples(4000, of: UInt16.self)
      for i in 0..<1000 { samples[4 * i + 3] = alpha }
      let collector = RowCollector(rowBytes: [layout.bytesPerRow])
      let back = try AlphaStages.unpremultiply(input: layout, output: layout, next: collector)
      try AlphaStages.premultiply(input: layout, isPremultiplied: false, next: back).write(samples: samples)
      let result = collector.rows[0][0].samples(of: UInt16.self)
      for i in 0..<4000 {
        if alpha == 0 || alpha == 65535 {
          #expect(result[i] == (alpha == 0 ? 0 : samples[i]))
        } else if i % 4 == 3 {
          #expect(result[i] == alpha)
        } else {
          // The product was rounded once, and is stretched by 65,535 / alpha.
          let distance = abs(Int(result[i]) - Int(samples[i]))
          #expect(distance <= 32768 / Int(alpha) + 1)
        }
      }
    }
  }

  @Test func flattenOverWhite() throws {
    for isPremultiplied in [false, true] {
      for alpha in 0...255 {
        var samples: [UInt8] = []
        for value in 0...255 {
          let color = isPremultiplied ? min(value, alpha) : value
          samples += [UInt8(color), 0, UInt8(isPremultiplied ? alpha : 255), UInt8(alpha)]
        }
        let layout = PlaneLayout(width: 256, height: 1, channels: 4, sampleType: .uint8, maximum: 255)
        var output = layout
        output.channels = 3
        let collector = RowCollector(rowBytes: [output.bytesPerRow])
        let flatten = try AlphaStages.flatten(
          input: AlphaStages.premultipliedLayout(of: layout), output: output, background: [1, 1, 1], next: collector)
        try AlphaStages.premultiply(input: layout, isPremultiplied: isPremultiplied, next: flatten).write(
          samples: samples)
        let result = collector.rows[0][0]
        for value in 0...255 {
          for c in 0..<3 {
            let color = Double(samples[4 * value + c]) * (isPremultiplied ? 1 : Double(alpha) / 255)
            let exact = color + 255 - Double(alpha)
            if abs(Double(result[3 * value + c]) - exact) > 0.5001 { Issue.record("\(value) of alpha \(alpha)") }
          }
        }
      }
    }
  }
}
