import TestPictures
import Testing

@testable import Raster

@Suite struct PixelSizeTests {
  /// max(1, floor(side * long edge wanted / long edge + 1/2)), in whole numbers.
  private func side(_ length: Int, _ wanted: Int, _ longEdge: Int) -> Int {
    max(1, (2 * length * wanted + longEdge) / (2 * longEdge))
  }

  @Test func rounding() {
    for width in 1...60 {
      for height in 1...60 {
        for wanted in 1...60 {
          let size = PixelSize(width: width, height: height)
          let fitted = size.fitted(to: wanted)
          if size.longEdge <= wanted {
            #expect(fitted == size)
          } else {
            if fitted
              != PixelSize(width: side(width, wanted, size.longEdge), height: side(height, wanted, size.longEdge))
            {
              Issue.record("\(size) to \(wanted) gave \(fitted)")
            }
          }
        }
      }
    }
  }

  @Test func largeAndExtremeSides() {
    var noise = Noise(50)
    for _ in 0..<20000 {
      let size = PixelSize(
        width: Int.random(in: 1...100_000, using: &noise), height: Int.random(in: 1...100_000, using: &noise))
      let wanted = Int.random(in: 1..<size.longEdge + 1, using: &noise)
      let fitted = size.fitted(to: wanted)
      guard fitted.longEdge == wanted, min(fitted.width, fitted.height) >= 1,
        fitted
          == PixelSize(width: side(size.width, wanted, size.longEdge), height: side(size.height, wanted, size.longEdge))
      else {
        Issue.record("\(size) to \(wanted) gave \(fitted)")
        return
      }
    }
    #expect(PixelSize(width: 1, height: 20000).fitted(to: 2048) == PixelSize(width: 1, height: 2048))
    #expect(PixelSize(width: 65500, height: 3).fitted(to: 1) == PixelSize(width: 1, height: 1))
    let huge = 2_147_483_647
    #expect(PixelSize(width: huge, height: huge).fitted(to: huge - 1).longEdge == huge - 1)
  }
}
