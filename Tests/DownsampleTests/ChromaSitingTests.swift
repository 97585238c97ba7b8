import CPictures
import Codecs
import Raster
import TestPictures
import Testing

@testable import Downsample

/// Where halved chroma lies: on the left one of two columns in HEIC and AVIF, in the middle of two by two pixels in JPEG.
@Suite struct ChromaSitingTests {
  /// An edge between two colours of about the same luma, so weak that no filter overshoots the range, and at another place in
  /// each line, so that rounding is not alike in all.
  private static func edge(at place: Int, isVertical: Bool) -> Picture {
    Picture(96, 96, channels: 3) { x, y, channel in
      let (along, line) = isVertical ? (x, y) : (y, x)
      return along < place + (line * 5) % 3 - 1 ? [190, 90, 120][channel] : [70, 150, 130][channel]
    }
  }

  /// By how many pixels the colour edge of a picture lies right of (or below) that of another.
  private func shift(_ made: Picture, from reference: Picture, isVertical: Bool) -> Double {
    position(made, isVertical: isVertical) - position(reference, isVertical: isVertical)
  }

  /// Where the edge lies: what red less green comes to over the middle of the picture, between its values at the two ends.
  private func position(_ picture: Picture, isVertical: Bool) -> Double {
    let (length, lines) = isVertical ? (picture.width, picture.height) : (picture.height, picture.width)
    // Each column along the edge, over all lines.
    let profile = (0..<length).map { along in
      (0..<lines).reduce(0.0) { sum, line in
        let (x, y) = isVertical ? (along, line) : (line, along)
        return sum + Double(picture[x, y, 0] - picture[x, y, 1])
      }
    }
    func mean(_ range: Range<Int>) -> Double { profile[range].reduce(0, +) / Double(range.count) }
    let quarter = length / 4
    let (before, after) = (mean(2..<quarter), mean(length - quarter..<length - 2))
    return profile[quarter..<length - quarter].reduce(0) { $0 + ($1 - after) / (before - after) }
  }

  private func heif(_ picture: Picture, _ chroma: cpic_chroma, _ set: (inout cpic_heif_options) -> Void = { _ in })
    -> [UInt8]
  {
    picture.heif {
      $0.lossless = true
      $0.chroma = chroma
      set(&$0)
    }
  }

  @Test(arguments: [96, 60, 48, 31], [CPIC_CHROMA_420, CPIC_CHROMA_422])
  func leftSitedChromaIsNotMoved(max: Int, chroma: cpic_chroma) throws {
    for place in [47, 48] {
      for isVertical in [true, false] {
        let picture = Self.edge(at: place, isVertical: isVertical)
        let reference = try make(heif(picture, CPIC_CHROMA_444), max: max).picture
        for format in Codecs.OutputFormat.compared {
          let made = try make(heif(picture, chroma), max: max, format, quality: 100).picture
          let moved = shift(made, from: reference, isVertical: isVertical)
          #expect(abs(moved) < 0.05, "\(format), edge at \(place), vertical: \(isVertical)")
        }
      }
    }
    // The measure sees a quarter of a chroma sample.
    let centered = heif(Self.edge(at: 48, isVertical: true), chroma) { $0.centered_chroma = true }
    let reference = try make(heif(Self.edge(at: 48, isVertical: true), CPIC_CHROMA_444), max: max).picture
    let moved = shift(try make(centered, max: max).picture, from: reference, isVertical: true)
    #expect(abs(abs(moved) - 0.5 * Double(max) / 96) < 0.1)
  }

  @Test(arguments: 1...8) func turnedAndCropped(orientation: Int) throws {
    for isVertical in [true, false] {
      let picture = Self.edge(at: 47, isVertical: isVertical)
      func file(_ chroma: cpic_chroma) -> [UInt8] {
        heif(picture, chroma) {
          $0.orientation = Int32(orientation)
          $0.crop = (4, 6, 3, 5)
        }
      }
      let isVertical = orientation >= 5 ? !isVertical : isVertical
      for max in [89, 43] {
        let reference = try make(file(CPIC_CHROMA_444), max: max).picture
        for format in Codecs.OutputFormat.compared {
          let made = try make(file(CPIC_CHROMA_420), max: max, format, quality: 100).picture
          // Chroma is rounded to 8 bits once more in a JPEG.
          #expect(
            abs(shift(made, from: reference, isVertical: isVertical)) < (format == .jpeg ? 0.08 : 0.05),
            "\(format), \(max)")
        }
      }
    }
  }

  /// What we write is sited as readers of its kind take it to be: from planes, also mirrored ones, and from RGB.
  @Test(arguments: [Codecs.OutputFormat.heic, .avif, .jpeg], 1...8)
  func outputIsSitedAsItsKindHasIt(format: Codecs.OutputFormat, orientation: Int) throws {
    for isVertical in [true, false] {
      let picture = Self.edge(at: 47, isVertical: isVertical)
      let fromPlanes = picture.jpeg {
        $0.quality = 100
        $0.exif.orientation = Int32(orientation)
      }
      let fromRGB = picture.png { $0.exif.orientation = Int32(orientation) }
      let isVertical = orientation >= 5 ? !isVertical : isVertical
      for (name, input) in [("planes", fromPlanes), ("RGB", fromRGB)] {
        let reference = try make(input, max: 64).picture
        let request = Request(maxPixelSize: 64, format: format, quality: 100, memory: .ample)
        let written = try makeBytes(MemorySource(input), request: request).bytes
        let made = try make(written, max: 64).picture
        // Chroma is rounded to 8 bits twice; sited wrongly it would be half a pixel aside.
        #expect(abs(shift(made, from: reference, isVertical: isVertical)) < 0.08, "\(name), vertical: \(isVertical)")
      }
    }
  }
}
