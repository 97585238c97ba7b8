import Foundation
import Testing

@testable import Raster

@Suite struct LightCurveTests {
  private func bytes(_ values: [Int], of count: Int) -> [UInt8] {
    values.flatMap { value in (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) } }
  }

  private func parametric(_ kind: Int, _ values: [Double]) -> [UInt8] {
    Array("para".utf8) + bytes([0], of: 4) + bytes([kind, 0], of: 2)
      + bytes(values.map { Int(($0 * 65536).rounded()) }, of: 4)
  }

  private func table(_ values: [Int]) -> [UInt8] {
    Array("curv".utf8) + bytes([0, values.count], of: 4) + bytes(values, of: 2)
  }

  @Test func transferFunctions() throws {
    #expect(abs(LightCurve.srgb.light(of: 0.5) - 0.21404) < 1e-5)
    #expect(abs(LightCurve.srgb.light(of: 0.02) - 0.02 / 12.92) < 1e-9)
    #expect(abs(try #require(LightCurve(transfer: 4)).light(of: 0.5) - pow(0.5, 2.2)) < 1e-9)
    #expect(try #require(LightCurve(transfer: 8)).light(of: 0.3) == 0.3)
    for number in [0, 2, 3, 16, 18, 255] { #expect(LightCurve(transfer: number) == nil) }
    for number in [1, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 17] {
      let curve = try #require(LightCurve(transfer: number))
      #expect(curve.light(of: 0) == 0 && abs(curve.light(of: 1) - 1) < 1e-9, "\(number)")
      // The parts of a curve meet.
      for i in 0..<1000 {
        #expect(abs(curve.light(of: Double(i) / 1000) - curve.light(of: Double(i + 1) / 1000)) < 0.004)
      }
    }
  }

  @Test func tagsOfProfiles() throws {
    func light(_ tag: [UInt8], _ coded: Double) throws -> Double {
      try #require(LightCurve(tag: tag[...])).light(of: coded)
    }
    #expect(abs(try light(table([]), 0.4) - 0.4) < 1e-9)
    #expect(abs(try light(table([563]), 0.5) - pow(0.5, 563.0 / 256)) < 1e-9)
    #expect(abs(try light(table([0, 16384, 65535]), 0.25) - 8192.0 / 65535) < 1e-9)
    #expect(abs(try light(parametric(0, [1.8]), 0.5) - pow(0.5, 1.8)) < 1e-4)
    let srgb = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
    #expect(abs(try light(parametric(3, srgb), 0.5) - 0.21404) < 1e-4)
    #expect(abs(try light(parametric(4, srgb + [0, 0]), 0.03) - 0.03 / 12.92) < 1e-4)
    #expect(abs(try light(parametric(2, [2, 0.9, 0.1, 0]), 0.5) - 0.3025) < 1e-4)
    #expect(abs(try light(parametric(1, [2, 0.9, 0.1]), 0.5) - 0.3025) < 1e-4)
    // Cut short, of unknown kinds, or no curves.
    let whole = parametric(3, srgb)
    for count in 0..<whole.count { #expect(LightCurve(tag: whole.prefix(count)) == nil) }
    let pairs = table([0, 65535])
    for count in 0..<pairs.count { #expect(LightCurve(tag: pairs.prefix(count)) == nil) }
    #expect(LightCurve(tag: parametric(5, [1, 1, 1, 1, 1, 1, 1])[...]) == nil)
    #expect(LightCurve(tag: table([65535, 0])[...]) == nil)
    #expect(LightCurve(tag: table([0])[...]) == nil)
  }

  /// Every value of 8 bits comes back; of 16 bits all but the darkest, where light of 16 bits is coarser.
  @Test func thereAndBack() {
    for curve in [.srgb, .gamma(1), .gamma(1.8), .gamma(2.2), .gamma(2.8)] as [LightCurve] {
      let (there, back) = (curve.table(maximum: 255), curve.inverseTable(maximum: 255, of: UInt8.self))
      for value in 0...255 { #expect(back[Int(there[value])] == value, "\(value)") }
    }
    let (there, back) = (
      LightCurve.srgb.table(maximum: 65535), LightCurve.srgb.inverseTable(maximum: 65535, of: UInt16.self)
    )
    let worst = (0...65535).map { abs(Int(back[Int(there[$0])]) - $0) }.max()!
    #expect(worst <= 7)
  }
}
