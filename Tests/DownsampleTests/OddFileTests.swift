import CPictures
import Codecs
import Foundation
import Raster
import TestPictures
import Testing

@testable import Downsample

/// Files that are well-formed and mean something unusual.
@Suite struct OddFileTests {
  private func first(_ text: String, in bytes: [UInt8], from start: Int = 0) throws -> Int {
    let wanted = Array(text.utf8)
    return try #require((start...(bytes.count - 4)).first { bytes[$0..<($0 + 4)].elementsEqual(wanted) })
  }

  /// Where the value of a profile's tag begins (ICC.1:2022, 7.3).
  private func value(of tag: String, in profile: [UInt8]) throws -> Int {
    let entry = try first(tag, in: profile, from: 132)
    return profile[(entry + 4)..<(entry + 8)].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Compression in a space whose primaries coincide loses without bound, so that the profile is used, not kept.
  @Test func profileOfCoincidingPrimaries() throws {
    var profile = iccProfile(CPIC_ICC_SRGB)
    #expect(!ICCProfile.hasDegeneratePrimaries(profile))
    let (red, green) = (try value(of: "rXYZ", in: profile), try value(of: "gXYZ", in: profile))
    profile.replaceSubrange(green..<(green + 20), with: Array(profile[red..<(red + 20)]))
    #expect(ICCProfile.hasDegeneratePrimaries(profile))
    let picture = Picture(CPIC_PHOTO, 64, 48, channels: 3)
    let jpeg = try make(picture.jpeg(icc: profile), .jpeg)
    #expect(jpeg.file.icc.isEmpty && !jpeg.report.output.hasICCProfile)
    #expect(jpeg.report.warnings.count == 1 && jpeg.report.warnings[0].contains("sRGB"))
    // Nothing is lost in a PNG: it keeps the profile.
    let png = try make(picture.jpeg(icc: profile), .png)
    #expect(png.file.icc == profile && png.report.output.hasICCProfile && png.report.warnings.isEmpty)
  }

  /// What the report says of the profile is what the file holds.
  @Test func profileThatTheEncoderLeavesOut() throws {
    var profile = iccProfile(CPIC_ICC_DISPLAY_P3)
    profile += [0]
    profile.replaceSubrange(0..<4, with: withUnsafeBytes(of: UInt32(profile.count).bigEndian, Array.init))
    let made = try make(Picture(CPIC_PHOTO, 20, 20, channels: 3).jpeg(icc: profile), .png)
    #expect(made.file.icc.isEmpty && !made.report.output.hasICCProfile && made.report.warnings.count == 1)
  }

  /// libheif calls a size of 0 a failed allocation.
  @Test(arguments: [0, 64]) func heifOfNoSize(tile: Int32) throws {
    var bytes = Picture(CPIC_PHOTO, 128, 96, channels: 3).heif { $0.tile_width = tile }
    // In every image spatial extents property: version and flags, width, height.
    for index in 0..<(bytes.count - 16) where bytes[index..<(index + 4)].elementsEqual("ispe".utf8) {
      bytes.replaceSubrange((index + 8)..<(index + 12), with: [0, 0, 0, 0])
    }
    let error = #expect(throws: DownsampleError.self) { try make(bytes) }
    #expect(error?.code == .damagedData)
  }

  /// Some files name their thumbnail as the primary item.
  @Test func heifWhosePrimaryItemIsItsThumbnail() throws {
    var bytes = Picture(CPIC_PHOTO, 128, 96, channels: 3).heif { $0.thumbnail = 32 }
    let reference = try first("thmb", in: bytes)  // then the thumbnail's item, of 16 bits
    let primary = try first("pitm", in: bytes)  // then version and flags, and the item
    try #require(bytes[(primary + 4)..<(primary + 8)].elementsEqual([0, 0, 0, 0]))
    bytes.replaceSubrange((primary + 8)..<(primary + 10), with: Array(bytes[(reference + 4)..<(reference + 6)]))
    #expect(try make(bytes).size == PixelSize(width: 128, height: 96))
  }
}
