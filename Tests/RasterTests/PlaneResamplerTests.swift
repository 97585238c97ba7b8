import Foundation
import TestPictures
import Testing

@testable import Raster

/// Kinds of samples: what goes in, what comes out.
struct Depth: CustomTestStringConvertible {
  let maximum: Int
  let type: SampleType
  let outputMaximum: Int
  let outputType: SampleType

  init(_ maximum: Int, _ type: SampleType, to outputMaximum: Int, _ outputType: SampleType) {
    self.maximum = maximum
    self.type = type
    self.outputMaximum = outputMaximum
    self.outputType = outputType
  }

  var testDescription: String { "\(maximum) as \(type) to \(outputMaximum) as \(outputType)" }

  static let all = [
    Depth(255, .uint8, to: 255, .uint8), Depth(65535, .uint16, to: 65535, .uint16),
    Depth(65535, .uint16, to: 255, .uint8), Depth(65025, .uint16, to: 65025, .uint16),
    Depth(1023, .uint16, to: 255, .uint8), Depth(1023, .uint16, to: 65535, .uint16),
    Depth(4095, .uint16, to: 255, .uint8), Depth(15, .uint8, to: 255, .uint8),
    Depth(255, .uint8, to: 65535, .uint16),
  ]

  /// How its values may be meant: as they are, and luma and colour difference of both ranges.
  var mappings: [PlaneResampler.Mapping?] {
    [nil]
      + [false, true].flatMap { isDifference in
        [false, true].filter { $0 || maximum >= 255 }.map { isFullRange in
          ColorMatrix.fullRange(from: maximum, isFullRange: isFullRange, isDifference: isDifference, to: outputMaximum)
        }
      }
  }
}

@Suite struct PlaneResamplerTests {
  /// Noise, or the hardest edges: samples of 0 and the maximum, in squares or at random.
  private func picture(_ kind: Int, width: Int, height: Int, channels: Int, maximum: Int, noise: inout Noise) -> Samples
  {
    Samples(width: width, height: height, channels: channels) { x, y, c in
      let isDark: Bool
      switch kind % 4 {
      case 0: return Double(Int.random(in: 0...maximum, using: &noise))
      case 1: isDark = noise.next() & 1 == 0
      case 2: isDark = (x / 5 + y / 7 + c) & 1 == 0
      default: isDark = (x + y + c) & 1 == 0
      }
      return isDark ? 0 : Double(maximum)
    }
  }

  /// Checks that the resampler gives the reference within one code value.
  private func check(
    _ source: Samples, _ depth: Depth, window: PixelRect? = nil, x: ResamplingAxis, y: ResamplingAxis,
    mapping: PlaneResampler.Mapping?, _ what: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let result = try resampled(
      source, maximum: depth.maximum, type: depth.type, window: window, x: x, y: y, to: depth.outputMaximum,
      as: depth.outputType, mapping: mapping)
    let exact = Reference.resample(window.map(source.cut) ?? source, x: x, y: y)
    let scale = mapping?.scale ?? Double(depth.outputMaximum) / Double(depth.maximum)
    let bias = mapping?.bias ?? 0
    var worst = 0.0
    var worstRounded = 0.0
    for (value, reference) in zip(result.values, exact.values) {
      let clamped = min(max(reference * scale + bias, 0), Double(depth.outputMaximum))
      worst = max(worst, abs(value - clamped))
      worstRounded = max(worstRounded, abs(value - clamped.rounded()))
    }
    #expect(worstRounded <= 1, "\(what) \(depth.testDescription) \(x) \(y)", sourceLocation: sourceLocation)
    // To 8 bits hardly more is lost than by rounding once. Means of boxes are rounded to 16 bits: where those are the output's
    // too, that is half a code value more.
    #expect(
      worst < (depth.outputType == .uint8 ? 0.65 : 1.1), "\(what) \(depth.testDescription) \(x) \(y)",
      sourceLocation: sourceLocation)
  }

  private static let ratios: [Double] =
    [
      1, 1.0001, 1.01, 1.1, 1.25, 4 / 3, 1.5, 5 / 3, 1.953125, 1.97, 2, 2.1, 2.5, 3, 3.3, 3.9375, 4, 4.7, 5, 6, 6.5, 7,
      7.9,
    ]
    + [7.999, 8, 8.001, 9, 10.5, 11.99, 12, 15.5, 16, 20, 25, 31.7, 50, 64, 100, 128.5, 200, 256, 333.3, 400, 500]

  @Test(arguments: Depth.all) func matchesTheReferenceAtEveryRatio(_ depth: Depth) throws {
    var noise = Noise(20)
    for (i, ratio) in Self.ratios.enumerated() {
      // The other axis at another ratio, so that boxes are there in none, one and both directions.
      let other = i % 3 == 0 ? ratio : Self.ratios[(i * 17 + 5) % Self.ratios.count]
      func count(_ ratio: Double, _ most: Double) -> Int { max(1, Int(min(most, 500 / ratio))) }
      let (width, height) = (count(ratio, 37), count(min(other, 60), 19))
      let channels = 1 + i % 4
      let sourceWidth = max(1, Int(Double(width) * ratio))
      let sourceHeight = max(1, Int(Double(height) * min(other, 60)))
      let source = picture(
        i, width: sourceWidth, height: sourceHeight, channels: channels, maximum: depth.maximum, noise: &noise)
      let mappings = depth.mappings
      try check(
        source, depth, x: .whole(sourceWidth, to: width), y: .whole(sourceHeight, to: height),
        mapping: mappings[i % mappings.count], "1:\(ratio)")
    }
  }

  @Test(arguments: Depth.all) func matchesTheReferenceWithEveryMapping(_ depth: Depth) throws {
    var noise = Noise(21)
    for mapping in depth.mappings {
      for kind in 0..<4 {
        for (from, to) in [((61, 47), (31, 13)), ((90, 95), (9, 8)), ((20, 21), (20, 21))] {
          let source = picture(
            kind, width: from.0, height: from.1, channels: 1 + kind, maximum: depth.maximum, noise: &noise)
          try check(
            source, depth, x: .whole(from.0, to: to.0), y: .whole(from.1, to: to.1), mapping: mapping, "kind \(kind)")
        }
      }
    }
  }

  @Test(arguments: Depth.all) func strips(_ depth: Depth) throws {
    var noise = Noise(22)
    for target in [1, 2, 7, 40, 499, 2048] {
      let wide = picture(target, width: 20000, height: 1, channels: 1, maximum: depth.maximum, noise: &noise)
      try check(wide, depth, x: .whole(20000, to: target), y: .whole(1, to: 1), mapping: nil, "wide")
      try check(wide.transposed, depth, x: .whole(1, to: 1), y: .whole(20000, to: target), mapping: nil, "high")
    }
  }

  @Test func smallSides() throws {
    var noise = Noise(23)
    for depth in [Depth.all[0], Depth.all[2]] {
      for source in 1...14 {
        for target in 1...source {
          let samples = picture(
            source + target, width: source, height: 15 - source, channels: 3, maximum: depth.maximum, noise: &noise)
          let y = ResamplingAxis.whole(15 - source, to: min(target, 15 - source))
          try check(samples, depth, x: .whole(source, to: target), y: y, mapping: nil, "small")
        }
      }
    }
  }

  /// Enlarged planes: halved chroma to whole, and ratios at which some outputs lie on a source sample, and others do not.
  @Test(arguments: [0.5, 1.0 / 3, 0.25, 0.6, 0.75, 0.9, 0.999, 1.000_000_01])
  func upsampling(_ step: Double) throws {
    var noise = Noise(24)
    for depth in [Depth.all[0], Depth.all[1]] {
      for kind in 0..<4 {
        for source in [1, 2, 3, 7, 40] {
          let samples = picture(
            kind, width: source, height: source + 3, channels: 1 + kind % 2, maximum: depth.maximum, noise: &noise)
          func axis(_ source: Int) -> ResamplingAxis {
            ResamplingAxis(sourceCount: source, origin: 0, step: step, count: max(1, Int(Double(source) / step)))
          }
          try check(samples, depth, x: axis(source), y: axis(source + 3), mapping: nil, "by \(step)")
        }
      }
    }
  }

  /// Cuts that begin and end within a sample, before the first one, and beyond the last, as mirrored chroma does.
  @Test func fractionalOriginsAndWindows() throws {
    var noise = Noise(25)
    for depth in [Depth.all[0], Depth.all[1], Depth.all[2]] {
      for i in 0..<60 {
        let step = Self.ratios[(i * 7) % 30]
        let count = max(1, Int(Double.random(in: 1...120, using: &noise) / step))
        let origin = Double.random(in: -0.6 * step...1.5, using: &noise)
        let window = max(1, Int((origin + step * (Double(count) - 0.3)).rounded(.up)))
        let samples = picture(
          i, width: window + 9, height: window + 6, channels: 1 + i % 4, maximum: depth.maximum, noise: &noise)
        let axis = ResamplingAxis(sourceCount: window, origin: origin, step: step, count: count)
        try check(
          samples, depth, window: PixelRect(x: i % 10, y: i % 7, width: window, height: window), x: axis, y: axis,
          mapping: nil, "window")
      }
    }
  }

  @Test func oneToOneIsTheIdentity() throws {
    var noise = Noise(26)
    for depth in Depth.all where depth.maximum == depth.outputMaximum {
      for (width, height, channels) in [(1, 1, 1), (37, 41, 3), (130, 17, 4), (7, 300, 1)] {
        let source = picture(0, width: width, height: height, channels: channels, maximum: depth.maximum, noise: &noise)
        let result = try resampled(
          source, maximum: depth.maximum, type: depth.type, x: .whole(width, to: width), y: .whole(height, to: height),
          to: depth.outputMaximum, as: depth.outputType)
        #expect(result.values == source.values)
      }
    }
  }

  @Test(arguments: Depth.all) func flatStaysFlat(_ depth: Depth) throws {
    for (i, ratio) in Self.ratios.enumerated() {
      let height = 1 + 160 / Int(ratio + 1)
      let y = ResamplingAxis.whole(height, to: max(1, Int(Double(height) / ratio)))
      let width = 1 + 400 / Int(ratio + 1)
      let x = ResamplingAxis.whole(width, to: max(1, Int(Double(width) / ratio)))
      for value in [0, 1, depth.maximum / 3, depth.maximum / 2 + i, depth.maximum - 1, depth.maximum]
      where value <= depth.maximum {
        let source = Samples(width: width, height: height, channels: 1) { _, _, _ in Double(value) }
        let result = try resampled(
          source, maximum: depth.maximum, type: depth.type, x: x, y: y, to: depth.outputMaximum, as: depth.outputType)
        let expected = (Double(value) * Double(depth.outputMaximum) / Double(depth.maximum)).rounded()
        #expect(result.values.allSatisfy { $0 == expected }, "\(value) at 1:\(ratio)")
      }
    }
  }

  @Test func mirroredInMirroredOut() throws {
    var noise = Noise(27)
    for depth in [Depth.all[0], Depth.all[1], Depth.all[2]] {
      // Boxes are counted from the left and the top: only where the last one is full are they the same from the other side.
      for (ratio, width, height) in [
        (1.1, 91, 67), (1.5, 91, 67), (1.97, 91, 67), (2, 91, 67), (3.3, 91, 67), (5, 91, 67), (7, 91, 67),
        (16, 96, 64),
      ] {
        let source = picture(1, width: width, height: height, channels: 3, maximum: depth.maximum, noise: &noise)
        let mirrored = Samples(width: width, height: height, channels: 3) {
          source[width - 1 - $0, height - 1 - $1, $2]
        }
        let x = ResamplingAxis.whole(width, to: Int(Double(width) / ratio))
        let y = ResamplingAxis.whole(height, to: Int(Double(height) / ratio))
        func result(_ samples: Samples) throws -> Samples {
          try resampled(
            samples, maximum: depth.maximum, type: depth.type, x: x, y: y, to: depth.outputMaximum, as: depth.outputType
          )
        }
        let (one, other) = (try result(source), try result(mirrored))
        for yy in 0..<y.count {
          for xx in 0..<x.count {
            for c in 0..<3 {
              #expect(abs(one[xx, yy, c] - other[x.count - 1 - xx, y.count - 1 - yy, c]) <= 1)
            }
          }
        }
      }
    }
  }

  /// How far boxes and Lanczos are from Lanczos alone where there is no detail beyond the output's: a quarter of its Nyquist
  /// frequency. A last box of fewer samples is taken for a whole one, which shows in the outputs whose filters reach it.
  @Test func boxesAreCloseToLanczosAlone() throws {
    var worst = 0.0
    for ratio in [8, 9.7, 11.9, 16, 31, 64] {
      let count = 24
      let source = Samples(width: Int(ratio * Double(count)), height: 1, channels: 1) { x, _, _ in
        (127.5 + 127 * sin(Double(x) / ratio * .pi / 4)).rounded()
      }
      let x = ResamplingAxis.whole(source.width, to: count)
      let y = ResamplingAxis.whole(1, to: 1)
      let boxed = try resampled(source, maximum: 255, type: .uint8, x: x, y: y, to: 255, as: .uint8)
      let pure = Reference.resample(source, x: x, y: y, boxed: false)
      for i in 0..<count { worst = max(worst, abs(boxed.values[i] - min(max(pure.values[i], 0), 255))) }
    }
    #expect(worst < 0.8)
  }

  @Test func rowsHeldDoNotGrowWithTheRatio() throws {
    for step in stride(from: 1.0, to: 2048, by: 0.37) {
      let axis = ResamplingAxis(sourceCount: 3_000_000, origin: 0, step: step, count: 20)
      #expect(FilterWeights(axis: axis.boxed).taps <= 49, "1:\(step)")
    }
    // The box has reached its limit: now they do, a 256th as fast.
    for step in [3000.0, 10000, 60000] {
      let axis = ResamplingAxis(sourceCount: 3_000_000, origin: 0, step: step, count: 20)
      #expect(axis.boxFactor == 256)
      #expect(FilterWeights(axis: axis.boxed).taps <= Int(6 * step / 256) + 1)
    }
    let layout = PlaneLayout(width: 5000, height: 5000, channels: 1, sampleType: .uint8, maximum: 255)
    let small = PlaneLayout(width: 2, height: 2, channels: 1, sampleType: .uint8, maximum: 255)
    let resampler = try PlaneResampler(
      input: layout, window: PixelRect(x: 0, y: 0, width: 5000, height: 5000), x: .whole(5000, to: 2),
      y: .whole(5000, to: 2), output: small
    ) { _ throws(DownsampleError) in }
    #expect(resampler.rowTaps <= 49)
  }

  /// What is planned with, without making the weights.
  @Test func tapsAreBounded() {
    var noise = Noise(17)
    for _ in 0..<3000 {
      let count = Int.random(in: 1...60, using: &noise)
      let step = exp(Double.random(in: -2...5, using: &noise))
      let axis = ResamplingAxis(
        sourceCount: max(1, Int(Double(count) * step) + Int.random(in: -2...2, using: &noise)),
        origin: Double.random(in: -1...1, using: &noise), step: step, count: count
      ).boxed
      #expect(FilterWeights(axis: axis).taps <= axis.mostTaps, "\(axis)")
    }
  }
}
