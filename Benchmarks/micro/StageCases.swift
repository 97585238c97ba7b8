import CKernels
import Raster

/// Whole stages: what a picture of 12 megapixels costs in them. Rows come from memory that is in no cache, as decoded rows do
/// not.
struct StageCases {
  private final class Sink: RowSink {
    func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {}
    func finish() throws(DownsampleError) {}
  }

  func all() -> [MicroCase] {
    resampling() + turning() + color()
  }

  private func run(_ work: () throws(DownsampleError) -> Void) {
    do {
      try work()
    } catch {
      fail("\(error)")
    }
  }

  private func layout(_ width: Int, _ height: Int, _ channels: Int) -> PlaneLayout {
    PlaneLayout(width: width, height: height, channels: channels, sampleType: .uint8, maximum: 255)
  }

  /// Planes of a whole picture, resampled one after another.
  private func resampling() -> [MicroCase] {
    let noise = Memory.noise(4032 * 3024 * 3)
    func make(_ name: String, _ planes: [(from: PlaneLayout, to: PlaneLayout)]) -> MicroCase {
      let bytes = planes.reduce(0) { $0 + $1.from.bytesPerRow * $1.from.height }
      return MicroCase(group: "resampler", name: name, variant: "shipped", bytes: bytes) {
        run { () throws(DownsampleError) in
          var at = UnsafeRawPointer(noise)
          for (from, to) in planes {
            let x = ResamplingAxis(
              sourceCount: from.width, origin: 0, step: Double(from.width) / Double(to.width), count: to.width)
            let y = ResamplingAxis(
              sourceCount: from.height, origin: 0, step: Double(from.height) / Double(to.height), count: to.height)
            let resampler = try PlaneResampler(
              input: from, window: PixelRect(x: 0, y: 0, width: from.width, height: from.height), x: x, y: y,
              output: to
            ) { _ in }
            for _ in 0..<from.height {
              try resampler.push(at)
              at += from.bytesPerRow
            }
          }
        }
      }
    }
    func planar(_ name: String, to width: Int, _ height: Int) -> MicroCase {
      let half = layout(width / 2, height / 2, 1)
      return make(
        name,
        [
          (layout(4032, 3024, 1), layout(width, height, 1)), (layout(2016, 1512, 1), half),
          (layout(2016, 1512, 1), half),
        ])
    }
    return [
      planar("12 MP 4:2:0 to 2048", to: 2048, 1536), planar("12 MP 4:2:0 to 256", to: 256, 192),
      make("12 MP RGB to 2048", [(layout(4032, 3024, 3), layout(2048, 1536, 3))]),
    ]
  }

  private func turning() -> [MicroCase] {
    let noise = Memory.noise(2048 * 1536 * 3)
    return [(Orientation.upMirrored, 3), (.down, 3), (.right, 3), (.right, 1)].map { orientation, channels in
      let plane = layout(2048, 1536, channels)
      return MicroCase(
        group: "orientation", name: "2048x1536 of \(channels), \(orientation)", variant: "shipped",
        bytes: plane.bytesPerRow * plane.height
      ) {
        run { () throws(DownsampleError) in
          let stage = try OrientStage(planes: [plane], orientation: orientation, next: Sink())
          for y in 0..<plane.height { try stage.write(noise + y * plane.bytesPerRow, plane: 0) }
          try stage.finish()
        }
      }
    }
  }

  /// By Little CMS, where it can be opened: the rows of 2048x1536.
  private func color() -> [MicroCase] {
    let noise = Memory.noise(2048 * 3)
    let out = Memory.zeros(2048 * 3, of: UInt8.self)
    guard let p3 = RGBSpace.displayP3.iccProfile(named: "P3"), let srgb = RGBSpace.srgb.iccProfile(named: "sRGB"),
      let conversion = ColorConversion(
        .rgb, hasAlpha: false, from: p3, .uint8, to: srgb, .uint8, intent: .relative)
    else { return [] }
    return [
      MicroCase(group: "color", name: "Little CMS, P3 to sRGB, a row of 2048", variant: "shipped", bytes: 2048 * 3) {
        conversion.apply(noise, pixels: 2048, to: out)
      }
    ]
  }
}
