import CPictures
import Codecs
import Raster
import TestPictures
import Testing

@testable import Downsample

/// HEIC and AVIF files that end early or are broken: refused with what is missing, or made of what there is.
@Suite struct HEIFDamageTests {
  static let codecs = [CPIC_HEVC, CPIC_AV1].map(\.rawValue)

  private func made(_ bytes: [UInt8], salvages: Bool, max maxPixelSize: Int = 4096) throws -> (Picture, [String]) {
    let request = Request(maxPixelSize: maxPixelSize, format: .png, salvages: salvages, threads: 2, memory: .ample)
    let (made, report) = try makeBytes(MemorySource(bytes), request: request)
    return (try #require(DecodedFile(made)).picture, report.warnings)
  }

  private func file(_ codec: UInt32, tile: Int32, channels: Int = 3) -> [UInt8] {
    Picture(CPIC_PHOTO, 320, 256, channels: channels).heif {
      $0.codec = cpic_heif_codec(codec)
      $0.tile_width = tile
      $0.quality = 95
    }
  }

  /// Rows that are the same in both pictures, from the top.
  private func rowsAlike(_ a: Picture, _ b: Picture) -> Int {
    (0..<a.height).first { y in (0..<a.width).contains { a.pixel($0, y) != b.pixel($0, y) } } ?? a.height
  }

  @Test(arguments: codecs)
  func tilesThatAreMissing(codec: UInt32) throws {
    let whole = file(codec, tile: 64)
    let (expected, none) = try made(whole, salvages: true)
    #expect(none.isEmpty)
    let cut = Array(whole.prefix(whole.count * 7 / 10))
    let error = #expect(throws: DownsampleError.self) { try made(cut, salvages: false) }
    #expect(error?.code == .damagedData)
    #expect(
      error?.message.contains("the file ends inside tile ") == true && error?.message.contains(" of 20 (") == true)
    let (picture, warnings) = try made(cut, salvages: true)
    #expect(warnings.count == 1 && warnings[0].hasSuffix("of 20 tiles are missing or damaged: gray is in their place"))
    #expect(rowsAlike(picture, expected) >= 64)
    let last = picture.pixel(319, 255)
    #expect(last.allSatisfy { abs(Int($0) - 128) <= 2 }, "\(last)")
  }

  @Test(arguments: codecs)
  func rowsThatAreMissing(codec: UInt32) throws {
    let whole = file(codec, tile: 0)
    let (expected, _) = try made(whole, salvages: false)
    let cut = Array(whole.prefix(whole.count * 7 / 10))
    let error = #expect(throws: DownsampleError.self) { try made(cut, salvages: false) }
    #expect(error?.message.contains("the file ends inside the picture (") == true)
    let (picture, warnings) = try made(cut, salvages: true)
    #expect(warnings.first?.hasSuffix("of 256 rows are missing: gray is in their place") == true)
    #expect(rowsAlike(picture, expected) >= 60)
    #expect(picture.pixel(319, 255).allSatisfy { abs(Int($0) - 128) <= 2 })
  }

  @Test(arguments: codecs)
  func alphaThatIsMissingIsOpaque(codec: UInt32) throws {
    let whole = file(codec, tile: 64, channels: 4)
    let (expected, _) = try made(whole, salvages: false)
    // Alpha's tiles come last.
    let cut = Array(whole.dropLast(20))
    let error = #expect(throws: DownsampleError.self) { try made(cut, salvages: false) }
    #expect(error?.message.contains("alpha's tile ") == true, "\(String(describing: error))")
    let (picture, warnings) = try made(cut, salvages: true)
    #expect(
      warnings.count == 1 && warnings[0].hasPrefix("alpha: ") && warnings[0].contains("of 20 tiles"), "\(warnings)")
    #expect(picture.pixel(319, 255)[3] == 255 && expected.pixel(319, 255)[3] == 0)
  }

  @Test(arguments: codecs)
  func aTileThatIsBroken(codec: UInt32) throws {
    var bytes = file(codec, tile: 64)
    // Neither a length nor a unit's header makes sense.
    for i in bytes.count * 6 / 10..<bytes.count * 7 / 10 { bytes[i] = 0xFF }
    let error = #expect(throws: DownsampleError.self) { try made(bytes, salvages: false) }
    #expect(error?.code == .damagedData && error?.message.contains(" of 20: ") == true, "\(String(describing: error))")
    let (_, warnings) = try made(bytes, salvages: true)
    #expect(warnings.count == 1 && warnings[0].contains("of 20 tiles"), "\(warnings)")
  }

  /// Metadata at the end of a file are no reason to refuse its picture.
  @Test(arguments: codecs, [0, 64] as [Int32])
  func metadataThatAreMissing(codec: UInt32, tile: Int32) throws {
    let whole = Picture(CPIC_PHOTO, 128, 96).heif {
      $0.codec = cpic_heif_codec(codec)
      $0.tile_width = tile
      $0.exif.maker = true
    }
    let (expected, none) = try made(whole, salvages: false)
    #expect(none.isEmpty)
    let (picture, warnings) = try made(Array(whole.dropLast(9)), salvages: false)
    #expect(warnings == ["the file ends within its metadata: the picture is whole"])
    #expect(rowsAlike(picture, expected) == expected.height)
  }

  /// A picture or a clear refusal, whatever is missing.
  @Test(arguments: codecs, [0, 64] as [Int32])
  func everyPrefix(codec: UInt32, tile: Int32) throws {
    for channels in [3, 4] {
      let whole = Picture(CPIC_PHOTO, 130, 98, channels: channels).heif {
        $0.codec = cpic_heif_codec(codec)
        $0.tile_width = tile
      }
      for count in stride(from: 0, to: whole.count, by: max(1, whole.count / 60)) {
        let cut = Array(whole.prefix(count))
        let error = #expect(throws: DownsampleError.self) { try made(cut, salvages: false) }
        #expect(error?.code == .damagedData, "\(count) of \(whole.count): \(String(describing: error))")
        do {
          let (picture, warnings) = try made(cut, salvages: true)
          #expect(picture.width == 130 && !warnings.isEmpty, "\(count) of \(whole.count)")
        } catch let error as DownsampleError {
          #expect(error.code == .damagedData, "\(count) of \(whole.count): \(error)")
        }
      }
    }
  }
}
