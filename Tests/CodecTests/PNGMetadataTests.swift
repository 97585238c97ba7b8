import CPictures
import Metadata
import Raster
import TestPictures
import Testing

@testable import Codecs

/// EXIF, XMP and IPTC, into a PNG and out of one.
@Suite struct PNGMetadataTests {
  private typealias Chunk = PNGChunks.Chunk
  private static let plain = PNGChunks(Picture(CPIC_GRADIENT, 8, 8, channels: 3).png())
  private static let exif: [UInt8] = [
    0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0,
  ]
  private static let xmp = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8)
  private static let iptc: [UInt8] = [0x1C, 2, 120, 0, 5] + Array("words".utf8)

  private func decoder(_ file: [UInt8], keeps: Bool = true) throws -> PNGDecoder {
    try PNGDecoder(source: Bytes(file, atMost: 1 << 20), options: ReadingOptions(metadataCopies: keeps ? 1 : 0))
  }

  private func metadata(_ chunks: [PNGChunks.Chunk]) throws -> ImageMetadata {
    try decoder(Self.plain.with(chunks)).takeMetadata()
  }

  private func international(_ text: [UInt8], isCompressed: Bool = false) -> PNGChunks.Chunk {
    Chunk("iTXt", Array("XML:com.adobe.xmp\0".utf8) + [isCompressed ? 1 : 0, 0] + Array("en\0XMP\0".utf8) + text)
  }

  /// As ImageMagick writes a profile.
  private func raw(_ name: String, _ bytes: [UInt8], isCompressed: Bool = false) -> PNGChunks.Chunk {
    var text = "\n\(name)\n    \(bytes.count)"
    for (i, byte) in bytes.enumerated() {
      if i % 36 == 0 { text += "\n" }
      text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    let start = Array("Raw profile type \(name)\0".utf8)
    return isCompressed
      ? Chunk("zTXt", start + [0] + PNGChunks.stored(Array((text + "\n").utf8)))
      : Chunk("tEXt", start + Array((text + "\n").utf8))
  }

  @Test func everyForm() throws {
    let resource = Array("8BIM".utf8) + [4, 4, 0, 0] + PNGChunks.bigEndian(UInt32(Self.iptc.count)) + Self.iptc
    let other = Array("8BIM".utf8) + [3, 0xED, 1, 65] + PNGChunks.bigEndian(3) + [1, 2, 3, 0]
    let marked = Array("Exif\0\0".utf8) + Self.exif
    #expect(try metadata([Chunk("eXIf", Self.exif)]).exif == Self.exif)
    #expect(try metadata([Chunk("eXIf", marked)]).exif == Self.exif)
    #expect(try metadata([international(Self.xmp)]).xmp == Self.xmp)
    #expect(try metadata([international(PNGChunks.stored(Self.xmp), isCompressed: true)]).xmp == Self.xmp)
    for isCompressed in [false, true] {
      #expect(try metadata([raw("exif", marked, isCompressed: isCompressed)]).exif == Self.exif)
      #expect(try metadata([raw("APP1", marked, isCompressed: isCompressed)]).exif == Self.exif)
      let app1 = Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Self.xmp
      #expect(try metadata([raw("APP1", app1, isCompressed: isCompressed)]).xmp == Self.xmp)
      #expect(try metadata([raw("xmp", Self.xmp, isCompressed: isCompressed)]).xmp == Self.xmp)
      #expect(try metadata([raw("iptc", other + resource, isCompressed: isCompressed)]).iptc == Self.iptc)
      #expect(try metadata([raw("8bim", resource, isCompressed: isCompressed)]).iptc == Self.iptc)
      #expect(try metadata([raw("iptc", Self.iptc, isCompressed: isCompressed)]).iptc == Self.iptc)
    }
    let both = try metadata([raw("exif", marked + [9, 9]), Chunk("eXIf", Self.exif), international(Self.xmp)])
    #expect(both == ImageMetadata(exif: Self.exif, xmp: Self.xmp))
  }

  /// Reading and editing take a multiple of it, before there is a plan.
  @Test func noMoreThanMemoryAllows() throws {
    let packet = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'>".utf8) + [UInt8](repeating: 32, count: 20_000)
    for chunk in [international(packet), raw("xmp", packet), raw("xmp", packet, isCompressed: true)] {
      for (available, isKept) in [(12 * 10_000, false), (12 * 22_000, true)] {
        let file = Bytes(Self.plain.with([chunk]), atMost: 1 << 20)
        let decoder = try PNGDecoder(source: file, options: ReadingOptions(available: available, metadataCopies: 1))
        #expect(try decoder.takeMetadata().xmp == (isKept ? packet : []))
        #expect(decoder.warnings.isEmpty == isKept)
      }
    }
  }

  /// Each of thousands could inflate to megabytes.
  @Test func noMoreThanAFewTexts() throws {
    let resources = raw("8bim", [1, 2, 3])
    // So long that they are not found from the file's end.
    let end = [international(Self.xmp), Chunk("tEXt", [UInt8](repeating: 0, count: 140_000))]
    for (count, isKept) in [(31, true), (32, false)] {
      let chunks = [Chunk](repeating: resources, count: count) + end
      let decoder = try decoder(Self.plain.with(chunks))
      #expect(try decoder.takeMetadata().isEmpty != isKept && decoder.warnings.isEmpty == isKept)
    }
  }

  @Test func onlyOnce_andOnlyWhenAskedFor() throws {
    let file = Self.plain.with([Chunk("eXIf", Self.exif), international(Self.xmp)])
    let asked = try decoder(file)
    #expect(try asked.takeMetadata().byteCount == Self.exif.count + Self.xmp.count)
    #expect(try asked.takeMetadata().isEmpty)
    let unasked = try decoder(file, keeps: false)
    #expect(try unasked.takeMetadata().isEmpty && unasked.header.orientation == .right)
  }

  /// Behind the picture, where exiftool puts XMP: seen in a file, and too late in a pipe.
  @Test func behindThePicture() throws {
    let file = Self.plain.withLate([Chunk("eXIf", Self.exif), international(Self.xmp)])
    for keeps in [false, true] {
      let seekable = try decoder(file, keeps: keeps)
      #expect(seekable.header.orientation == .right)
      #expect(try seekable.takeMetadata() == (keeps ? ImageMetadata(exif: Self.exif, xmp: Self.xmp) : ImageMetadata()))
      try finish(seekable)
      #expect(seekable.warnings.isEmpty)
      let pipe = try PNGDecoder(source: Pipe(file), options: ReadingOptions(metadataCopies: keeps ? 1 : 0))
      #expect(pipe.header.orientation == .up)
      #expect(try pipe.takeMetadata().isEmpty)
      try finish(pipe)
      #expect(pipe.warnings.count == (keeps ? 2 : 1) && pipe.warnings[0].contains("EXIF"))
    }
    // One that is damaged is none.
    let damaged = try decoder(Self.plain.withLate([Chunk("eXIf", Self.exif, checksum: 1)]))
    #expect(damaged.header.orientation == .up)
  }

  private func finish(_ decoder: PNGDecoder) throws {
    _ = try decoder.begin(target: decoder.header.codedSize, threads: 1)
    while try decoder.nextBand() != nil {}
  }

  /// Small chunks that grow without measure, and what is cut, broken or of another kind.
  @Test func whatIsNoMetadata() throws {
    let bomb = PNGChunks.compressed([0] + [UInt8](repeating: 65, count: 1_000_000))
    #expect(bomb.count < 10_000)
    #expect(try metadata([international(bomb, isCompressed: true)]).xmp.count == 1_000_001)
    let stored = PNGChunks.stored(Self.xmp)
    let chunks = [
      international(Array(stored.dropLast(9)), isCompressed: true), international([1, 2, 3], isCompressed: true),
      Chunk("iTXt", Array("XML:com.adobe.xmp\0".utf8)), Chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0en".utf8)),
      Chunk("zTXt", Array("Raw profile type exif\0".utf8)), Chunk("tEXt", Array("Raw profile type exif\0".utf8)),
      Chunk("tEXt", Array("Raw profile type exif\0\nexif\n   4\n4d4d".utf8)),
      Chunk("tEXt", Array("Raw profile type exif\0\nexif\n   4\n4d4dxx00".utf8)),
      Chunk("tEXt", Array("Raw profile type exif\0\nexif\n  99999999999\n4d".utf8)),
      Chunk("tEXt", Array("Raw profile type iptc\0\niptc\n   4\n38424942".utf8)),
      Chunk("tEXt", Array("Raw profile type iptc\0\niptc\n   12\n3842494d04040000ffffffff\n".utf8)),
    ]
    for chunk in chunks {
      let decoder = try decoder(Self.plain.with([chunk]))
      #expect(try decoder.takeMetadata().isEmpty, "\(chunk.type) of \(chunk.data.count)")
      #expect(decoder.warnings.count == 1, "\(chunk.type) of \(chunk.data.count): \(decoder.warnings)")
    }
    for chunk in [Chunk("tEXt", Array("Comment\0x".utf8)), Chunk("tEXt", []), Chunk("iTXt", [0]), Chunk("zTXt", [65])] {
      #expect(try metadata([chunk]).isEmpty)
    }
    #expect(try metadata([Chunk("eXIf", Self.exif, checksum: 1)]).isEmpty)
    #expect(try metadata([Chunk("iTXt", international(Self.xmp).data, checksum: 1)]).isEmpty)
  }

  // MARK: Out

  private func encode(_ settings: EncoderSettings, channels: Int = 3) throws -> [UInt8] {
    let layout = EncodedLayout(
      size: PixelSize(width: 4, height: 4), color: channels == 3 ? .rgb : .gray, hasAlpha: false, sampleType: .uint8)
    let sink = Collected()
    let encoder = try PNGEncoder(layout: layout, settings: settings, sink: sink)
    let row = [UInt8](repeating: 128, count: 4 * channels)
    for _ in 0..<4 { try row.withUnsafeBytes { try encoder.write($0.baseAddress!, plane: 0) } }
    try encoder.finish()
    #expect(encoder.mostHeld <= PNGEncoder.memory(layout: layout, settings: settings).totalBytes)
    return sink.bytes
  }

  @Test(arguments: [0, 1, 2, 3, 1000])
  func whatGoesInComesOut(iptcBytes: Int) throws {
    let iptc = iptcBytes == 0 ? [] : [0x1C] + [UInt8](repeating: 7, count: iptcBytes - 1)
    let given = ImageMetadata(exif: Self.exif, xmp: Self.xmp, iptc: iptc)
    let file = try encode(EncoderSettings(quality: 90, iccProfile: [], metadata: given))
    #expect(try decoder(file).takeMetadata() == given)
    let found = try #require(DecodedFile(file))
    #expect(found.exif == Self.exif && found.info.has_xmp && found.info.warnings == 0)
    let types = PNGChunks(file).chunks.map(\.type)
    #expect(types == ["IHDR", "eXIf", "iTXt"] + (iptc.isEmpty ? [] : ["tEXt"]) + ["IDAT", "IEND"])
    #expect(PNGText.rawProfile(iptc: iptc).count <= PNGText.byteCount(iptc: iptc.count))
  }

  @Test func sRGBIsSaid() throws {
    for channels in [1, 3] {
      let said = PNGChunks(try encode(EncoderSettings(quality: 90, iccProfile: [], isSRGB: true), channels: channels))
      #expect(said.first("sRGB")?.data == [0] && said.first("gAMA")?.data == PNGChunks.bigEndian(45455))
      #expect(said.first("cHRM") == nil)
    }
    let unsaid = PNGChunks(try encode(EncoderSettings(quality: 90, iccProfile: [])))
    #expect(unsaid.chunks.map(\.type) == ["IHDR", "IDAT", "IEND"])
    let profile = iccProfile(CPIC_ICC_DISPLAY_P3)
    let kept = PNGChunks(try encode(EncoderSettings(quality: 90, iccProfile: profile, isSRGB: true)))
    #expect(kept.chunks.map(\.type) == ["IHDR", "iCCP", "IDAT", "IEND"])
  }
}

/// Bytes whose number is not known beforehand.
private final class Pipe: ByteSource {
  private let bytes: Bytes
  init(_ bytes: [UInt8]) { self.bytes = Bytes(bytes) }

  var byteCount: Int? { nil }
  func makeSeekable() throws(DownsampleError) { throw DownsampleError(.internalFault, "a pipe was made seekable") }
  func peek(into buffer: UnsafeMutableRawBufferPointer) -> Int { bytes.peek(into: buffer) }
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int { bytes.read(into: buffer) }
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DownsampleError) -> Int {
    throw DownsampleError(.internalFault, "a pipe was read out of order")
  }
}
