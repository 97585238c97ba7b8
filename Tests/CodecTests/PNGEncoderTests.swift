import Raster
import Testing

@testable import Codecs

@Suite struct PNGEncoderTests {
  private func encode(_ samples: [UInt8], width: Int, channels: Int, effort: Int) throws -> [UInt8] {
    let bytesPerRow = width * channels
    let layout = EncodedLayout(
      size: PixelSize(width: width, height: samples.count / bytesPerRow), color: channels < 3 ? .gray : .rgb,
      hasAlpha: channels % 2 == 0, sampleType: .uint8)
    let settings = EncoderSettings(quality: 90, iccProfile: [], effort: effort)
    let sink = Collected()
    let encoder = try PNGEncoder(layout: layout, settings: settings, sink: sink)
    try samples.withUnsafeBytes {
      for at in stride(from: 0, to: samples.count, by: bytesPerRow) {
        try encoder.write($0.baseAddress! + at, plane: 0)
      }
    }
    try encoder.finish()
    #expect(encoder.mostHeld <= PNGEncoder.memory(layout: layout, settings: settings).totalBytes)
    return sink.bytes
  }

  private func samples(_ file: [UInt8]) throws -> [UInt8] {
    let decoder = try PNGDecoder(source: Bytes(file, atMost: 1 << 20))
    let layout = try decoder.begin(target: decoder.header.codedSize, threads: 1)
    var bytes: [UInt8] = []
    while let band = try decoder.nextBand() {
      bytes += UnsafeRawBufferPointer(start: band.planes[0].samples, count: layout.planes[0].layout.bytesPerRow)
    }
    return bytes
  }

  /// Pixels are the same at every effort, and the most makes a smaller file of a graphic than the default.
  @Test(arguments: [1, 2, 3, 4]) func everyEffort(channels: Int) throws {
    for (width, height) in [(90, 70), (1, 9), (70, 1)] {
      let graphic = (0..<width * height * channels).map { index in
        let (x, y) = (index / channels % width, index / channels / width)
        return UInt8((x / 9 * 31 + y / 7 * 57) % 5 * 50 + (x % 9 == 0 || y % 7 == 0 ? index % channels : 3))
      }
      let files = try (1...9).map { try encode(graphic, width: width, channels: channels, effort: $0) }
      for (i, file) in files.enumerated() { #expect(try samples(file) == graphic, "effort \(i + 1)") }
      if width == 90 { #expect(files[8].count < files[1].count) }
    }
  }
}
