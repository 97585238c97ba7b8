import CPictures
import Codecs
import Foundation
import Raster
import TestPictures
import Testing

@testable import Downsample

/// Pictures large enough that decoding has a thread of its own.
@Suite struct OverlapTests {
  static let files: [[UInt8]] = [
    Picture(CPIC_PHOTO, 1300, 1000).jpeg { $0.exif.orientation = 6 },
    Picture(CPIC_PHOTO, 1300, 1000).jpeg { $0.progressive = true },
    Picture(CPIC_PHOTO, 1300, 1000, channels: 4).png(),
    Picture(CPIC_PHOTO, 1300, 1000).png { $0.interlaced = true },
  ]

  private func request(threads: Int, _ format: Codecs.OutputFormat = .png) -> Request {
    Request(maxPixelSize: 700, format: format, threads: threads, memory: .ample)
  }

  @Test(arguments: files.indices)
  func sameBytes(index: Int) throws {
    let source = MemorySource(Self.files[index])
    let (one, alone) = try makeBytes(source, request: request(threads: 1))
    let (two, report) = try makeBytes(MemorySource(Self.files[index]), request: request(threads: 2))
    #expect(one == two)
    #expect(!alone.plan.overlaps && alone.plan.threads == 1)
    #expect(report.plan.overlaps && report.plan.threads == 2)
    #expect(report.plan.addedBytes > alone.plan.addedBytes)
    #expect(report.plan.stages.contains { $0.name == "decoding ahead" })
    #expect(report.times.decode > 0 && report.times.resample > 0 && report.times.encode > 0)
  }

  @Test func smallPicturesHaveOneThread() throws {
    let bytes = Picture(CPIC_PHOTO, 640, 480).jpeg()
    #expect(try !Downsampler.plan(MemorySource(bytes), request: request(threads: 8)).plan.overlaps)
  }

  /// The same error, whichever thread finds it.
  @Test(arguments: files.indices)
  func damage(index: Int) throws {
    let bytes = Self.files[index]
    for end in [bytes.count / 3, bytes.count * 9 / 10] {
      let errors = [1, 2].map { threads -> String in
        do {
          _ = try makeBytes(MemorySource(Array(bytes[..<end])), request: request(threads: threads))
          return "made"
        } catch let error as Raster.DownsampleError {
          return error.message
        } catch {
          return "\(error)"
        }
      }
      #expect(errors[0] == errors[1] && errors[0] != "made")
    }
  }

  @Test(arguments: files.indices)
  func outputThatIsFull(index: Int) throws {
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    let error = #expect(throws: Raster.DownsampleError.self) {
      try Downsampler.run(.bytes(Self.files[index]), request: request(threads: 2), to: .descriptor(full))
    }
    #expect(error?.code == .inputOutput)
  }

  @Test func deadline() throws {
    var late = request(threads: 2)
    late.deadline = .microseconds(1)
    let error = #expect(throws: Raster.DownsampleError.self) {
      _ = try makeBytes(MemorySource(Self.files[1]), request: late)
    }
    #expect(error?.code == .deadlinePassed)
  }
}
