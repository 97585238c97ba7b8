import TestPictures
import Testing

@testable import Raster

/// What each orientation does to a picture of labelled pixels, from EXIF's own words for the row 0 and the column 0 (EXIF 2.32,
/// 4.6.4): not by axes and mirrorings, as the code does it.
func displayed<Pixel>(_ picture: [[Pixel]], by orientation: Orientation) -> [[Pixel]] {
  let (height, width) = (picture.count, picture[0].count)
  func make(_ width: Int, _ height: Int, _ pixel: (_ x: Int, _ y: Int) -> Pixel) -> [[Pixel]] {
    (0..<height).map { y in (0..<width).map { pixel($0, y) } }
  }
  switch orientation.rawValue {
  case 1: return picture
  case 2: return make(width, height) { picture[$1][width - 1 - $0] }  // row 0 is the top, column 0 the right
  case 3: return make(width, height) { picture[height - 1 - $1][width - 1 - $0] }  // bottom, right
  case 4: return make(width, height) { picture[height - 1 - $1][$0] }  // bottom, left
  case 5: return make(height, width) { picture[$0][$1] }  // left, top
  case 6: return make(height, width) { picture[height - 1 - $0][$1] }  // right, top
  case 7: return make(height, width) { picture[height - 1 - $0][width - 1 - $1] }  // right, bottom
  default: return make(height, width) { picture[$0][width - 1 - $1] }  // left, bottom
  }
}

@Suite struct OrientationTests {
  private let picture = [[1, 2, 3], [4, 5, 6]]

  @Test func partsMakeTheWhole() {
    for orientation in Orientation.allCases {
      #expect(
        Orientation(
          swapsAxes: orientation.swapsAxes, mirrorsX: orientation.mirrorsX, mirrorsY: orientation.mirrorsY)
          == orientation)
      let size = PixelSize(width: 3, height: 2).oriented(by: orientation)
      let shown = displayed(picture, by: orientation)
      #expect(size == PixelSize(width: shown[0].count, height: shown.count))
    }
  }

  @Test func composition() {
    for first in Orientation.allCases {
      for second in Orientation.allCases {
        let step = displayed(displayed(picture, by: first), by: second)
        #expect(displayed(picture, by: first.followed(by: second)) == step, "\(first), then \(second)")
      }
    }
  }

  @Test(arguments: Orientation.allCases) func stage(_ orientation: Orientation) throws {
    var noise = Noise(40)
    for (channels, type) in [(1, SampleType.uint8), (2, .uint8), (3, .uint8), (4, .uint8), (3, .uint16), (4, .uint16)] {
      for size in [(1, 1), (1, 9), (9, 1), (7, 5), (13, 16)] {
        // Luma and two planes of halved chroma, their odd sides rounded up.
        let planes = (0..<3).map { plane in
          PlaneLayout(
            width: plane == 0 ? size.0 : (size.0 + 1) / 2, height: plane == 0 ? size.1 : (size.1 + 1) / 2,
            channels: channels, sampleType: type, maximum: 255)
        }
        let pictures = planes.map { layout in
          (0..<layout.height).map { _ in
            (0..<layout.width).map { _ in noise.samples(layout.bytesPerPixel, of: UInt8.self) }
          }
        }
        let expected = pictures.map { displayed($0, by: orientation).map { row in row.flatMap { $0 } } }
        let collector = RowCollector(rowBytes: expected.map { $0[0].count })
        let stage = try OrientStage(planes: planes, orientation: orientation, next: collector)
        // One plane after the other: they may run ahead.
        for (plane, picture) in pictures.enumerated() {
          for row in picture { try stage.write(samples: row.flatMap { $0 }, plane: plane) }
        }
        #expect(!collector.isFinished)
        try stage.finish()
        #expect(collector.isFinished)
        #expect(collector.rows == expected, "\(channels) of \(type), \(size)")
      }
    }
  }

  /// What needs rows of all planes together need not keep many: those of a turned picture come in step.
  @Test func turnedPlanesComeInStep() throws {
    let planes = [(9, 8), (5, 4), (5, 4)].map {
      PlaneLayout(width: $0.0, height: $0.1, channels: 1, sampleType: .uint8, maximum: 255)
    }
    let collector = RowCollector(rowBytes: [8, 4, 4])
    let stage = try OrientStage(planes: planes, orientation: .right, next: collector)
    for (plane, layout) in planes.enumerated() {
      for _ in 0..<layout.height { try stage.write(samples: [UInt8](repeating: 0, count: layout.width), plane: plane) }
    }
    try stage.finish()
    var came = [0, 0, 0]
    for plane in collector.order {
      came[plane] += 1
      #expect(abs(came[0] - 2 * came[1]) <= 2 && abs(came[1] - came[2]) <= 1)
    }
    #expect(came == [9, 5, 5])
  }
}
