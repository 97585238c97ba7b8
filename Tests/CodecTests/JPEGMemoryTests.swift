import Budget
import CJPEG
import CPictures
import Glibc
import Raster
import TestPictures
import Testing

@testable import Codecs

/// What decoding a JPEG may hold: planned, counted, limited.
@Suite struct JPEGMemoryTests {
  private static var noFile: DecodingResources {
    DecodingResources { () throws(DownsampleError) in
      throw DownsampleError(.inputOutput, "no temporary files here")
    }
  }

  private func decodeAll(_ decoder: JPEGDecoder) throws { while try decoder.nextBand() != nil {} }

  private func failure(
    _ file: [UInt8], share: Int? = nil, libraryBytes: Int? = nil, resources: DecodingResources = noFile
  ) -> DownsampleError? {
    #expect(throws: DownsampleError.self) {
      let decoder = try JPEGDecoder(source: Bytes(file))
      var strategy = decoder.planner.strategies(target: decoder.header.codedSize, threads: 1)[0]
      if let share { strategy.spillable?.share = share }
      if let libraryBytes { strategy.detail = JPEGPlanner.Detail(eighths: 8, libraryBytes: libraryBytes) }
      _ = try decoder.begin(strategy, resources: resources)
      try decodeAll(decoder)
    }
  }

  @Test(arguments: JPEGStoreTests.samplings) func plannedIsWhatIsCounted(sampling: JPEGStoreTests.Sampling) throws {
    for (width, height) in [(1, 1), (17, 33), (1203, 77), (4001, 40)] {
      for kind in 0..<3 {
        let file = Picture(CPIC_PHOTO, width, height).jpeg {
          sampling.set(&$0)
          $0.progressive = kind == 1
          $0.multi_scan = kind == 2
          $0.arithmetic = width == 17
        }
        for divisor in [1, 2, 4, 8] {
          let decoder = try JPEGDecoder(source: Bytes(file))
          let target = PixelSize(width: max(1, width / divisor / 2), height: max(1, height / divisor / 2))
          for strategy in decoder.planner.strategies(target: target, threads: 1) {
            let decoder = try JPEGDecoder(source: Bytes(file))
            _ = try decoder.begin(strategy, resources: Self.noFile)
            try decodeAll(decoder)
            let used = decoder.usage
            let planned = (strategy.detail as! JPEGPlanner.Detail).libraryBytes
            let what: Comment = "\(width)x\(height), kind \(kind), \(strategy.name)"
            #expect(used.library_bytes <= planned, what)
            #expect(planned <= used.library_bytes * 11 / 10 + 256 * 1024, what)
            #expect(strategy.held.totalBytes >= planned)
            #expect((strategy.spillable != nil) == (decoder.header.arrangement != .sequential))
            if let spillable = strategy.spillable {
              #expect(used.store_fixed_bytes <= spillable.least, what)
              #expect(spillable.least <= used.store_fixed_bytes * 11 / 10 + 256 * 1024, what)
              #expect(used.store_bytes <= spillable.wanted, what)
            } else {
              #expect(used.store_bytes == 0)
            }
          }
        }
      }
    }
  }

  @Test func packedSizesArePredicted() throws {
    for (kind, width) in [(CPIC_PHOTO, 1200), (CPIC_NOISE, 600), (CPIC_GRADIENT, 1200)] {
      let picture = Picture(kind, width, width * 3 / 4)
      for quality: Int32 in [30, 75, 92, 100] {
        let file = picture.jpeg {
          $0.progressive = true
          $0.quality = quality
        }
        for divisor in [1, 4, 8] {
          let decoder = try JPEGDecoder(source: Bytes(file))
          let target = PixelSize(width: width / divisor / 2, height: width * 3 / 8 / divisor)
          let strategy = decoder.planner.strategies(target: target, threads: 1)[0]
          let wanted = try #require(strategy.spillable).wanted
          var whole = strategy
          whole.spillable?.share = .max
          _ = try decoder.begin(whole, resources: Self.noFile)
          let used = decoder.usage.store_bytes
          let what: Comment = "\(kind), quality \(quality), 1/\(divisor): \(used) used, \(wanted) wanted"
          #expect(used <= wanted, what)
          #expect(wanted <= used * 5 / 4 + 2 * 1024 * 1024, what)
        }
      }
    }
  }

  @Test func strongerPreshrinksHoldLessAndWarn() throws {
    for progressive in [false, true] {
      let file = Picture(CPIC_PHOTO, 800, 600).jpeg { $0.progressive = progressive }
      let planner = try JPEGDecoder(source: Bytes(file)).planner
      let strategies = planner.strategies(target: PixelSize(width: 160, height: 120), threads: 1)
      #expect(strategies.map { ($0.detail as! JPEGPlanner.Detail).eighths } == [4, 2])
      #expect(strategies[0].warning == nil)
      #expect(
        strategies[1].warning == "decoded at 2/8 to save memory: 1.2 times the result, where 1.9 looks best")
      let bytes = strategies.map { $0.held.totalBytes + ($0.spillable?.wanted ?? 0) }
      #expect(bytes[1] < bytes[0])
      #expect(planner.strategies(target: PixelSize(width: 800, height: 600), threads: 1).count == 1)
      #expect(planner.strategies(target: PixelSize(width: 100, height: 75), threads: 1).count == 2)
    }
  }

  @Test func pastItsLimitsDecodingEnds() throws {
    let progressive = Picture(CPIC_PHOTO, 400, 300).jpeg { $0.progressive = true }
    let one = Picture(CPIC_PHOTO, 400, 300).jpeg()
    for file in [progressive, one] {
      let decoder = try JPEGDecoder(source: Bytes(file))
      let strategy = decoder.planner.strategies(target: decoder.header.codedSize, threads: 1)[0]
      _ = try decoder.begin(strategy, resources: Self.noFile)
      try decodeAll(decoder)
      let enough = decoder.usage.library_bytes
      let error = failure(file, libraryBytes: enough - 1)
      #expect(error?.code == .overBudget && error?.message.contains("\(enough - 1) are allowed") == true)
    }
    #expect(failure(progressive, share: 1000)?.code == .overBudget)
  }

  @Test func theTemporaryFileCannotBeHad() throws {
    let file = Picture(CPIC_PHOTO, 400, 300).jpeg { $0.progressive = true }
    let decoder = try JPEGDecoder(source: Bytes(file))
    let strategy = decoder.planner.strategies(target: decoder.header.codedSize, threads: 1)[0]
    let least = try #require(strategy.spillable).least
    let refused = failure(file, share: least)
    #expect(refused?.code == .inputOutput && refused?.message == "no temporary files here")
    // A full disk.
    let full = failure(
      file, share: least, resources: DecodingResources { () throws(DownsampleError) in open("/dev/full", O_RDWR) })
    #expect(full?.code == .inputOutput && full?.message.contains("No space left") == true, "\(full.debugDescription)")
    // A file that lost what was written.
    let lost = failure(
      file, share: least, resources: DecodingResources { () throws(DownsampleError) in open("/dev/null", O_RDWR) })
    #expect(lost?.code == .inputOutput && lost?.message.contains("too early") == true, "\(lost.debugDescription)")
  }

  @Test func segmentsWithoutUseAreNotKept() throws {
    let file = Picture(CPIC_PHOTO, 64, 64).jpeg {
      $0.progressive = true
      $0.junk_segments = 3000
      $0.junk_segment_bytes = 10000
      $0.comment_bytes = 60000
    }
    let decoder = try JPEGDecoder(source: Bytes(file))
    #expect(decoder.usage.library_bytes < 30_000)
  }

  /// Positions of the scans in a file, and its end.
  private func scans(of file: [UInt8]) -> [Int] {
    (0..<file.count - 1).filter { file[$0] == 0xFF && (file[$0 + 1] == 0xDA || file[$0 + 1] == 0xD9) }
  }

  @Test func endlessScans() throws {
    let file = Picture(CPIC_PHOTO, 32, 32).jpeg { $0.multi_scan = true }
    let scans = scans(of: file)
    let scan = Array(file[scans[2]..<scans[3]])
    func repeated(_ count: Int) -> [UInt8] {
      Array(file[..<scans[3]]) + (0..<count).flatMap { _ in scan } + Array(file[scans[3]...])
    }
    let decoder = try JPEGDecoder(source: Bytes(repeated(490)))
    let strategy = decoder.planner.strategies(target: decoder.header.codedSize, threads: 1)[0]
    _ = try decoder.begin(strategy, resources: Self.noFile)
    try decodeAll(decoder)
    let error = failure(repeated(510))
    #expect(error?.code == .damagedData && error?.message.contains("more than 500 scans") == true)
  }

  /// The file's size is made up, and an arithmetic decoder takes the end of the data for endless zeros.
  private func hollow(progressive: Bool) throws -> [UInt8] {
    var file = Picture(CPIC_PHOTO, 32, 32).jpeg {
      $0.progressive = progressive
      $0.arithmetic = true
    }
    let frame = try #require(
      (0..<file.count - 1).first { file[$0] == 0xFF && (file[$0 + 1] == 0xC9 || file[$0 + 1] == 0xCA) })
    file.replaceSubrange((frame + 5)..<(frame + 9), with: [0xFF, 0xDC, 0xFF, 0xDC])
    return file
  }

  @Test(.timeLimit(.minutes(1))) func aDeadlineReachesWhereNothingIsRead() throws {
    for progressive in [false, true] {
      var asked = 0
      let resources = DecodingResources(openTemporaryFile: Self.noFile.openTemporaryFile) {
        () throws(DownsampleError) in
        asked += 1
        if asked > 60 { throw DownsampleError(.internalFault, "time is up") }
      }
      #expect(failure(try hollow(progressive: progressive), resources: resources)?.message == "time is up")
      #expect(asked == 61)
    }
  }
}
