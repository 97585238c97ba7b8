import TestPictures
import Testing

@testable import Raster

@Suite struct AlphaEdgeTests {
  private let width = 45
  private let height = 33

  private func layout(_ width: Int, _ height: Int, _ channels: Int, _ maximum: Int) -> PlaneLayout {
    PlaneLayout(
      width: width, height: height, channels: channels, sampleType: maximum == 255 ? .uint8 : .uint16, maximum: maximum)
  }

  /// Straight RGBA, resampled and laid over a background (without alpha), or divided again.
  private func made(_ source: [Int], maximum: Int, ratio: Double, kernel: ResamplingKernel, background: [Double]?)
    throws
    -> [Int]
  {
    let size = (x: Int(Double(width) / ratio), y: Int(Double(height) / ratio))
    let input = layout(width, height, 4, maximum)
    let premultiplied = AlphaStages.premultipliedLayout(of: input)
    let resampled = layout(size.x, size.y, 4, premultiplied.maximum)
    let output = layout(size.x, size.y, background == nil ? 4 : 3, maximum)
    let collector = RowCollector(rowBytes: [output.bytesPerRow])
    let last =
      try background.map {
        try AlphaStages.flatten(input: resampled, output: output, background: $0, next: collector)
      } ?? AlphaStages.unpremultiply(input: resampled, output: output, next: collector)
    var plane = ResampleStage.Plane(
      input: premultiplied, window: PixelRect(x: 0, y: 0, width: width, height: height),
      x: .whole(width, to: size.x, kernel: kernel), y: .whole(height, to: size.y, kernel: kernel), output: resampled)
    plane.isPremultiplied = true
    let first = try AlphaStages.premultiply(
      input: input, isPremultiplied: false, next: try ResampleStage(planes: [plane], next: last))
    for y in 0..<height {
      let row = source[y * width * 4..<(y + 1) * width * 4]
      if maximum == 255 {
        try first.write(samples: row.map { UInt8($0) })
      } else {
        try first.write(samples: row.map { UInt16($0) })
      }
    }
    try first.finish()
    return collector.rows[0].flatMap { maximum == 255 ? $0.map(Int.init) : $0.samples(of: UInt16.self).map(Int.init) }
  }

  private func picture(hidden: Int, color: [Int], maximum: Int) -> [Int] {
    (0..<width * height).flatMap { i -> [Int] in
      let (x, y) = (i % width, i / width)
      return (x / 5 + y / 6) & 1 == 0 || x == y ? [hidden, hidden, hidden, 0] : color + [maximum]
    }
  }

  /// One colour with hard edges of alpha: over a background nothing leaves the range between the two, and divided by alpha
  /// it is that colour again.
  @Test(arguments: ResamplingKernel.allCases, [255, 65535])
  func oneColourMakesNoHalo(_ kernel: ResamplingKernel, _ maximum: Int) throws {
    let color = [maximum * 2 / 5, maximum, maximum / 50]
    let source = picture(hidden: 0, color: color, maximum: maximum)
    for ratio in [1, 1.37, 3.3, 9] {
      for background in [[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5]] {
        let over = try made(source, maximum: maximum, ratio: ratio, kernel: kernel, background: background)
        for (i, value) in over.enumerated() {
          let under = Int((background[i % 3] * Double(maximum)).rounded())
          #expect(value >= min(under, color[i % 3]) - 1 && value <= max(under, color[i % 3]) + 1)
        }
      }
      let divided = try made(source, maximum: maximum, ratio: ratio, kernel: kernel, background: nil)
      for i in stride(from: 0, to: divided.count, by: 4) where divided[i + 3] * 16 > maximum {
        for c in 0..<3 { #expect(abs(divided[i + c] - color[c]) <= 1 + maximum / 4096) }
      }
    }
  }

  @Test(arguments: ResamplingKernel.allCases) func hiddenColoursNeverShow(_ kernel: ResamplingKernel) throws {
    for ratio in [1, 1.37, 2, 9] {
      for background in [nil, [0.2, 0.5, 1]] {
        let black = try made(
          picture(hidden: 0, color: [10, 200, 90], maximum: 255), maximum: 255, ratio: ratio, kernel: kernel,
          background: background)
        let white = try made(
          picture(hidden: 255, color: [10, 200, 90], maximum: 255), maximum: 255, ratio: ratio, kernel: kernel,
          background: background)
        #expect(black == white)
      }
    }
  }

  /// Where nothing is transparent, alpha changes nothing.
  @Test(arguments: [255, 65535]) func opaqueIsAsWithoutAlpha(_ maximum: Int) throws {
    var noise = Noise(61)
    var source: [Int] = []
    for _ in 0..<width * height {
      for _ in 0..<3 { source.append(noise.next() & 1 == 0 ? 0 : maximum) }
      source.append(maximum)
    }
    let type: SampleType = maximum == 255 ? .uint8 : .uint16
    let plain = Samples(width: width, height: height, channels: 3) { x, y, c in
      Double(source[(y * width + x) * 4 + c])
    }
    for ratio in [1, 1.37, 2, 9] {
      let expected = try resampled(
        plain, maximum: maximum, type: type, x: .whole(width, to: Int(Double(width) / ratio)),
        y: .whole(height, to: Int(Double(height) / ratio)), to: maximum, as: type)
      let over = try made(source, maximum: maximum, ratio: ratio, kernel: .lanczos3, background: [0, 0, 0])
      #expect(zip(over, expected.values).allSatisfy { abs(Double($0) - $1) <= 1 })
    }
  }
}
