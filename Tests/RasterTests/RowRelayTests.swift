import Glibc
import TestPictures
import Testing

@testable import Raster

@Suite struct RowRelayTests {
  private static func plane(_ width: Int, _ height: Int) -> PlaneLayout {
    PlaneLayout(width: width, height: height, channels: 1, sampleType: .uint8, maximum: 255)
  }

  /// Rows are parts of one pattern: to make each of them would take long.
  private static let pattern = (0..<204_096).map { UInt8(truncatingIfNeeded: ($0 &* 40503) >> 5) }

  private static func withRow<Result>(
    _ y: Int, _ plane: Int, _ body: (UnsafeRawPointer) throws -> Result
  ) rethrows -> Result {
    try pattern.withUnsafeBytes { try body($0.baseAddress! + (y * 3 + plane * 501) % 4096) }
  }

  /// Rows of several planes, of which one is longer than a block and one shorter than a cache line, in an odd order.
  @Test(arguments: [[40000, 1], [3000, 1500, 1500], [200_000], [5]])
  func rowsComeInOrder(widths: [Int]) throws {
    let height = 1500
    let check = Check(widths: widths)
    try RowRelay.run(
      planes: widths.map { Self.plane($0, height) },
      decode: { sink throws(DownsampleError) in
        for y in 0..<height {
          for plane in widths.indices where plane == 0 || y % 2 == 0 { try Self.write(y, plane, to: sink) }
        }
      }, to: check)
    #expect(check.wrong == 0)
    #expect(check.rows == widths.indices.map { $0 == 0 ? height : height / 2 })
  }

  private static func write(_ y: Int, _ plane: Int = 0, to sink: RowSink) throws(DownsampleError) {
    do {
      try withRow(y, plane) { try sink.write($0, plane: plane) }
    } catch {
      throw error as! DownsampleError
    }
  }

  /// Compares as rows come: keeping them all would take long.
  private final class Check: RowSink {
    let widths: [Int]
    private(set) var rows: [Int]
    private(set) var wrong = 0

    init(widths: [Int]) {
      self.widths = widths
      rows = widths.map { _ in 0 }
    }

    func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
      let y = plane == 0 ? rows[plane] : rows[plane] * 2
      if RowRelayTests.withRow(y, plane, { memcmp(row, $0, widths[plane]) }) != 0 { wrong += 1 }
      rows[plane] += 1
    }

    func finish() {}
  }

  /// What came before a failure is given on, and then it is thrown.
  @Test func decoderThatFails() throws {
    for count in [0, 1, 200, 2000] {
      let collector = RowCollector(rowBytes: [100])
      do {
        try RowRelay.run(
          planes: [Self.plane(100, 5000)],
          decode: { sink throws(DownsampleError) in
            for y in 0..<count { try Self.write(y, to: sink) }
            throw DownsampleError(.damagedData, "cut")
          }, to: collector)
        Issue.record("it went on")
      } catch {
        #expect(error.message == "cut")
      }
      #expect(collector.rows[0].count == count)
    }
  }

  /// The decoder is stopped, wherever it is, and the taker's error is what is thrown.
  @Test func takerThatFails() throws {
    for most in [0, 1, 900, 3000] {
      let taker = Failing(after: most)
      let state = Counter()
      do {
        try RowRelay.run(
          planes: [Self.plane(1000, 1 << 20)],
          decode: { sink throws(DownsampleError) in
            while state.count < 1 << 20 {
              try Self.write(0, to: sink)
              state.count += 1
            }
          }, to: taker)
        Issue.record("it went on")
      } catch {
        #expect(error.message == "full")
      }
      #expect(taker.rows == most)
      // No more than what the blocks hold was decoded in vain.
      #expect(state.count <= most + 1000)
    }
  }

  private final class Failing: RowSink {
    private let most: Int
    private(set) var rows = 0
    init(after most: Int) { self.most = most }
    func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError) {
      if rows == most { throw DownsampleError(.inputOutput, "full") }
      rows += 1
    }
    func finish() {}
  }

  private final class Counter {
    var count = 0
  }

  @Test func isFreedAtItsEnd() throws {
    for _ in 0..<300 {
      let collector = RowCollector(rowBytes: [64])
      try RowRelay.run(
        planes: [Self.plane(64, 64)],
        decode: { sink throws(DownsampleError) in for y in 0..<64 { try Self.write(y, to: sink) } },
        to: collector)
      #expect(collector.rows[0].count == 64)
    }
  }
}
