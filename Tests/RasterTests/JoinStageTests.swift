import TestPictures
import Testing

@testable import Raster

@Suite struct JoinStageTests {
  private func join(to collector: RowCollector, planes: Int) throws -> JoinStage {
    let plane = PlaneLayout(width: 3, height: 40, channels: 1, sampleType: .uint8, maximum: 255)
    var output = plane
    output.channels = planes
    return try ColorStages.interleave(
      planes: [PlaneLayout](repeating: plane, count: planes), output: output, next: collector)
  }

  /// Rows of the planes in any order: one is joined as soon as all have it, and never with one of another line.
  @Test func planesThatRunAhead() throws {
    var noise = Noise(60)
    for planes in 1...4 {
      let height = 40
      let collector = RowCollector(rowBytes: [3 * planes])
      let stage = try join(to: collector, planes: planes)
      var given = [Int](repeating: 0, count: planes)
      while let least = given.min(), least < height {
        let plane = Int(noise.next() % UInt64(planes))
        let most = min(height, given[plane] + Int(noise.next() % 9))
        while given[plane] < most {
          let value = UInt8(given[plane] * 4 + plane)
          try stage.write(samples: [value, value &+ 50, value &+ 99], plane: plane)
          given[plane] += 1
        }
        #expect(collector.rows[0].count == given.min())
      }
      try stage.finish()
      #expect(collector.isFinished)
      for (y, row) in collector.rows[0].enumerated() {
        var expected: [UInt8] = []
        for offset: UInt8 in [0, 50, 99] { for plane in 0..<planes { expected.append(UInt8(y * 4 + plane) &+ offset) } }
        #expect(row == expected, "row \(y)")
      }
    }
  }

  @Test func queueGrowsAndKeepsItsOrder() throws {
    var noise = Noise(61)
    let queue = try RowQueue(bytesPerRow: 5, capacity: 1)
    var expected: [[UInt8]] = []
    for i in 0..<3000 {
      if noise.next() % 5 < (i < 1500 ? 3 : 2) {
        let row = noise.samples(5, of: UInt8.self)
        try row.withUnsafeBytes { try queue.append($0.baseAddress!) }
        expected.append(row)
      } else if !expected.isEmpty {
        #expect(Array(UnsafeRawBufferPointer(start: queue.front, count: 5)) == expected.removeFirst())
        queue.removeFront()
      }
      #expect(queue.count == expected.count)
    }
  }
}
