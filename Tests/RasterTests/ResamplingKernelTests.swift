import Foundation
import TestPictures
import Testing

@testable import Raster

@Suite struct ResamplingKernelTests {
  private static let ratios = [
    1, 1.01, 1.3, 1.5, 1.953, 2, 2.2, 3, 4, 5.5, 7, 7.9, 8, 9.3, 12, 16, 31.7, 64, 128.5, 300, 0.5, 0.7,
  ]

  /// Noise and hard edges; whole numbers and fractions of samples; windows that begin and end within a sample.
  @Test(arguments: ResamplingKernel.allCases, Depth.all)
  func matchesTheReference(_ kernel: ResamplingKernel, _ depth: Depth) throws {
    var noise = Noise(50)
    // Every third ratio for each kind of samples, others for another.
    let first = (depth.maximum + (depth.outputType == .uint8 ? 0 : 1)) % 3
    for (i, ratio) in Self.ratios.enumerated() where i % 3 == first {
      let other = i % 2 == 0 ? ratio : Self.ratios[(i * 7 + 3) % 20]
      let channels = 1 + i % 4
      func axis(_ ratio: Double, most: Double, shift: Double) -> ResamplingAxis {
        let count = max(1, Int(min(most, 150 / ratio)))
        let source = max(1, Int((Double(count) * ratio + shift).rounded(.up)))
        return ResamplingAxis(sourceCount: source, origin: shift, step: ratio, count: count, kernel: kernel)
      }
      let shift = i % 3 == 0 ? 0 : Double.random(in: -0.4...0.6, using: &noise) * ratio
      let x = axis(ratio, most: 23, shift: shift)
      let y = axis(min(other, 70), most: 11, shift: shift)
      let source = Samples(width: x.sourceCount, height: y.sourceCount, channels: channels) { x, y, c in
        i % 2 == 0
          ? Double(Int.random(in: 0...depth.maximum, using: &noise))
          : (x / 3 + y / 5 + c) & 1 == 0 ? 0 : Double(depth.maximum)
      }
      let result = try resampled(
        source, maximum: depth.maximum, type: depth.type, x: x, y: y, to: depth.outputMaximum, as: depth.outputType)
      let exact = Reference.resample(source, x: x, y: y)
      let scale = Double(depth.outputMaximum) / Double(depth.maximum)
      var worst = 0.0
      for (value, reference) in zip(result.values, exact.values) {
        let clamped = min(max(reference * scale, 0), Double(depth.outputMaximum))
        worst = max(worst, abs(value - clamped))
      }
      #expect(worst < (depth.outputType == .uint8 ? 0.65 : 1.1), "\(x) \(y)")
    }
  }

  @Test(arguments: ResamplingKernel.allCases) func oneToOneIsTheIdentity(_ kernel: ResamplingKernel) throws {
    var noise = Noise(51)
    for depth in Depth.all where depth.maximum == depth.outputMaximum {
      for (width, height) in [(1, 1), (37, 41), (7, 300)] {
        let source = Samples(width: width, height: height, channels: 3) { _, _, _ in
          Double(Int.random(in: 0...depth.maximum, using: &noise))
        }
        let result = try resampled(
          source, maximum: depth.maximum, type: depth.type, x: .whole(width, to: width, kernel: kernel),
          y: .whole(height, to: height, kernel: kernel), to: depth.outputMaximum, as: depth.outputType)
        #expect(result.values == source.values)
      }
    }
  }

  @Test(arguments: ResamplingKernel.allCases) func flatStaysFlat(_ kernel: ResamplingKernel) throws {
    for ratio in Self.ratios {
      let count = max(1, Int(min(9, 150 / ratio)))
      let x = ResamplingAxis.whole(max(1, Int(Double(count) * ratio)), to: count, kernel: kernel)
      for depth in [Depth.all[0], Depth.all[1], Depth.all[7]] {
        for value in [1, depth.maximum / 3, depth.maximum] {
          let source = Samples(width: x.sourceCount, height: x.sourceCount, channels: 1) { _, _, _ in Double(value) }
          let result = try resampled(
            source, maximum: depth.maximum, type: depth.type, x: x, y: x, to: depth.outputMaximum, as: depth.outputType)
          let expected = (Double(value) * Double(depth.outputMaximum) / Double(depth.maximum)).rounded()
          #expect(result.values.allSatisfy { $0 == expected }, "\(value) at 1:\(ratio)")
        }
      }
    }
  }

  /// What is planned with, without making the weights.
  @Test(arguments: ResamplingKernel.allCases) func tapsAreBounded(_ kernel: ResamplingKernel) {
    var noise = Noise(52)
    for _ in 0..<500 {
      let count = Int.random(in: 1...60, using: &noise)
      let step = exp(Double.random(in: -2...5, using: &noise))
      let axis = ResamplingAxis(
        sourceCount: max(1, Int(Double(count) * step) + Int.random(in: -2...2, using: &noise)),
        origin: Double.random(in: -1...1, using: &noise), step: step, count: count, kernel: kernel
      ).boxed
      let weights = FilterWeights(axis: axis)
      #expect(weights.taps <= axis.mostTaps && weights.taps <= FilterWeights.mostTaps(of: axis), "\(axis)")
      #expect(zip(weights.starts, weights.starts.dropFirst()).allSatisfy { $0 <= $1 }, "\(axis)")
      #expect(weights.starts.allSatisfy { $0 >= 0 && Int($0) + weights.taps <= axis.sourceCount }, "\(axis)")
    }
  }

  /// The mean of what an output sample covers, also where that is a large part of the picture; and it holds no rows for it.
  @Test func boxIsTheMeanAtAnyRatio() throws {
    var noise = Noise(53)
    let (width, height) = (900, 500)
    let source = Samples(width: width, height: height, channels: 1) { x, _, _ in
      Double(Int.random(in: 0...(x < 300 ? 255 : 90), using: &noise))
    }
    let result = try resampled(
      source, maximum: 255, type: .uint8, x: .whole(width, to: 3, kernel: .box), y: .whole(height, to: 2, kernel: .box),
      to: 255, as: .uint8)
    for (x, y) in [(0, 0), (1, 0), (2, 1)] {
      var sum = 0.0
      for row in y * 250..<(y + 1) * 250 { for column in x * 300..<(x + 1) * 300 { sum += source[column, row, 0] } }
      #expect(abs(result[x, y, 0] - sum / 75_000) < 0.51)
    }
    let layout = PlaneLayout(width: 5000, height: 5000, channels: 1, sampleType: .uint8, maximum: 255)
    func bytes(_ count: Int) -> Int {
      let axis = ResamplingAxis.whole(5000, to: count, kernel: .box)
      return PlaneResampler.byteCount(
        input: layout, window: PixelRect(x: 0, y: 0, width: 5000, height: 5000), x: axis, y: axis,
        output: PlaneLayout(width: count, height: count, channels: 1, sampleType: .uint8, maximum: 255))
    }
    // The rows under one output row would be 25 MB.
    #expect(bytes(2) < 2 * bytes(600))
  }
}
