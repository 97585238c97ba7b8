import Glibc
import TestPictures
import Testing

@testable import Raster

@Suite struct ToneMappingTests {
  private func map(
    _ samples: [UInt16], channels: Int, _ mapping: ToneMapping, as type: SampleType = .uint16
  ) throws -> [Int] {
    let input = PlaneLayout(
      width: samples.count / channels, height: 1, channels: channels, sampleType: .uint16, maximum: 65535)
    var output = input
    output.sampleType = type
    output.maximum = type == .uint8 ? 255 : 65535
    let collector = RowCollector(rowBytes: [output.bytesPerRow])
    try ColorStages.toneMap(mapping, input: input, output: output, next: collector).write(samples: samples)
    let bytes = collector.rows[0][0]
    return type == .uint8 ? bytes.map(Int.init) : bytes.samples(of: UInt16.self).map(Int.init)
  }

  @Test func pqAndHLGAsTheStandardsSay() {
    // ST 2084 and BT.2408, table 1.
    #expect(abs(ToneMapping.pqCode(100) - 0.508) < 0.001 && abs(ToneMapping.pqCode(203) - 0.5807) < 0.0005)
    #expect(abs(ToneMapping.pqCode(1000) - 0.7518) < 0.0005 && abs(ToneMapping.pqCode(10000) - 1) < 1e-9)
    for step in 0...50 {
      let code = Double(step) / 50
      #expect(abs(ToneMapping.pqCode(ToneMapping.pqLight(code)) - code) < 1e-9 || code == 0)
    }
    #expect(abs(ToneMapping.hlgLight(0.5) - 1.0 / 12) < 1e-9 && abs(ToneMapping.hlgLight(1) - 1) < 1e-6)
    // BT.2100: HLG's 75% is 203 cd/m2 on a display of 1,000.
    #expect(abs(1000 * Glibc.pow(ToneMapping.hlgLight(0.75), 1.2) - 203) < 1)
  }

  @Test func theCurveBelowItsKneeIsTheIdentity() {
    for peak in [203.0, 400, 1000, 4000, 10000] {
      let knee = ToneMapping.pqLight(
        (1.5 * ToneMapping.pqCode(203) / ToneMapping.pqCode(peak) - 0.5) * ToneMapping.pqCode(peak))
      var last = 0.0
      for step in 0...2000 {
        let light = ToneMapping.pqLight(Double(step) / 2000)
        let shown = ToneMapping.displayed(light, peak: peak)
        #expect(shown >= last - 1e-9 && shown <= 203 + 1e-6 && shown <= light + 1e-6)
        if light < knee * 0.999 { #expect(abs(shown - light) < 1e-6 * max(light, 1)) }
        last = shown
      }
      #expect(abs(last - 203) < 0.01, "peak \(peak)")
    }
  }

  @Test(arguments: [ToneMapping.Transfer.pq, .hlg], [1, 3]) func grayRamps(
    _ transfer: ToneMapping.Transfer, _ channels: Int
  ) throws {
    for peak in [600.0, 1000, 4000] {
      let mapping = ToneMapping(from: transfer, primaries: .bt2020, peak: peak, to: .srgb)
      let ramp = (0...4095).flatMap { [UInt16](repeating: UInt16($0 * 65535 / 4095), count: channels) }
      for type in [SampleType.uint16, .uint8] {
        let result = try map(ramp, channels: channels, mapping, as: type)
        var last = 0
        for i in 0...4095 {
          let pixel = Array(result[i * channels..<(i + 1) * channels])
          #expect(pixel.max()! - pixel.min()! <= (type == .uint8 ? 1 : 16), "gray stays gray")
          #expect(pixel[0] >= last - (type == .uint8 ? 0 : 2), "at \(i)")
          last = pixel[0]
        }
        #expect(result[0] == 0 && result.last! >= (type == .uint8 ? 255 : 65500))
      }
      // Against the curve itself.
      let deep = try map(ramp, channels: channels, mapping)
      for i in stride(from: 0, through: 4095, by: 15) {
        let code = Double(i * 65535 / 4095) / 65535
        let light = transfer == .pq ? ToneMapping.pqLight(code) : 1000 * Glibc.pow(ToneMapping.hlgLight(code), 1.2)
        let shown = ToneMapping.displayed(light, peak: transfer == .pq ? peak : 1000) / 203
        #expect(abs(Double(deep[i * channels]) - ToneCurve.srgb.code(of: shown) * 65535) <= 60, "at \(i)")
      }
    }
  }

  /// Within the output's primaries the three channels keep their proportions.
  @Test(arguments: [ToneMapping.Transfer.pq, .hlg]) func hueIsKept(_ transfer: ToneMapping.Transfer) throws {
    let mapping = ToneMapping(from: transfer, primaries: .bt709, peak: 1000, to: .srgb)
    var noise = Noise(90)
    let samples: [UInt16] = (0..<3000).map { _ in UInt16.random(in: 20000...65535, using: &noise) }
    let result = try map(samples, channels: 3, mapping)
    for i in 0..<1000 {
      let light = (0..<3).map { channel in
        let code = Double(samples[3 * i + channel]) / 65535
        return transfer == .pq ? ToneMapping.pqLight(code) : ToneMapping.hlgLight(code)
      }
      let shown = (0..<3).map { ToneCurve.srgb.light(of: Double(result[3 * i + $0]) / 65535) }
      let (most, brightest) = (light.max()!, shown.max()!)
      for channel in 0..<3 { #expect(abs(shown[channel] / brightest - light[channel] / most) < 0.003) }
    }
  }

  /// What sRGB cannot make comes as near to gray as it must, and no further: no channel is cut off by itself.
  @Test func widerColoursAreBroughtInside() throws {
    let mapping = ToneMapping(from: .pq, primaries: .bt2020, peak: 1000, to: .srgb)
    let red: [UInt16] = [38000, 1000, 1000]
    let result = try map(red, channels: 3, mapping)
    #expect(result[0] > 40000 && result[1] < 20000 && result[2] < 20000 && result.min()! == 0)
    let alpha = try map([38000, 1000, 1000, 12345], channels: 4, mapping)
    #expect(Array(alpha[..<3]) == result && alpha[3] == 12345)
    let small = try map([38000, 1000, 1000, 65535], channels: 4, mapping, as: .uint8)
    #expect(small[3] == 255 && abs(small[0] - result[0] / 257) <= 1)
  }
}
