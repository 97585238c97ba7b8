import TestPictures
import Testing

@testable import Raster

@Suite struct Adam7StageTests {
  /// What comes, what is wanted, and how far from whole rows' resampling that may be.
  struct Kind: CustomTestStringConvertible {
    let maximum: Int
    let type: SampleType
    let outputMaximum: Int
    let outputType: SampleType
    let tolerance: Double
    /// How far from the exact value.
    let mostError: Double

    var testDescription: String { "\(maximum) as \(type) to \(outputMaximum) as \(outputType)" }

    /// Partial sums of 16 bits are exact to a 64th of an 8-bit code value, floats to less than one of 16 bits; PlaneResampler
    /// rounds too.
    static let all = [
      Kind(maximum: 255, type: .uint8, outputMaximum: 255, outputType: .uint8, tolerance: 1, mostError: 0.65),
      Kind(maximum: 15, type: .uint8, outputMaximum: 255, outputType: .uint8, tolerance: 1, mostError: 0.65),
      Kind(maximum: 65535, type: .uint16, outputMaximum: 255, outputType: .uint8, tolerance: 1, mostError: 0.65),
      Kind(maximum: 65025, type: .uint16, outputMaximum: 65025, outputType: .uint16, tolerance: 64, mostError: 64),
      Kind(maximum: 65535, type: .uint16, outputMaximum: 65535, outputType: .uint16, tolerance: 1, mostError: 0.6),
    ]
  }

  private func picture(_ kind: Int, _ width: Int, _ height: Int, channels: Int, maximum: Int, _ noise: inout Noise)
    -> Samples
  {
    Samples(width: width, height: height, channels: channels) { x, y, c in
      switch kind % 4 {
      case 0: return Double(Int.random(in: 0...maximum, using: &noise))
      case 1: return noise.next() & 1 == 0 ? 0 : Double(maximum)
      case 2: return (x / 5 + y / 7 + c) & 1 == 0 ? 0 : Double(maximum)
      default: return (x + y + c) & 1 == 0 ? 0 : Double(maximum)
      }
    }
  }

  /// Sends samples through the stage as an interlaced file brings them. What follows a pass's pixels in a row is noise.
  private func staged(_ source: Samples, _ plane: ResampleStage.Plane, noise: inout Noise) throws -> Samples {
    let output = plane.output
    let collector = RowCollector(rowBytes: [output.bytesPerRow])
    let stage = try Adam7Stage(plane: plane, next: collector)
    // As the specification draws it (8.2), apart from the stage's own table.
    let pattern = [
      [1, 6, 4, 6, 2, 6, 4, 6], [7, 7, 7, 7, 7, 7, 7, 7], [5, 6, 5, 6, 5, 6, 5, 6], [7, 7, 7, 7, 7, 7, 7, 7],
      [3, 6, 4, 6, 3, 6, 4, 6], [7, 7, 7, 7, 7, 7, 7, 7], [5, 6, 5, 6, 5, 6, 5, 6], [7, 7, 7, 7, 7, 7, 7, 7],
    ]
    for pass in 1...7 {
      for y in 0..<source.height {
        var row: [UInt16] = []
        for x in 0..<source.width where pattern[y % 8][x % 8] == pass {
          for c in 0..<source.channels { row.append(UInt16(source[x, y, c])) }
        }
        if row.isEmpty { continue }
        row += (row.count..<source.width * source.channels).map { _ in
          UInt16.random(in: 0...UInt16(plane.input.maximum), using: &noise)
        }
        if plane.input.sampleType == .uint8 {
          try stage.write(samples: row.map(UInt8.init))
        } else {
          try stage.write(samples: row)
        }
      }
    }
    try stage.finish()
    #expect(collector.isFinished && collector.rows[0].count == output.height)
    let values = collector.rows[0].map { row in
      output.sampleType == .uint8 ? row.map(Double.init) : row.samples(of: UInt16.self).map(Double.init)
    }
    return Samples(width: output.width, height: output.height, channels: output.channels) { x, y, c in
      values[y][x * output.channels + c]
    }
  }

  /// The largest difference from PlaneResampler's result.
  private func difference(
    _ source: Samples, _ kind: Kind, window: PixelRect? = nil, x: ResamplingAxis, y: ResamplingAxis,
    mapping: PlaneResampler.Mapping? = nil, noise: inout Noise
  ) throws -> Double {
    func layout(_ width: Int, _ height: Int, _ type: SampleType, _ maximum: Int) -> PlaneLayout {
      PlaneLayout(width: width, height: height, channels: source.channels, sampleType: type, maximum: maximum)
    }
    let plane = ResampleStage.Plane(
      input: layout(source.width, source.height, kind.type, kind.maximum),
      window: window ?? PixelRect(x: 0, y: 0, width: source.width, height: source.height), x: x, y: y,
      output: layout(x.count, y.count, kind.outputType, kind.outputMaximum), mapping: mapping)
    let expected = try resampled(
      source, maximum: kind.maximum, type: kind.type, window: window, x: x, y: y, to: kind.outputMaximum,
      as: kind.outputType, mapping: mapping)
    let result = try staged(source, plane, noise: &noise)
    let exact = Reference.resample(window.map(source.cut) ?? source, x: x, y: y)
    let scale = mapping?.scale ?? Double(kind.outputMaximum) / Double(kind.maximum)
    let error = zip(result.values, exact.values).reduce(0) { worst, pair in
      max(worst, abs(pair.0 - min(max(pair.1 * scale + (mapping?.bias ?? 0), 0), Double(kind.outputMaximum))))
    }
    #expect(error <= kind.mostError, "\(source.width)x\(source.height) \(x) \(y)")
    return zip(result.values, expected.values).reduce(0) { max($0, abs($1.0 - $1.1)) }
  }

  @Test(arguments: Kind.all) func isTheSameAsOfWholeRows(_ kind: Kind) throws {
    var noise = Noise(40)
    let ratios = [1, 1.01, 1.3, 1.953, 2, 2.2, 3, 4, 5.5, 7.9, 8, 9.3, 12, 16, 31.7, 64, 100]
    for (i, ratio) in ratios.enumerated() {
      for (width, height) in [(301, 215), (64, 64), (97, 33), (203, 1), (1, 150)] {
        // Every other time the two axes differ, so that boxes are there in one direction alone.
        let other = i % 2 == 0 ? ratio : ratios[(i * 7 + 3) % ratios.count]
        let x = ResamplingAxis.whole(width, to: max(1, Int(Double(width) / ratio)))
        let y = ResamplingAxis.whole(height, to: max(1, Int(Double(height) / other)))
        let source = picture(i, width, height, channels: 1 + (i + width) % 4, maximum: kind.maximum, &noise)
        let difference = try difference(source, kind, x: x, y: y, noise: &noise)
        #expect(difference <= kind.tolerance, "\(width)x\(height) \(x) \(y)")
      }
    }
  }

  @Test(arguments: ResamplingKernel.allCases) func isTheSameWithEveryFilter(_ kernel: ResamplingKernel) throws {
    var noise = Noise(48)
    for (i, ratio) in [1, 1.3, 3.7, 8, 31.7].enumerated() {
      for kind in Kind.all {
        for (width, height) in [(97, 83), (203, 1)] {
          let source = picture(i, width, height, channels: 1 + i % 4, maximum: kind.maximum, &noise)
          let difference = try difference(
            source, kind, x: .whole(width, to: max(1, Int(Double(width) / ratio)), kernel: kernel),
            y: .whole(height, to: max(1, Int(Double(height) / ratio)), kernel: kernel), noise: &noise)
          #expect(difference <= kind.tolerance, "\(kind) \(width)x\(height) 1:\(ratio)")
        }
      }
    }
  }

  /// Overshoot of alpha is taken back from colour too, as whole rows' resampling does.
  @Test func premultipliedColourStaysWithinAlpha() throws {
    var noise = Noise(49)
    for (ratio, maximum) in [(1.7, 65025), (3.2, 65535), (9.5, 65535)] {
      let (width, height) = (120, 90)
      let source = Samples(width: width, height: height, channels: 4) { x, y, c in
        let alpha = (x / 7 + y / 9) & 1 == 0 ? 0.0 : 1
        return (alpha * Double(maximum) * (c == 3 ? 1 : 0.6)).rounded()
      }
      let x = ResamplingAxis.whole(width, to: Int(Double(width) / ratio))
      let y = ResamplingAxis.whole(height, to: Int(Double(height) / ratio))
      func layout(_ width: Int, _ height: Int) -> PlaneLayout {
        PlaneLayout(width: width, height: height, channels: 4, sampleType: .uint16, maximum: maximum)
      }
      var plane = ResampleStage.Plane(
        input: layout(width, height), window: PixelRect(x: 0, y: 0, width: width, height: height), x: x, y: y,
        output: layout(x.count, y.count))
      plane.isPremultiplied = true
      let staged = try staged(source, plane, noise: &noise)
      let whole = try resampled(
        source, maximum: maximum, type: .uint16, x: x, y: y, to: maximum, as: .uint16, isPremultiplied: true)
      for i in stride(from: 0, to: whole.values.count, by: 4) {
        for values in [staged.values, whole.values] {
          #expect(abs(values[i] - values[i + 3] * 0.6) < (maximum == 65025 ? 80 : 2))
        }
      }
      #expect(zip(staged.values, whole.values).allSatisfy { abs($0 - $1) <= (maximum == 65025 ? 64 : 2) })
    }
  }

  @Test(arguments: Kind.all) func smallSides(_ kind: Kind) throws {
    var noise = Noise(41)
    for width in 1...18 {
      for height in 1...18 {
        for (i, (toWidth, toHeight)) in [(width, height), ((width + 1) / 2, (height + 1) / 2), (1, 1)].enumerated() {
          let source = picture(width + i, width, height, channels: 1 + height % 4, maximum: kind.maximum, &noise)
          let difference = try difference(
            source, kind, x: .whole(width, to: toWidth), y: .whole(height, to: toHeight), noise: &noise)
          #expect(difference <= kind.tolerance, "\(width)x\(height) to \(toWidth)x\(toHeight)")
        }
      }
    }
  }

  @Test(arguments: Kind.all) func windows(_ kind: Kind) throws {
    var noise = Noise(42)
    for i in 0..<60 {
      let step = [1, 1.4, 2, 3.1, 6, 8, 11][i % 7]
      let count = max(1, Int(Double.random(in: 1...140, using: &noise) / step))
      let origin = Double.random(in: -0.6 * step...1.5, using: &noise)
      let side = max(1, Int((origin + step * (Double(count) - 0.3)).rounded(.up)))
      let axis = ResamplingAxis(sourceCount: side, origin: origin, step: step, count: count)
      let source = picture(i, side + 19, side + 21, channels: 1 + i % 4, maximum: kind.maximum, &noise)
      let window = PixelRect(x: i % 19, y: i % 17, width: side, height: side)
      let mapping =
        i % 3 == 0
        ? PlaneResampler.Mapping(scale: 1.1 * Double(kind.outputMaximum) / Double(kind.maximum), bias: -7) : nil
      let difference = try difference(source, kind, window: window, x: axis, y: axis, mapping: mapping, noise: &noise)
      #expect(difference <= kind.tolerance * (mapping == nil ? 1 : 1.1), "window \(i)")
    }
  }

  @Test func oneToOneIsTheIdentity() throws {
    var noise = Noise(43)
    for kind in [Kind.all[0], Kind.all[4]] {
      for (width, height, channels) in [(1, 1, 1), (37, 41, 3), (130, 17, 4), (7, 100, 2)] {
        let source = picture(0, width, height, channels: channels, maximum: kind.maximum, &noise)
        let difference = try difference(
          source, kind, x: .whole(width, to: width), y: .whole(height, to: height), noise: &noise)
        #expect(difference == 0)
      }
    }
  }

  /// The way of the even rows near 1:1, that of the output rows where it has fewer rows, and what they hold.
  @Test func takesTheWayThatHoldsLess() {
    func sizes(_ width: Int, _ height: Int, to toWidth: Int, _ toHeight: Int, _ type: SampleType = .uint8)
      -> Adam7Sizes
    {
      func layout(_ width: Int, _ height: Int) -> PlaneLayout {
        PlaneLayout(
          width: width, height: height, channels: 3, sampleType: type, maximum: type == .uint8 ? 255 : 65535)
      }
      let plane = ResampleStage.Plane(
        input: layout(width, height), window: PixelRect(x: 0, y: 0, width: width, height: height),
        x: .whole(width, to: toWidth), y: .whole(height, to: toHeight), output: layout(toWidth, toHeight))
      let sizes = Adam7Sizes(plane)
      #expect(sizes.byteCount == Adam7Stage.byteCount(plane: plane))
      #expect((sizes.way == .evenRows) == (sizes.evenRows + sizes.oddRows + 1 < toHeight + 16))
      return sizes
    }
    #expect(sizes(4000, 3000, to: 4000, 3000).way == .evenRows)
    #expect(sizes(4000, 3000, to: 1000, 750).way == .outputRows)
    #expect(sizes(4000, 3000, to: 1000, 750, .uint16).way == .outputRows)
    #expect(sizes(4000, 3000, to: 2048, 1536).byteCount < 21 << 20)
    // A claim, not a picture: counted without overflow.
    #expect(sizes(1_000_000, 1_000_000, to: 1_000_000, 1_000_000, .uint16).byteCount > 1 << 42)
  }

  @Test func tooFewRowsAreDamage() throws {
    let layout = PlaneLayout(width: 9, height: 9, channels: 1, sampleType: .uint8, maximum: 255)
    let plane = ResampleStage.Plane(
      input: layout, window: PixelRect(x: 0, y: 0, width: 9, height: 9), x: .whole(9, to: 9), y: .whole(9, to: 9),
      output: layout)
    let collector = RowCollector(rowBytes: [9])
    let stage = try Adam7Stage(plane: plane, next: collector)
    let rows = Adam7Pass.passes(width: 9, height: 9).reduce(0) { $0 + $1.rows(before: 9) }
    for _ in 1..<rows { try stage.write(samples: [UInt8](repeating: 1, count: 9)) }
    let error = #expect(throws: DownsampleError.self) { try stage.finish() }
    #expect(error?.code == .damagedData)
  }

  @Test func whatTheFilterTakesIsNeverMoreThanWasCounted() {
    for step in [0.3, 0.9, 1, 1.0001, 1.5, 2, 3.3, 7.99, 8, 20, 333, 1500] {
      for count in [1, 2, 7, 100] {
        for origin in [-0.6, 0, 0.25] {
          let source = max(1, Int((Double(count) * step).rounded(.up)))
          let axis = ResamplingAxis(sourceCount: source, origin: origin, step: step, count: count).boxed
          #expect(FilterWeights(axis: axis).taps <= FilterWeights.mostTaps(of: axis))
        }
      }
    }
  }
}
