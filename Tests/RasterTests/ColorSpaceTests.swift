import CPictures
import TestPictures
import Testing

@testable import Raster

@Suite struct ColorSpaceTests {
  static let adobe = RGBSpace(
    primaries: Primaries(red: .init(0.64, 0.33), green: .init(0.21, 0.71), blue: .init(0.15, 0.06)),
    curve: .gamma(2.19921875))
  static let proPhoto = RGBSpace(
    primaries: Primaries(
      white: .init(0.3457, 0.3585), red: .init(0.7347, 0.2653), green: .init(0.1596, 0.8404),
      blue: .init(0.0366, 0.0001)),
    curve: .gamma(1.8))
  static let bt2020 = RGBSpace(primaries: .bt2020, curve: .srgb)
  static let linear = RGBSpace(primaries: .bt709, curve: .gamma(1))

  @Test func differenceOfKnownPairs() {
    // Sharma, Wu and Dalal, "The CIEDE2000 color-difference formula", table 1: pairs 1, 7, 14, 17, 25 and 34.
    let pairs: [([Double], [Double], Double)] = [
      ([50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425), ([50, 0, 0], [50, -1, 2], 2.3669),
      ([50, 2.5, 0], [50, 0, -2.5], 4.3065), ([50, 2.5, 0], [73, 25, -18], 27.1492),
      ([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644),
      ([2.0776, 0.0795, -1.1350], [0.9033, -0.0636, -0.5514], 0.9082),
    ]
    for (one, other, expected) in pairs {
      let difference = Lab(l: one[0], a: one[1], b: one[2]).difference(
        from: Lab(l: other[0], a: other[1], b: other[2]))
      #expect(abs(difference - expected) < 0.0001, "\(one) and \(other): \(difference)")
    }
  }

  @Test func curves() {
    for curve in [ToneCurve.srgb, .gamma(1), .gamma(2.2), ToneCurve(g: 2.6, a: 1.034089)] {
      for step in 0...100 {
        let code = Double(step) / 100
        // Of ST 428-1's curve white is below the highest code.
        if curve.a * code + curve.b <= 1 { #expect(abs(curve.code(of: curve.light(of: code)) - code) < 1e-9) }
      }
    }
    #expect(abs(ToneCurve.srgb.light(of: 0.5) - 0.21404114) < 1e-7)
  }

  @Test func matrixOfSRGB() throws {
    // IEC 61966-2-1's own numbers.
    let expected = [0.4124, 0.3576, 0.1805, 0.2126, 0.7152, 0.0722, 0.0193, 0.1192, 0.9505]
    let matrix = try #require(Primaries.bt709.toXYZ)
    for (one, other) in zip(matrix.values, expected) { #expect(abs(one - other) < 0.0001) }
    let flat = Primaries(red: .init(0.3, 0.3), green: .init(0.3, 0.3), blue: .init(0.3, 0.3))
    #expect(flat.toXYZ == nil && RGBSpace(primaries: flat, curve: .srgb).iccProfile(named: "") == nil)
    #expect(Primaries(red: .init(0.6, 0), green: .init(0.3, 0), blue: .init(0.1, 0)).toXYZ == nil)
  }

  @Test func profilesAreWholeAndTheSame() throws {
    for space in [RGBSpace.srgb, .displayP3, Self.adobe, Self.proPhoto, Self.bt2020, Self.linear] {
      let profile = try #require(space.iccProfile(named: "A name"))
      #expect(profile == space.iccProfile(named: "A name"))
      #expect(profile.count < 700 && profile.count % 4 == 0)
      #expect(ICCProfile.fault(of: profile, for: .rgb) == nil)
      #expect(ICCProfile.fault(of: profile, for: .gray)?.contains("RGB data, the picture is GRAY") == true)
      #expect(ICCProfile.describes(space, profile))
      for other in [RGBSpace.srgb, .displayP3, Self.adobe, Self.linear] where other != space {
        #expect(!ICCProfile.describes(other, profile))
      }
    }
    let gray = ToneCurve.gamma(2.2).grayProfile(named: "Gray")
    #expect(ICCProfile.fault(of: gray, for: .gray) == nil && ICCProfile.fault(of: gray, for: .rgb) != nil)
    #expect(ICCProfile.describes(.gamma(2.2), gray: gray) && !ICCProfile.describes(.srgb, gray: gray))
  }

  @Test func profilesOfOthersAreRecognised() {
    #expect(ICCProfile.describes(.srgb, iccProfile(CPIC_ICC_SRGB)))
    #expect(ICCProfile.describes(.srgb, iccProfile(CPIC_ICC_SRGB, atLeast: 100_000)))
    #expect(ICCProfile.describes(.displayP3, iccProfile(CPIC_ICC_DISPLAY_P3)))
    #expect(!ICCProfile.describes(.srgb, iccProfile(CPIC_ICC_ADOBE_LIKE)))
    #expect(!ICCProfile.describes(.srgb, iccProfile(CPIC_ICC_GRAY)))
    #expect(ICCProfile.fault(of: iccProfile(CPIC_ICC_GRAY), for: .gray) == nil)
  }

  @Test func faultsOfProfiles() {
    let profile = iccProfile(CPIC_ICC_SRGB)
    // Every part of it, and every byte of the header and table gone bad: nothing is read beyond the end.
    for count in 0..<profile.count { #expect(ICCProfile.fault(of: Array(profile[..<count]), for: .rgb) != nil) }
    for index in 0..<min(profile.count, 300) {
      for value: UInt8 in [0, 0x7f, 0xff] {
        var broken = profile
        broken[index] = value
        _ = ICCProfile.fault(of: broken, for: .rgb)
        _ = ICCProfile.describes(.srgb, broken)
        _ = ICCProfile.hasDegeneratePrimaries(broken)
        _ = ICCProfile.codedNumbers(broken)
      }
    }
    func changed(_ offset: Int, _ text: String) -> [UInt8] {
      var result = profile
      result.replaceSubrange(offset..<offset + text.utf8.count, with: Array(text.utf8))
      return result
    }
    #expect(ICCProfile.fault(of: changed(12, "link"), for: .rgb)?.contains("'link'") == true)
    #expect(ICCProfile.fault(of: changed(36, "ACSP"), for: .rgb) == "it is damaged")
    #expect(ICCProfile.fault(of: changed(16, "GRAY"), for: .rgb)?.contains("GRAY") == true)
    // Without what colour needs.
    for entry in 0..<Int(profile[131]) where profile[132 + 12 * entry..<136 + 12 * entry].elementsEqual("rTRC".utf8) {
      #expect(ICCProfile.fault(of: changed(132 + 12 * entry, "none"), for: .rgb) == "it is damaged")
    }
    let longer = profile + [1, 2, 3]
    #expect(ICCProfile.fault(of: longer, for: .rgb) == nil && ICCProfile.trimmed(longer) == profile)
    #expect(ICCProfile.trimmed(profile) == profile)
  }

  // MARK: Conversions, against a computation in double precision that shares nothing with ours

  /// Solves m x = v, three rows and columns, by Cramer's rule.
  private func solve(_ m: [[Double]], _ v: [Double]) -> [Double] {
    func determinant(_ m: [[Double]]) -> Double {
      m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    }
    return (0..<3).map { column in
      var replaced = m
      for row in 0..<3 { replaced[row][column] = v[row] }
      return determinant(replaced) / determinant(m)
    }
  }

  private func apply(_ m: [[Double]], _ v: [Double]) -> [Double] {
    m.map { $0[0] * v[0] + $0[1] * v[1] + $0[2] * v[2] }
  }

  private static let bradford = [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]]

  /// A matrix to XYZ, its columns the primaries as bright as make white.
  private func toXYZ(_ space: RGBSpace) -> (matrix: [[Double]], white: [Double]) {
    func xyz(_ c: Chromaticity) -> [Double] { [c.x / c.y, 1, (1 - c.x - c.y) / c.y] }
    let p = space.primaries
    let columns = [xyz(p.red), xyz(p.green), xyz(p.blue)]
    let rows = (0..<3).map { row in columns.map { $0[row] } }
    let scales = solve(rows, xyz(p.white))
    return (rows.map { row in (0..<3).map { row[$0] * scales[$0] } }, xyz(p.white))
  }

  private func converted(_ color: [Double], _ from: RGBSpace, _ to: RGBSpace) -> [Double] {
    let (source, sourceWhite) = toXYZ(from)
    let (target, targetWhite) = toXYZ(to)
    let xyz = apply(source, color.map { from.curve.light(of: $0) })
    let (cones, w1, w2) = (
      apply(Self.bradford, xyz), apply(Self.bradford, sourceWhite), apply(Self.bradford, targetWhite)
    )
    let adapted = solve(Self.bradford, (0..<3).map { cones[$0] * w2[$0] / w1[$0] })
    return solve(target, adapted).map { to.curve.code(of: min(max($0, 0), 1)) }
  }

  private func run<In: FixedWidthInteger, Out: FixedWidthInteger>(
    _ conversion: ColorConversion, _ samples: [In], pixels: Int, count: Int, as type: Out.Type
  ) -> [Out] {
    var out = [Out](repeating: 0, count: count)
    samples.withUnsafeBytes { from in
      out.withUnsafeMutableBytes { to in conversion.apply(from.baseAddress!, pixels: pixels, to: to.baseAddress!) }
    }
    return out
  }

  private struct Differences {
    var sum = 0.0
    var largest = 0.0
    var count = 0.0
    var mean: Double { sum / count }

    mutating func add(_ one: [Double], _ other: [Double]) {
      func lab(_ code: [Double]) -> Lab { Lab(linearSRGB: code.map { ToneCurve.srgb.light(of: $0) }) }
      let difference = lab(one).difference(from: lab(other))
      sum += difference
      largest = max(largest, difference)
      count += 1
    }
  }

  @Test(arguments: [RGBSpace.displayP3, ColorSpaceTests.adobe, ColorSpaceTests.proPhoto, ColorSpaceTests.bt2020])
  func toSRGB(_ space: RGBSpace) throws {
    let profile = try #require(space.iccProfile(named: ""))
    let srgb = try #require(RGBSpace.srgb.iccProfile(named: ""))
    var noise = Noise(80)
    let pixels = 4000
    let bytes: [UInt8] = (0..<pixels * 4).map { _ in UInt8.random(in: 0...255, using: &noise) }
    let words: [UInt16] = (0..<pixels * 4).map { _ in UInt16.random(in: 0...65535, using: &noise) }
    let shallow = try #require(
      ColorConversion(.rgb, hasAlpha: true, from: profile, .uint8, to: srgb, .uint8, intent: .relative))
    let deep = try #require(
      ColorConversion(.rgb, hasAlpha: true, from: profile, .uint16, to: srgb, .uint16, intent: .relative))
    let narrowing = try #require(
      ColorConversion(.rgb, hasAlpha: true, from: profile, .uint16, to: srgb, .uint8, intent: .relative))
    let result8 = run(shallow, bytes, pixels: pixels, count: pixels * 4, as: UInt8.self)
    let result16 = run(deep, words, pixels: pixels, count: pixels * 4, as: UInt16.self)
    let result168 = run(narrowing, words, pixels: pixels, count: pixels * 4, as: UInt8.self)
    var (of8, of168) = (Differences(), Differences())
    var largest16 = 0.0
    for i in 0..<pixels {
      func color<T: FixedWidthInteger>(_ samples: [T], _ maximum: Double) -> [Double] {
        (0..<3).map { Double(samples[4 * i + $0]) / maximum }
      }
      of8.add(color(result8, 255), converted(color(bytes, 255), space, .srgb))
      let exact = converted(color(words, 65535), space, .srgb)
      for (one, other) in zip(color(result16, 65535), exact) { largest16 = max(largest16, abs(one - other) * 65535) }
      of168.add(color(result168, 255), exact)
      #expect(result8[4 * i + 3] == bytes[4 * i + 3] && result16[4 * i + 3] == words[4 * i + 3])
      #expect(abs(Double(result168[4 * i + 3]) - Double(words[4 * i + 3]) / 257) <= 0.5001)
    }
    #expect(Double(pixels) == of8.count && of8.mean <= 0.5 && of8.largest <= 3, "8 bits: \(of8)")
    #expect(of168.mean <= 0.5 && of168.largest <= 3, "16 to 8 bits: \(of168)")
    // The profiles' own numbers have 16 bits of fraction, and sRGB's curve multiplies by 13 near black.
    #expect(largest16 <= 64, "16 bits are off by \(largest16)")
  }

  private static let matrixProfiles =
    [RGBSpace.displayP3, adobe, proPhoto, bt2020, linear].compactMap {
      $0.iccProfile(named: "")
    } + [CPIC_ICC_SRGB, CPIC_ICC_ADOBE_LIKE].map { iccProfile($0) }

  /// Ours against Little CMS over a lattice of all colours: from 8 to 8 bits, and against what it gives in 16 bits, rounded here.
  @Test(arguments: matrixProfiles.indices, [RGBSpace.srgb, .displayP3])
  func matricesAgreeWithLittleCMS(_ index: Int, _ target: RGBSpace) throws {
    let profile = Self.matrixProfiles[index]
    if ICCProfile.describes(target, profile) { return }
    let other = try #require(target.iccProfile(named: ""))
    let steps = Array(stride(from: UInt8(0), to: 255, by: 8)) + [255]
    var lattice: [UInt8] = []
    for red in steps { for green in steps { for blue in steps { lattice += [red, green, blue] } } }
    func result<T: FixedWidthInteger>(_ type: SampleType, _ intent: RenderingIntent, prefersLibrary: Bool) throws -> [T]
    {
      let conversion = try #require(
        ColorConversion(
          .rgb, hasAlpha: false, from: profile, .uint8, to: other, type, intent: intent,
          prefersLibrary: prefersLibrary))
      return run(conversion, lattice, pixels: lattice.count / 3, count: lattice.count, as: T.self)
    }
    #expect(ColorConversion.needsLibrary(.rgb, from: profile, to: other, intent: .absolute))
    for intent in [RenderingIntent.relative, .perceptual, .saturation] {
      #expect(!ColorConversion.needsLibrary(.rgb, from: profile, to: other, intent: intent))
      let ours: [UInt8] = try result(.uint8, intent, prefersLibrary: false)
      let shallow: [UInt8] = try result(.uint8, intent, prefersLibrary: true)
      let deep: [UInt16] = try result(.uint16, intent, prefersLibrary: true)
      var (largest, sum, deepLargest, deepSum) = (0, 0, 0, 0)
      for i in ours.indices {
        let difference = abs(Int(ours[i]) - Int(shallow[i]))
        let deepDifference = abs(Int(ours[i]) - (Int(deep[i]) + 128) / 257)
        (largest, sum) = (max(largest, difference), sum + difference)
        (deepLargest, deepSum) = (max(deepLargest, deepDifference), deepSum + deepDifference)
      }
      let few = Double(lattice.count) * 0.02
      #expect(largest <= 1 && Double(sum) < few, "\(intent): \(largest), \(sum) of \(lattice.count)")
      #expect(deepLargest <= 1 && Double(deepSum) < few, "\(intent): \(deepLargest), \(deepSum) of \(lattice.count)")
    }
  }

  @Test func grayStaysOneChannel() throws {
    let srgb = ToneCurve.srgb.grayProfile(named: "")
    for curve in [ToneCurve.gamma(2.2), .gamma(1.8), .gamma(1)] {
      let profile = curve.grayProfile(named: "")
      func exact(_ code: Double) -> Double { ToneCurve.srgb.code(of: curve.light(of: code)) }
      let bytes = (0...255).flatMap { [UInt8($0), UInt8(255 - $0)] }
      let shallow = try #require(
        ColorConversion(.gray, hasAlpha: true, from: profile, .uint8, to: srgb, .uint8, intent: .relative))
      let result = run(shallow, bytes, pixels: 256, count: 512, as: UInt8.self)
      for i in 0...255 {
        #expect(abs(Double(result[2 * i]) - exact(Double(i) / 255) * 255) <= 0.6)
        #expect(Int(result[2 * i + 1]) == 255 - i)
      }
      let words = (0..<65536).map { UInt16($0) }
      let deep = try #require(
        ColorConversion(.gray, hasAlpha: false, from: profile, .uint16, to: srgb, .uint16, intent: .relative))
      let results = run(deep, words, pixels: 65536, count: 65536, as: UInt16.self)
      var largest = 0.0
      for i in stride(from: 0, to: 65536, by: 7) {
        largest = max(largest, abs(Double(results[i]) - exact(Double(i) / 65535) * 65535))
      }
      #expect(largest <= 24, "gamma \(curve.g): \(largest)")
    }
  }

  @Test func profilesOfOtherDataAreRefused() throws {
    let srgb = try #require(RGBSpace.srgb.iccProfile(named: ""))
    let gray = ToneCurve.srgb.grayProfile(named: "")
    func make(_ pixels: ColorConversion.Pixels, _ from: [UInt8], _ to: [UInt8]) -> ColorConversion? {
      ColorConversion(pixels, hasAlpha: false, from: from, .uint8, to: to, .uint8, intent: .relative)
    }
    #expect(make(.gray, srgb, srgb) == nil && make(.rgb, gray, srgb) == nil && make(.rgb, srgb, gray) == nil)
    #expect(make(.cmyk(isInverted: true), srgb, srgb) == nil && make(.rgb, [1, 2, 3], srgb) == nil)
    #expect(make(.rgb, srgb, []) == nil)
  }
}
