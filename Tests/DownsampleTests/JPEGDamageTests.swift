import CPictures
import Codecs
import Raster
import TestPictures
import Testing

@testable import Downsample

/// Files that are cut or damaged: what is missing is said, and made up for only when that is asked for.
@Suite struct JPEGDamageTests {
  static let picture = Picture(CPIC_PHOTO, 320, 240)

  private func make(_ bytes: [UInt8], salvages: Bool, max: Int = 2048) throws -> (picture: Picture, warnings: [String])
  {
    let request = Request(maxPixelSize: max, format: .png, memory: .ample)
    var salvaging = request
    salvaging.salvages = salvages
    let (made, report) = try makeBytes(MemorySource(bytes), request: salvaging)
    return (try #require(DecodedFile(made)).picture, report.warnings)
  }

  private func failure(_ bytes: [UInt8], salvages: Bool = false) -> DownsampleError? {
    do throws(any Error) {
      _ = try make(bytes, salvages: salvages)
      return nil
    } catch {
      return error as? DownsampleError
    }
  }

  private static func cut(_ bytes: [UInt8], _ part: Double) -> [UInt8] {
    let file = JPEGFile(bytes)
    return Array(bytes[..<(file.headerBytes + Int(Double(file.rest.count) * part))])
  }

  struct Kind: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let set: @Sendable (inout cpic_jpeg_options) -> Void
    init(_ name: String, _ set: @escaping @Sendable (inout cpic_jpeg_options) -> Void) {
      (testDescription, self.set) = (name, set)
    }
  }

  static let oneScan = [
    Kind("4:2:0") { _ in }, Kind("4:4:4") { cpic_jpeg_set_sampling(&$0, 444) },
    Kind("restarts") { $0.restart_interval = 5 }, Kind("arithmetic") { $0.arithmetic = true },
    Kind("RGB") { $0.space = CPIC_JPEG_RGB },
  ]

  @Test(arguments: oneScan) func aCutFileSaysHowFarItGoes(kind: Kind) throws {
    let whole = Self.picture.jpeg(kind.set)
    let all = try make(whole, salvages: false)
    #expect(all.warnings.isEmpty)
    for part in [0.2, 0.5, 0.63, 0.9] {
      let bytes = Self.cut(whole, part)
      let error = try #require(failure(bytes))
      #expect(error.code == .damagedData)
      let percent = try #require(Int(error.message.split(separator: "%")[0].split(separator: " ").last!))
      #expect(error.message == "the file ends after \(percent)% of the rows; --salvage makes what there is")
      #expect(abs(Double(percent) - part * 100) < 15, "\(part): \(error.message)")
      let salvaged = try make(bytes, salvages: true)
      #expect(salvaged.warnings == ["the file ends after \(percent)% of the rows: the rest is gray"])
      // libjpeg's smoothing of chroma looks a row ahead.
      let rows = percent * 240 / 100 - 16
      #expect(
        salvaged.picture.cropped(0, 0, 320, rows).largestDifference(from: all.picture.cropped(0, 0, 320, rows))! <= 1)
      #expect(salvaged.picture.pixel(10, 238) == [128, 128, 128])
      let small = try make(bytes, salvages: true, max: 40)
      #expect(small.warnings == salvaged.warnings)
      #expect(small.picture.pixel(5, 29).allSatisfy { abs($0 - 128) <= 8 })
    }
  }

  @Test(arguments: [false, true]) func aCutProgressiveFileSaysInWhichScan(arithmetic: Bool) throws {
    let whole = Self.picture.jpeg {
      $0.progressive = true
      $0.arithmetic = arithmetic
    }
    let all = RealPicture(try make(whole, salvages: false).picture)
    var last = 1000.0
    for part in [0.1, 0.3, 0.6, 0.95] {
      let bytes = Self.cut(whole, part)
      let error = try #require(failure(bytes))
      #expect(error.code == .damagedData)
      #expect(
        error.message.hasPrefix("the file ends in scan ")
          && error.message.hasSuffix("% of its rows; --salvage makes what there is"),
        "\(error.message)")
      let salvaged = try make(bytes, salvages: true)
      #expect(salvaged.warnings.count == 1)
      #expect(salvaged.warnings[0].hasSuffix("% of its rows: the picture is coarse where more is missing"))
      let difference = RealPicture(salvaged.picture).difference(from: all).mean
      #expect(difference < last && difference < 40, "\(part): \(difference)")
      last = difference
    }
  }

  @Test func aFileThatEndsBetweenScans() throws {
    let whole = Self.picture.jpeg { $0.progressive = true }
    let scans = whole.indices.dropLast().filter { whole[$0] == 0xFF && whole[$0 + 1] == 0xDA }
    let tables = whole.indices.dropLast().filter { whole[$0] == 0xFF && whole[$0 + 1] == 0xC4 }
    let end = tables.last { $0 < scans[4] && $0 > scans[3] } ?? scans[4]
    #expect(
      failure(Array(whole[..<end]))?.message
        == "the file ends after scan 4, more are missing; --salvage makes what there is")
    #expect(
      try make(Array(whole[..<end]), salvages: true).warnings
        == ["the file ends after scan 4, more are missing: the picture is coarse"])
    // With an end marker there, that is how the picture was made.
    #expect(try make(Array(whole[..<end]) + [0xFF, 0xD9], salvages: false).warnings.isEmpty)
    // Whether an arithmetic scan is whole cannot be told where the next one's header is missing.
    let arithmetic = Self.picture.jpeg { ($0.progressive, $0.arithmetic) = (true, true) }
    let starts = arithmetic.indices.dropLast().filter { arithmetic[$0] == 0xFF && arithmetic[$0 + 1] == 0xDA }
    let cut = Array(arithmetic[..<starts[4]])
    #expect(failure(cut)?.message == "the file ends after scan 4; --salvage makes what there is")
    #expect(
      try make(cut, salvages: true).warnings
        == ["the file ends after scan 4: the picture is coarse where more is missing"])
    let planes = Self.picture.jpeg { $0.multi_scan = true }
    let second = planes.indices.dropLast().filter { planes[$0] == 0xFF && planes[$0 + 1] == 0xDA }[1]
    for ending in [[], [0xFF, 0xD9]] as [[UInt8]] {
      let bytes = Array(planes[..<second]) + ending
      #expect(failure(bytes)?.message == "component 2 has no scan; --salvage makes what there is")
      let salvaged = try make(bytes, salvages: true)
      #expect(salvaged.warnings == ["component 2 has no scan: what it would show is missing"])
      let gray = salvaged.picture.pixel(160, 120)
      #expect(abs(gray[0] - gray[1]) <= 1 && abs(gray[1] - gray[2]) <= 1)
    }
  }

  /// libjpeg ends here where it could go on from the scans that it has.
  @Test func whatLibjpegRefusesInTheMiddleOfTheScansIsSalvaged() throws {
    let whole = Self.picture.jpeg { $0.progressive = true }
    let scans = whole.indices.dropLast().filter { whole[$0] == 0xFF && whole[$0 + 1] == 0xDA }
    let tables = whole.indices.dropLast().filter { whole[$0] == 0xFF && whole[$0 + 1] == 0xC4 }
    var spectral = whole
    spectral[scans[5] + 4 + 1 + 2 * Int(whole[scans[5] + 4])] = 60  // Ss above Se
    var table = whole
    table[tables.last! + 5] = 255  // more codes than there can be
    for bytes in [spectral, table] {
      let error = try #require(failure(bytes))
      #expect(error.code == .damagedData, "\(error.message)")
      let salvaged = try make(bytes, salvages: true)
      #expect(
        salvaged.warnings.count == 1 && salvaged.warnings[0].contains("the data are damaged in scan"),
        "\(salvaged.warnings)")
      let whole = RealPicture(try make(whole, salvages: false).picture)
      #expect(RealPicture(salvaged.picture).difference(from: whole).mean < 20)
    }
  }

  @Test func damagedDataAreSaidByTheirRow() throws {
    var file = JPEGFile(Self.picture.jpeg { $0.restart_interval = 20 })
    let whole = RealPicture(try make(file.bytes, salvages: false).picture)
    let restarts = file.rest.indices.dropLast().filter { file.rest[$0] == 0xFF && 0xD0...0xD7 ~= file.rest[$0 + 1] }
    // A row of MCUs is an interval. Bytes too many are what lost blocks leave behind; a few may be padding.
    var longer = file
    longer.rest.insert(contentsOf: [UInt8](repeating: 0x55, count: 50), at: restarts[7])
    #expect(failure(longer.bytes)?.message == "the data are damaged at row 129 of 240; --salvage makes what there is")
    longer = file
    longer.rest.insert(contentsOf: [0, 0, 0], at: restarts[7])
    #expect(try make(longer.bytes, salvages: false).warnings == ["there are stray bytes between the segments"])
    // The eighth ends too early.
    file.rest.removeSubrange(restarts[6] + 22..<restarts[7])
    let error = try #require(failure(file.bytes))
    #expect(error.message == "the data are damaged at row 113 of 240; --salvage makes what there is")
    let salvaged = try make(file.bytes, salvages: true)
    #expect(salvaged.warnings == ["the data are damaged at row 113 of 240: what follows may be wrong"])
    // With the next interval all is well again, but for the rows that chroma is resampled with.
    for y in [0..<100, 140..<240] {
      let part = salvaged.picture.cropped(0, y.lowerBound, 320, y.count)
      let expected = whole.rounded.cropped(0, y.lowerBound, 320, y.count)
      #expect(part.largestDifference(from: expected)! <= 1)
    }
  }

  @Test func dataThatEndTooEarly() throws {
    let whole = JPEGFile(Self.picture.jpeg())
    let bytes = Self.cut(whole.bytes, 0.5) + [0xFF, 0xD9]
    let message = try #require(failure(bytes)?.message)
    #expect(
      message.hasPrefix("the data end after ") && message.hasSuffix("% of the rows; --salvage makes what there is"))
    #expect(try make(bytes, salvages: true).warnings[0].hasSuffix("the rest is gray"))
  }

  @Test func harmlessOdditiesAreWarnings() throws {
    let whole = Self.picture.jpeg()
    let expected = try make(whole, salvages: false).picture
    func warnings(_ bytes: [UInt8]) throws -> [String] {
      let made = try make(bytes, salvages: false)
      #expect(made.picture.largestDifference(from: expected) == 0)
      return made.warnings
    }
    #expect(try warnings(whole).isEmpty)
    #expect(try warnings(Array(whole.dropLast(2))) == ["the end marker is missing: every row is there"])
    #expect(try warnings(whole + [1, 2, 3]) == ["3 bytes after the picture's end were passed over"])
    #expect(
      try warnings(whole + [UInt8](repeating: 0xAB, count: 50_000)) == [
        "50000 bytes after the picture's end were passed over"
      ])
    #expect(try warnings(whole + [UInt8](repeating: 0, count: 500)).isEmpty)
    #expect(try warnings(whole + Array("SEFH....SEFT".utf8)).isEmpty)
    var stray = JPEGFile(whole)
    let frame = stray.segments.firstIndex { $0.marker == 0xC0 }!
    let before = [0xFF, 0xD8] + stray.segments[..<frame].flatMap(\.bytes)
    stray.segments.removeFirst(frame)
    let odd = before + [1, 2, 3] + stray.bytes.dropFirst(2)
    #expect(try warnings(odd) == ["there are stray bytes between the segments"])
    let video = JPEGFile(whole).adding([.xmp("<rdf:Description GCamera:MotionPhoto=\"1\"/>")])
    #expect(try warnings(video.bytes + [1, 2, 3]).isEmpty)
    let scans = Self.picture.jpeg { $0.progressive = true }
    #expect(
      try make(Array(scans.dropLast(2)), salvages: false).warnings == ["the end marker is missing: every row is there"])
    #expect(try make(scans + [7], salvages: false).warnings == ["a byte after the picture's end was passed over"])
  }

  // MARK: Anything

  @Test(arguments: RefusalTests.files.indices.prefix(6))
  func everyPrefixIsSalvagedOrRefused(index: Int) throws {
    let (name, whole) = RefusalTests.files[index]
    var isSalvaged = false
    for count in stride(from: 0, through: whole.count, by: 3) {
      guard let error = failure(Array(whole[..<count]), salvages: true) else {
        isSalvaged = true
        continue
      }
      #expect(!isSalvaged, "\(name): \(count) of \(whole.count) bytes, where fewer made a picture")
      #expect(error.code == .damagedData, "\(name): \(error)")
    }
    #expect(isSalvaged)
  }

  @Test(arguments: RefusalTests.files.indices.prefix(6))
  func flippedBitsAreSalvagedOrRefused(index: Int) {
    let (name, whole) = RefusalTests.files[index]
    var generator = Noise(seed: UInt64(index) + 77)
    for _ in 0..<300 {
      var bytes = whole
      for _ in 0...generator.next() % 4 {
        bytes[Int(generator.next() % UInt64(bytes.count))] ^= 1 << UInt8(generator.next() % 8)
      }
      guard let error = failure(bytes, salvages: true) else { continue }
      #expect([.damagedData, .unsupported].contains(error.code), "\(name): \(error.code) \(error.message)")
    }
  }

  /// A header that claims far more than there is costs neither time nor memory.
  @Test(.timeLimit(.minutes(1)), arguments: [false, true]) func madeUpSizes(progressive: Bool) throws {
    let file = JPEGFile(Self.picture.jpeg { $0.progressive = progressive }).changing(progressive ? 0xC2 : 0xC0) {
      $0.replaceSubrange(1..<5, with: [0xFF, 0xDC, 0xFF, 0xDC])
    }
    let error = try #require(failure(Array(file.bytes[..<(file.headerBytes + 100)]), salvages: true))
    #expect(error.code == .damagedData && error.message.hasPrefix("nothing of the picture is there: the file ends"))
  }
}
