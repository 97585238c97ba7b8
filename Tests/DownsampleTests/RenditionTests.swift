import CPictures
import Codecs
import Foundation
import Raster
import Synchronization
import TestPictures
import Testing

@testable import Downsample

/// Several pictures out of one decode, and rows of pixels.
@Suite struct RenditionTests {
  let folder = TemporaryFolder()

  static let files: [[UInt8]] = [
    Picture(CPIC_PHOTO, 1300, 1000).jpeg { $0.exif.orientation = 6 },
    Picture(CPIC_PHOTO, 400, 300).jpeg { $0.progressive = true },
    Picture(CPIC_PHOTO, 300, 200, channels: 4).png(),
    Picture(CPIC_PHOTO, 301, 203).png { $0.interlaced = true },
    Picture(CPIC_PHOTO, 320, 240).heif { $0.tile_width = 128 },
  ]

  /// PNG decodes to the same whatever is made of it: each picture is the one that is made alone.
  @Test(arguments: [2, 3]) func threeSizesAreWhatEachIsAlone(index: Int) throws {
    let renditions = [
      Rendition(maxPixelSize: 200, format: .png), Rendition(maxPixelSize: 90, format: .jpeg),
      Rendition(maxPixelSize: 17, format: .png, color: .p3),
    ]
    let collectors = renditions.map { _ in EncodedBytes() }
    let report = try Downsampler.run(
      .bytes(Self.files[index]), request: Request(renditions: renditions, memory: .ample),
      to: collectors.map { .bytes($0) })
    #expect(report.outputs.map(\.size.longEdge) == [200, 90, 17])
    #expect(report.outputs.map(\.byteCount) == collectors.map(\.count))
    for (rendition, collector) in zip(renditions, collectors) {
      let alone = try Downsampler.bytes(
        of: .bytes(Self.files[index]), request: Request(renditions: [rendition], memory: .ample))
      #expect(collector.array == alone)
    }
  }

  @Test(arguments: files.indices) func severalFromOneDecode(index: Int) throws {
    let request = Request(
      renditions: [
        Rendition(maxPixelSize: 64, format: .png), Rendition(maxPixelSize: 256),
        Rendition(maxPixelSize: 32, format: .png),
      ], memory: .ample)
    let read = Mutex(0)
    let file = Self.files[index]
    let source = ImageSource.pull(byteCount: file.count) { buffer in
      read.withLock { read in
        let count = min(buffer.count, file.count - read)
        file.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[read..<(read + count)])) }
        read += count
        return count
      }
    }
    try Downsampler.run(
      source, request: request,
      to: [.path(folder("a.png")), .path(folder("b.jpg")), .path(folder("c.png"))])
    #expect(folder.names == ["a.png", "b.jpg", "c.png"])
    for (name, rendition) in zip(["a.png", "b.jpg", "c.png"], request.renditions) {
      let made = try #require(DecodedFile(Array(FileManager.default.contents(atPath: folder.text(name))!)))
      let alone = try make(file, max: rendition.maxPixelSize!, rendition.format)
      #expect(max(made.picture.width, made.picture.height) == rendition.maxPixelSize)
      // A smaller one is resampled from rows that were decoded for the largest.
      #expect(RealPicture(made.picture).luma.difference(from: alone.luma).mean < 4)
    }
  }

  @Test func planned() throws {
    let file = Self.files[0]
    let (_, one) = try Downsampler.plan(.bytes(file), request: Request(maxPixelSize: 900, memory: .ample))
    let three = Request(
      renditions: [900, 300, 200].map { Rendition(maxPixelSize: $0) }, memory: .ample)
    let (_, plan) = try Downsampler.plan(.bytes(file), request: three)
    #expect(plan.outputs.map(\.size.longEdge) == [900, 300, 200] && plan.outputSize == one.outputSize)
    #expect(plan.addedBytes > one.addedBytes && plan.addedBytes < 2 * one.addedBytes)
    #expect(plan.stages.contains { $0.name == "turning (\(plan.outputs[2].size))" })
    let (_, collected) = try Downsampler.plan(
      .bytes(file), request: three, to: (0..<3).map { _ in .bytes(EncodedBytes()) })
    #expect(collected.addedBytes > plan.addedBytes)
    #expect(collected.stages.filter { $0.name.hasPrefix("encoded bytes") }.count == 3)
  }

  /// No rendition is made larger than the one that fits.
  @Test func shrunkTogether() throws {
    let file = Picture(CPIC_PHOTO, 6000, 4500).jpeg { $0.exif.orientation = 6 }
    var request = Request(renditions: [5000, 4000, 100].map { Rendition(maxPixelSize: $0) }, memory: .ample)
    let (_, ample) = try Downsampler.plan(.bytes(file), request: request)
    request.memory = MemoryBudget(ceiling: ample.residentBytes + ample.addedBytes * 2 / 3)
    let (_, refused) = try Downsampler.plan(.bytes(file), request: request)
    let fitting = try #require(refused.largestFittingSize)
    request.overBudget = .shrink
    let (_, shrunk) = try Downsampler.plan(.bytes(file), request: request)
    #expect(shrunk.fits && fitting < 5000 && fitting > 1000)
    #expect(shrunk.outputs[0].size == shrunk.outputs[1].size || shrunk.outputs[1].size.longEdge == 4000)
    #expect(shrunk.outputs[2].size.longEdge == 100)
  }

  @Test func oneDestinationForEach() throws {
    let request = Request(renditions: [Rendition(), Rendition()], memory: .ample)
    for destinations in [[], [.path(folder("a"))], (0..<3).map { _ in ImageDestination.bytes(EncodedBytes()) }] {
      let error = #expect(throws: DownsampleError.self) {
        try Downsampler.run(.bytes(Self.files[1]), request: request, to: destinations)
      }
      #expect(error?.code == .usage)
    }
    let none = #expect(throws: DownsampleError.self) {
      try Downsampler.run(.bytes(Self.files[1]), request: Request(renditions: [], memory: .ample), to: [])
    }
    #expect(none?.code == .usage && folder.names.isEmpty)
  }

  @Test func oneThatFailsLeavesNone() throws {
    let error = #expect(throws: DownsampleError.self) {
      try Downsampler.run(
        .bytes(Self.files[1]), request: Request(renditions: [Rendition(), Rendition()], memory: .ample),
        to: [.path(folder("a")), .stream { _ in throw Refusing() }])
    }
    #expect(error?.code == .inputOutput && error?.isAboutOutput == true && folder.names.isEmpty)
  }

  private struct Refusing: Error {}

  // MARK: Rows of pixels

  private final class Canvas: PixelSink, @unchecked Sendable {
    var layout: PixelLayout?
    var rows: [[UInt8]] = []
    let memory: UnsafeMutableRawBufferPointer?
    let stride: Int
    var areInMemory = true

    init(memory: UnsafeMutableRawBufferPointer? = nil, stride: Int = 0) {
      self.memory = memory
      self.stride = stride
    }

    func begin(_ layout: PixelLayout) -> PixelMemory? {
      self.layout = layout
      return memory.map { PixelMemory(bytes: $0, stride: stride) }
    }

    func write(_ row: UnsafeRawBufferPointer, y: Int) {
      if let memory, row.baseAddress! != UnsafeRawPointer(memory.baseAddress! + y * stride) { areInMemory = false }
      if y == rows.count { rows.append(Array(row)) }
    }
  }

  @Test(arguments: files.indices, PixelFormat.allCases) func pixels(index: Int, format: Codecs.PixelFormat) throws {
    let depth: SampleDepth = format.bitsPerSample == 16 ? .sixteen : .eight
    let file = Self.files[index]
    let expected = try #require(
      DecodedFile(
        try Downsampler.bytes(
          of: .bytes(file), request: Request(maxPixelSize: 50, format: .png, depth: depth, memory: .ample)))
    ).picture
    let request = Request(maxPixelSize: 50, pixelFormat: format, memory: .ample)
    let canvas = Canvas()
    let report = try Downsampler.run(.bytes(file), request: request, to: .rows(canvas))
    let layout = try #require(canvas.layout)
    #expect(layout.size == PixelSize(width: expected.width, height: expected.height) && layout.format == format)
    #expect(layout.bytesPerRow == expected.width * format.bytesPerPixel && canvas.rows.count == expected.height)
    #expect(
      report.output.format == nil && report.output.pixelFormat == format && report.output.formatName == format.rawValue)
    #expect(report.output.byteCount == layout.bytesPerRow * expected.height)

    let most = format.bitsPerSample == 8 ? 255 : 65535
    for (y, row) in canvas.rows.enumerated() where format.hasAlpha || expected.channels == 3 {
      let samples =
        format.bitsPerSample == 8
        ? row.map(Int.init) : row.withUnsafeBytes { $0.bindMemory(to: UInt16.self).map(Int.init) }
      for x in 0..<expected.width {
        var wanted = expected.pixel(x, y)
        if expected.channels == 3 { wanted.append(most) }
        if format.isPremultiplied { for i in 0..<3 { wanted[i] = (wanted[i] * wanted[3] + most / 2) / most } }
        if [.bgra8, .bgra8Premultiplied].contains(format) { wanted.swapAt(0, 2) }
        let count = format.hasAlpha ? 4 : 3
        #expect(Array(samples[(x * count)..<(x * count + count)]) == Array(wanted[..<count]))
      }
    }

    let stride = layout.bytesPerRow + 12
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: stride * expected.height, alignment: 16)
    defer { memory.deallocate() }
    let placed = Canvas(memory: memory, stride: stride)
    try Downsampler.run(.bytes(file), request: request, to: .rows(placed))
    #expect(placed.rows == canvas.rows && placed.areInMemory)

    for (bytes, stride) in [(stride * (expected.height - 1), stride), (memory.count, layout.bytesPerRow - 1)] {
      let small = Canvas(memory: UnsafeMutableRawBufferPointer(rebasing: memory[..<bytes]), stride: stride)
      let error = #expect(throws: DownsampleError.self) {
        try Downsampler.run(.bytes(file), request: request, to: .rows(small))
      }
      #expect(error?.code == .usage && small.rows.isEmpty)
    }
  }

  /// What is kept is in the plan, and noise does not take more.
  @Test(arguments: Codecs.OutputFormat.allCases, [50, 85, 90, 95, 100]) func encodedBytesAreBounded(
    format: Codecs.OutputFormat, quality: Int
  ) throws {
    for channels in [1, 3] {
      let picture = Picture(CPIC_NOISE, 200, 160, channels: channels)
      for chroma in Codecs.ChromaSubsampling.allCases {
        let request = Request(
          maxPixelSize: 200, format: format, quality: quality, chroma: chroma, effort: 1, memory: .ample)
        let collector = EncodedBytes()
        let report = try Downsampler.run(.bytes(picture.png()), request: request, to: .bytes(collector))
        let planned = try #require(report.plan.stages.first { $0.name == "encoded bytes" }).bytes
        #expect(collector.count <= planned - (60 << 10), "\(collector.count) of \(planned)")
      }
    }
  }

  @Test func keptPixelsArePlanned() throws {
    let request = Request(maxPixelSize: 50, pixelFormat: .rgba16, memory: .ample)
    let (_, shown) = try Downsampler.plan(.bytes(Self.files[0]), request: request, to: [.rows(Canvas())])
    let (_, kept) = try Downsampler.plan(
      .bytes(Self.files[0]), request: request, to: [.rows(Canvas(), keepsRows: true)])
    #expect(!shown.stages.contains { $0.name == "pixels" })
    #expect(kept.stages.contains { $0.name == "pixels" && $0.bytes == 38 * 50 * 8 })
  }

  @Test func pixelsAndDestinationsAgree() {
    for (request, destination) in [
      (Request(memory: .ample), ImageDestination.rows(Canvas())),
      (Request(pixelFormat: .rgba8, memory: .ample), .bytes(EncodedBytes())),
    ] {
      let error = #expect(throws: DownsampleError.self) {
        try Downsampler.run(.bytes(Self.files[1]), request: request, to: destination)
      }
      #expect(error?.code == .usage)
    }
  }

  /// As stored: what turning it upright would give, turned back.
  @Test func orientationIsLeft() throws {
    let stored = Picture(CPIC_PHOTO, 120, 80)
    let file = stored.jpeg { $0.exif.orientation = 6 }
    let plain = stored.jpeg { _ in }
    var rendition = Rendition(maxPixelSize: 60, format: .png, appliesOrientation: false)
    let left = try Downsampler.bytes(of: .bytes(file), request: Request(renditions: [rendition], memory: .ample))
    let expected = try Downsampler.bytes(of: .bytes(plain), request: Request(renditions: [rendition], memory: .ample))
    #expect(left == expected)
    rendition.metadata = .all
    let kept = try Downsampler.bytes(of: .bytes(file), request: Request(renditions: [rendition], memory: .ample))
    #expect(try Downsampler.probe(.bytes(kept)).orientation == .right)
  }
}
