import CPacking

/// The packed coefficient store: a row of blocks of 12 megapixels' luma, as full as those of a photo at quality 92.
struct PackingCases {
  private let count = 504
  /// At 8/8 all coefficients keep their values; at 4/8 all but row and column 4; at 1/8 the first alone, which is apart.
  private let kept: [(name: String, mask: UInt64)] = [("8/8", ~0), ("4/8", 0xEFEF_EF00_EFEF_EFEF), ("1/8", 1)]

  func all() -> [MicroCase] {
    let blocks = blocks()
    let bytes = count * 128
    let count = count
    var cases: [MicroCase] = []
    for variant: Int32 in 0..<2 where packing_has_variant(variant) {
      let name = variant == 0 ? "plain" : "VBMI2"
      for (scale, mask) in kept {
        let packed = Memory.zeros(packing_most_bytes(count), of: UInt8.self)
        let length = packing_pack_ac(variant, packed, blocks, count, mask)
        precondition(length > 0)
        let scratch = Memory.zeros(packing_most_bytes(count), of: UInt8.self)
        let unpacked = Memory.zeros(count * 64, of: Int16.self)
        cases.append(
          MicroCase(group: "store", name: "pack AC, \(scale)", variant: name, bytes: bytes) {
            _ = packing_pack_ac(variant, scratch, blocks, count, mask)
          })
        cases.append(
          MicroCase(group: "store", name: "unpack AC, \(scale)", variant: name, bytes: bytes) {
            packing_unpack_ac(variant, packed, unpacked, count, mask)
          })
      }
    }
    let packed = Memory.zeros(packing_most_bytes(count), of: UInt8.self)
    _ = packing_pack_dc(packed, blocks, count)
    let scratch = Memory.zeros(packing_most_bytes(count), of: UInt8.self)
    let unpacked = Memory.zeros(count * 64, of: Int16.self)
    cases.append(
      MicroCase(group: "store", name: "pack DC", variant: "plain", bytes: bytes) {
        _ = packing_pack_dc(scratch, blocks, count)
      })
    cases.append(
      MicroCase(group: "store", name: "unpack DC", variant: "plain", bytes: bytes) {
        packing_unpack_dc(packed, unpacked, count)
      })
    return cases
  }

  /// Coefficients that are fewer and smaller the higher their frequency; a dozen of them a block.
  private func blocks() -> UnsafeMutablePointer<Int16> {
    let noise = Memory.noise(count * 64 * 2)
    return Memory.filled(count * 64) { i in
      let place = i % 64
      let frequency = place / 8 + place % 8
      if frequency == 0 { return Int16(noise[i]) - 128 }
      let odds = 220 / frequency / frequency + 12
      guard Int(noise[i]) < odds else { return 0 }
      let size = max(1, 24 / (frequency * frequency))
      let value = Int16(Int(noise[2 * i + 1]) % size + 1)
      return noise[2 * i + 1] & 128 == 0 ? value : -value
    }
  }
}
