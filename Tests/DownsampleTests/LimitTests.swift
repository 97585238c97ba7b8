import CPictures
import Codecs
import Foundation
import Raster
import TestPictures
import Testing

@testable import Downsample

/// What small files that claim much, and machines that give little, are met with.
@Suite struct LimitTests {
  /// A PNG of a header and nothing more.
  private func png(width: UInt32, height: UInt32, depth: UInt8, interlaced: Bool) -> [UInt8] {
    let small = Picture(CPIC_GRADIENT, 8, 8, channels: 3).png { $0.interlaced = interlaced }
    var bytes = small
    withUnsafeBytes(of: width.bigEndian) { bytes.replaceSubrange(16..<20, with: $0) }
    withUnsafeBytes(of: height.bigEndian) { bytes.replaceSubrange(20..<24, with: $0) }
    bytes[24] = depth
    var crc = ~UInt32(0)
    for byte in bytes[12..<29] {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    withUnsafeBytes(of: (~crc).bigEndian) { bytes.replaceSubrange(29..<33, with: $0) }
    return bytes
  }

  private func failure(_ bytes: [UInt8]) -> DownsampleError? {
    #expect(throws: DownsampleError.self) { try make(bytes) }
  }

  @Test func sidesOfOverAMillion() {
    for interlaced in [false, true] {
      for (width, height) in [(UInt32(Int32.max), UInt32(1)), (1, UInt32(Int32.max)), (1_000_001, 3)] {
        let bytes = png(width: width, height: height, depth: 16, interlaced: interlaced)
        #expect(failure(bytes)?.code == .unsupported)
        #expect(throws: DownsampleError.self) { try Downsampler.probe(MemorySource(bytes), memory: .ample) }
      }
    }
  }

  /// Nothing of the size that it claims is allocated: the data end before anything else goes wrong.
  @Test func interlacedThatClaimsMuch() {
    let error = failure(png(width: 1_000_000, height: 1_000_000, depth: 16, interlaced: true))
    #expect(error?.code == .damagedData)
  }

  /// Its coefficients would be 24 GB.
  @Test(.timeLimit(.minutes(1))) func progressiveThatClaimsALargePicture() throws {
    var bytes = Picture(CPIC_GRADIENT, 16, 16, channels: 3).jpeg {
      $0.progressive = true
      cpic_jpeg_set_sampling(&$0, 444)
    }
    // The frame header, SOF2: marker, length, precision, height, width.
    let frame = try #require(
      (0..<bytes.count - 1).first { (index: Int) in bytes[index] == 0xFF && bytes[index + 1] == 0xC2 })
    bytes.replaceSubrange((frame + 5)..<(frame + 9), with: [0xFF, 0xDC, 0xFF, 0xDC])
    #expect(failure(bytes)?.code == .damagedData)
  }

  /// Called by libheif, libde265 waits for ever for a thread that it could not start, so the picture is then refused. Called
  /// by us it needs none.
  @Test(.timeLimit(.minutes(2))) func noThreadToDecodeIn() async {
    await #expect(processExitsWith: .success) {
      let grid = Picture(CPIC_PHOTO, 200, 150, channels: 3).heif { $0.tile_width = 64 }
      // Limits on processes do not hold for root.
      if getuid() == 0 { try #require(setuid(65533) == 0) }
      var limit = rlimit(rlim_cur: 1, rlim_max: 1)
      // RLIMIT_NPROC of Linux, which Swift's Glibc does not show.
      try #require(setrlimit(__rlimit_resource_t(6), &limit) == 0)
      var code = DownsampleError.Code.overBudget
      do { _ = try make(grid) } catch { code = (error as? DownsampleError)?.code ?? .internalFault }
      exit(code == .overBudget ? 0 : 1)
    }
  }
}
