import CPictures
import Raster
import TestPictures
import Testing

@testable import Codecs

/// A source whose medium fails after so many bytes.
private final class FailingBytes: ByteSource {
  private let bytes: Bytes
  private let limit: Int
  private var position = 0

  init(_ bytes: [UInt8], failingAt limit: Int) { (self.bytes, self.limit) = (Bytes(bytes), limit) }

  var byteCount: Int? { bytes.byteCount }
  func makeSeekable() {}
  func peek(into buffer: UnsafeMutableRawBufferPointer) -> Int { bytes.peek(into: buffer) }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(DownsampleError) -> Int {
    let count = try read(into: buffer, at: position)
    position += count
    return count
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int {
    if offset >= limit { throw DownsampleError(.inputOutput, "the medium is gone") }
    return bytes.read(
      into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, limit - offset)]), at: offset)
  }
}

@Suite struct DecoderTests {
  static let picture = Picture(CPIC_PHOTO, 203, 151)

  @Test(arguments: [(203, 8), (108, 8), (106, 8), (53, 4), (54, 8), (26, 2), (13, 1), (1, 1)])
  func jpegKeepsAtLeastTheRatio(side: Int, eighths: Int) throws {
    let decoder = try CodecRegistry.decoder(for: Bytes(Self.picture.jpeg()))
    let target = PixelSize(width: side, height: max(1, side * 151 / 203))
    let layout = try decoder.begin(target: target, threads: 1)
    let name = decoder.planner.strategies(target: target, threads: 1)[0].name
    #expect(name.contains("\(eighths)/8"), "\(name)")
    #expect(layout.planes[0].layout.width == (203 * eighths + 7) / 8)
    #expect(layout.planes[0].box.width == 203 * Double(eighths) / 8)
    #expect(layout.planes[0].box.height == 151 * Double(eighths) / 8)
  }

  @Test func everyPlaneBringsTheRowsItAnnounced() throws {
    let files: [[UInt8]] = [
      Self.picture.jpeg(), Self.picture.jpeg { cpic_jpeg_set_sampling(&$0, 440) },
      Self.picture.jpeg { cpic_jpeg_set_sampling(&$0, 411) },
      Self.picture.converted(channels: 1).jpeg {
        $0.h.0 = 2
        $0.v.0 = 2
      },
      Self.picture.cmyk.jpeg(), Self.picture.png(), Self.picture.png { $0.interlaced = true },
      Self.picture.heif { $0.tile_width = 64 },
      Self.picture.heif { $0.codec = CPIC_AV1 }, Self.picture.converted(channels: 4).heif { $0.tile_width = 64 },
    ]
    for (index, file) in files.enumerated() {
      for side in [203, 50, 20] {
        let decoder = try CodecRegistry.decoder(for: Bytes(file))
        let layout = try decoder.begin(target: PixelSize(width: side, height: side * 151 / 203), threads: 2)
        var counts = layout.planes.map { _ in 0 }
        while let band = try decoder.nextBand() {
          #expect(band.planes.count == layout.planes.count)
          for (plane, rows) in band.planes.enumerated() {
            counts[plane] += rows.count
            #expect(rows.count < 2 || rows.stride >= layout.planes[plane].layout.bytesPerRow)
          }
        }
        let passes = Adam7Pass.passes(width: 203, height: 151)
        let passRows = passes.reduce(0) { $0 + (151 - $1.firstRow + (1 << $1.rowShift) - 1) >> $1.rowShift }
        #expect(
          counts == (layout.order == .adam7 ? [passRows] : layout.planes.map(\.layout.height)),
          "file \(index), to \(side)")
        for plane in layout.planes {
          #expect(plane.box.x >= 0 && plane.box.x + plane.box.width <= Double(plane.layout.width) + 1e-9)
          #expect(plane.box.y >= 0 && plane.box.y + plane.box.height <= Double(plane.layout.height) + 1e-9)
        }
      }
    }
  }

  @Test func theSourcesOwnErrorIsTheOneThrown() throws {
    let files = [
      Self.picture.jpeg(), Self.picture.jpeg { $0.progressive = true }, Self.picture.png(), Self.picture.heif(),
      Self.picture.heif { $0.tile_width = 64 },
    ]
    for (index, file) in files.enumerated() {
      for limit in [20, file.count / 2, file.count - 30] {
        let error = #expect(throws: DownsampleError.self) {
          let decoder = try CodecRegistry.decoder(for: FailingBytes(file, failingAt: limit))
          _ = try decoder.begin(target: decoder.header.codedSize, threads: 2)
          while try decoder.nextBand() != nil {}
        }
        #expect(
          error?.code == .inputOutput, "file \(index) of \(file.count), failing at \(limit): \(error.debugDescription)")
      }
    }
  }

  @Test func headers() throws {
    func header(_ bytes: [UInt8]) throws -> ImageHeader { try CodecRegistry.decoder(for: Bytes(bytes)).header }
    let gray = Self.picture.converted(channels: 1, bits: 16)
    let deep = try header(gray.png { $0.interlaced = true })
    #expect(
      deep.kind == "PNG" && deep.depth == 16 && deep.colorModel == .gray && deep.arrangement == .interlaced
        && !deep.hasAlpha)
    let small = try header(gray.png { $0.bits = 2 })
    #expect(small.depth == 2)
    let key = try header(
      Self.picture.png {
        $0.has_key = true
        $0.exif.orientation = 5
      })
    #expect(key.hasAlpha && key.orientation == .leftMirrored && key.size == PixelSize(width: 151, height: 203))
    let cicp = try header(
      Self.picture.png {
        $0.has_cicp = true
        $0.cicp = (12, 13, 0, 1)
      })
    #expect(cicp.codedColor == .init(primaries: 12, transfer: 13, matrix: 0, isFullRange: true))
    let cropped = try header(
      Picture(CPIC_PHOTO, 128, 96).heif {
        $0.crop = (10, 20, 30, 6)
        $0.orientation = 6
      })
    #expect(cropped.codedSize == PixelSize(width: 128, height: 96) && cropped.size == PixelSize(width: 70, height: 88))
    #expect(cropped.crop == PixelRect(x: 10, y: 20, width: 88, height: 70) && cropped.orientation == .right)
  }
}

@Suite struct EncoderTests {
  private func encode(_ format: OutputFormat, _ layout: EncodedLayout, icc: [UInt8] = []) throws -> (
    bytes: [UInt8], warnings: [String]
  ) {
    let sink = Collected()
    let encoder = try CodecRegistry.encoder(
      for: format, layout: layout, settings: EncoderSettings(quality: 90, iccProfile: icc), sink: sink)
    for (index, plane) in layout.planes.enumerated() {
      let row = [UInt8](repeating: 128, count: plane.bytesPerRow)
      for _ in 0..<plane.height { try row.withUnsafeBytes { try encoder.write($0.baseAddress!, plane: index) } }
    }
    try encoder.finish()
    return (sink.bytes, encoder.warnings)
  }

  @Test(arguments: [(1, 1), (2, 1), (1, 2), (17, 31), (33, 16)])
  func everyLayout(width: Int, height: Int) throws {
    let size = PixelSize(width: width, height: height)
    for color in [EncodedLayout.Color.gray, .rgb, .ycbcr420] {
      let layout = EncodedLayout(size: size, color: color, hasAlpha: false, sampleType: .uint8)
      let file = try #require(DecodedFile(try encode(.jpeg, layout).bytes))
      #expect(file.info.warnings == 0 && file.picture.width == width && file.picture.height == height)
      #expect(abs(file.picture[0, 0, 0] - 128) < 2)
    }
    for color in [EncodedLayout.Color.gray, .rgb] {
      for hasAlpha in [false, true] {
        for type in [SampleType.uint8, .uint16] {
          let layout = EncodedLayout(size: size, color: color, hasAlpha: hasAlpha, sampleType: type)
          let file = try #require(DecodedFile(try encode(.png, layout).bytes))
          #expect(file.picture.channels == layout.planes[0].channels && file.picture.bits == type.byteCount * 8)
          #expect(file.picture[width - 1, height - 1, 0] == (type == .uint8 ? 128 : 0x8080))
        }
      }
    }
  }

  @Test func tooLongForJPEG() {
    let layout = EncodedLayout(
      size: PixelSize(width: 65501, height: 1), color: .rgb, hasAlpha: false, sampleType: .uint8)
    let error = #expect(throws: DownsampleError.self) { try encode(.jpeg, layout) }
    #expect(error?.code == .usage && error?.message.contains("65500") == true)
  }

  /// What is no profile at all; what of a profile does not suit the picture, libpng judges differently from version to
  /// version, and the pipeline by itself.
  @Test func aProfileThatPNGCannotHoldIsSaid() throws {
    let layout = EncodedLayout(size: PixelSize(width: 4, height: 4), color: .rgb, hasAlpha: false, sampleType: .uint8)
    let made = try encode(.png, layout, icc: Array("no profile".utf8))
    #expect(made.warnings.count == 1)
    #expect(DecodedFile(made.bytes)?.icc.isEmpty == true)
    #expect(try encode(.png, layout, icc: iccProfile(CPIC_ICC_SRGB)).warnings.isEmpty)
    // A profile of version 4 is padded to four bytes; newer versions of libpng fail the whole picture over one that is not.
    var odd = iccProfile(CPIC_ICC_DISPLAY_P3)
    odd += [0]
    odd.replaceSubrange(0..<4, with: withUnsafeBytes(of: UInt32(odd.count).bigEndian, Array.init))
    #expect(try encode(.png, layout, icc: odd).warnings.count == 1)
  }

  @Test func extensions() {
    for name in ["jpg", "JPEG", "jpe", "jfif"] { #expect(OutputFormat(fileExtension: name) == .jpeg) }
    for name in ["png", "PNG"] { #expect(OutputFormat(fileExtension: name) == .png) }
    for name in ["heic", "HEIF", "hif"] { #expect(OutputFormat(fileExtension: name) == .heic) }
    #expect(OutputFormat(fileExtension: "Avif") == .avif)
    for name in ["", "heics", "jp", "pngx"] { #expect(OutputFormat(fileExtension: name) == nil) }
  }
}
