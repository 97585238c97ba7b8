import CKernels
import KernelVariants

/// Every kernel in every variant that this processor can run, on a row of 12 megapixels that becomes 2048 pixels wide.
struct KernelCases {
  private let pixels = 4032
  private let outputPixels = 2048
  private let batch = Int(CK_BATCH)
  /// Lanczos 3 at that ratio.
  private let taps = 12

  func all() -> [MicroCase] {
    var cases: [MicroCase] = []
    var index: Int32 = 0
    while let table = kernel_variant(index) {
      cases += vertical(table.pointee) + horizontal(table.pointee) + boxes(table.pointee) + interlaced(table.pointee)
      cases += finishing(table.pointee) + alpha(table.pointee) + color(table.pointee) + turning(table.pointee)
      index += 1
    }
    // The variants of a kernel beside one another.
    let order = Dictionary(cases.map(\.name).enumerated().map { ($1, $0) }, uniquingKeysWith: min)
    return cases.enumerated().sorted {
      (order[$0.element.name] ?? 0, $0.offset) < (order[$1.element.name] ?? 0, $1.offset)
    }.map(\.element)
  }

  private func make(_ table: kernel_table, _ name: String, bytes: Int, _ call: @escaping () -> Void) -> MicroCase {
    MicroCase(group: "kernel", name: name, variant: String(cString: table.name), bytes: bytes, call: call)
  }

  private func rows<Sample>(_ first: UnsafeMutablePointer<Sample>, _ count: Int, stride: Int)
    -> UnsafeMutablePointer<UnsafePointer<Sample>?>
  {
    let list = UnsafeMutablePointer<UnsafePointer<Sample>?>.allocate(capacity: count)
    for i in 0..<count { list[i] = UnsafePointer(first + i * stride) }
    return list
  }

  private func axis(from source: Int, to count: Int, taps: Int) -> ck_axis {
    let starts = Memory.filled(count) { Int32($0 * (source - taps) / max(1, count - 1)) & ~1 }
    return ck_axis(starts: starts, taps: Int32(taps), count: Int32(count))
  }

  /// Weights that are alike and sum to 1.
  private func fixedWeights(_ count: Int) -> UnsafeMutablePointer<Int16> {
    Memory.filled(count) { _ in Int16((1 << Int(CK_WEIGHT_BITS)) / taps) }
  }

  private func floatWeights(_ count: Int) -> UnsafeMutablePointer<Float> {
    Memory.filled(count) { _ in 1 / Float(taps) }
  }

  private func floats(_ count: Int) -> UnsafeMutablePointer<Float> {
    let deep = Memory.deepNoise(count)
    return Memory.filled(count) { Float(deep[$0]) / 257 }
  }

  private func sums(_ count: Int) -> UnsafeMutablePointer<Int16> {
    let bytes = Memory.noise(count)
    return Memory.filled(count) { Int16(bytes[$0]) << Int16(CK_ROW_BITS) }
  }

  private func vertical(_ table: kernel_table) -> [MicroCase] {
    let (pixels, taps) = (pixels, Int32(taps))
    let bytes = rows(Memory.noise(pixels * self.taps), self.taps, stride: pixels)
    let words = rows(Memory.deepNoise(pixels * self.taps), self.taps, stride: pixels)
    let (fixed, single) = (fixedWeights(self.taps), floatWeights(self.taps))
    let out = Memory.zeros(pixels, of: Int16.self)
    let floatOut = Memory.zeros(pixels, of: Float.self)
    return [
      make(table, "vertical_u8, 12 rows", bytes: pixels * self.taps) {
        table.vertical_u8(bytes, fixed, taps, out, pixels)
      },
      make(table, "vertical_u16, 12 rows", bytes: 2 * pixels * self.taps) {
        table.vertical_u16(words, single, taps, floatOut, pixels)
      },
    ]
  }

  private func horizontal(_ table: kernel_table) -> [MicroCase] {
    let (pixels, outputPixels, batch) = (pixels, outputPixels, batch)
    let gray = axis(from: pixels, to: outputPixels, taps: taps)
    let fixed = fixedWeights(outputPixels * taps)
    let single = floatWeights(outputPixels * taps)
    let rows = sums(3 * pixels * batch)
    // As large as the resampler's: a piece of the batch that stays in the cache.
    let samplesOfPiece = 1024
    let columns = Memory.zeros(samplesOfPiece * batch, of: Int16.self)
    let floatRows = floats(3 * pixels * batch)
    let floatColumns = Memory.zeros(4 * pixels * batch, of: Float.self)
    let out = Memory.zeros(4 * outputPixels * batch, of: UInt8.self)
    let deep = Memory.zeros(4 * outputPixels * batch, of: UInt16.self)
    let alphaRows = floats(4 * pixels * batch)
    let samples = pixels * batch
    var cases = [
      make(table, "columns_f32", bytes: 4 * samples) { table.columns_f32(floatRows, pixels, pixels, floatColumns) }
    ]
    for channels in [1, 3] {
      let stride = channels * outputPixels
      let capacity = samplesOfPiece / channels & ~1
      cases.append(
        make(table, "columns, horizontal_u8, \(channels) of a pixel", bytes: 2 * channels * samples) {
          table.horizontal_u8(
            rows, channels * pixels, channels * pixels, Int32(channels), gray, fixed, 0, columns, capacity, out, stride)
        })
      cases.append(
        make(table, "columns, horizontal_f32_u8, \(channels) of a pixel", bytes: 4 * channels * samples) {
          table.horizontal_f32_u8(
            floatRows, channels * pixels, Int32(channels), gray, single, 1, 0, floatColumns, capacity, out, stride)
        })
      cases.append(
        make(table, "columns, horizontal_f32_u16, \(channels) of a pixel", bytes: 4 * channels * samples) {
          table.horizontal_f32_u16(
            floatRows, channels * pixels, Int32(channels), gray, single, 257, 0, 65535, floatColumns, capacity, deep,
            stride)
        })
    }
    cases.append(
      make(table, "columns, horizontal_premultiplied, 4 of a pixel", bytes: 16 * samples) {
        table.horizontal_premultiplied(
          alphaRows, 4 * pixels, 4, gray, single, 255, 65025, floatColumns, samplesOfPiece / 4, deep, 4 * outputPixels)
      })
    return cases
  }

  private func boxes(_ table: kernel_table) -> [MicroCase] {
    let samples = pixels * 3
    let pixels = pixels
    let (bytes, words) = (Memory.noise(samples), Memory.deepNoise(samples))
    let means = Memory.zeros(samples, of: Float.self)
    let whole = Memory.zeros(samples, of: UInt32.self)
    let out = Memory.zeros(samples, of: UInt16.self)
    return [
      make(table, "mean_add_u8", bytes: samples) { table.mean_add_u8(bytes, 1e-6, means, samples) },
      make(table, "mean_add_u16", bytes: 2 * samples) { table.mean_add_u16(words, 1e-6, means, samples) },
      make(table, "box_add_u8", bytes: samples) { table.box_add_u8(bytes, whole, samples) },
      make(table, "box_add_u16", bytes: 2 * samples) { table.box_add_u16(words, whole, samples) },
      make(table, "box_mean, by 4", bytes: 4 * samples) { table.box_mean(whole, pixels, 3, 4, 4, 257, out) },
    ]
  }

  private func interlaced(_ table: kernel_table) -> [MicroCase] {
    // The last pass but one: every second pixel.
    let (pixels, outputPixels, batch) = (pixels, outputPixels, batch)
    let pass = ck_pass(first: 1, shift: 1, count: Int32(pixels / 2))
    let axis = axis(from: pixels, to: outputPixels, taps: taps)
    let fixed = fixedWeights(outputPixels * taps)
    let single = floatWeights(outputPixels * taps)
    let half = pixels / 2 * 3
    let (bytes, words) = (Memory.noise(half * batch), Memory.deepNoise(half * batch))
    let columns = Memory.zeros(half * batch, of: Int16.self)
    let floatColumns = Memory.zeros(half * batch, of: Float.self)
    let stride = outputPixels * 3
    let out = Memory.zeros(stride * batch, of: Int16.self)
    let floatOut = Memory.zeros(stride * batch, of: Float.self)
    let rows16 = rows(sums(stride * 6), 6, stride: stride)
    let rows32 = rows(floats(stride * 6), 6, stride: stride)
    let boxSums = Memory.zeros(stride, of: Float.self)
    let size = half * batch
    return [
      make(table, "columns_u8", bytes: size) { table.columns_u8(bytes, half, half, columns) },
      make(table, "columns_u16", bytes: 2 * size) { table.columns_u16(words, half, half, floatColumns) },
      make(table, "pass_i16, 3 of a pixel", bytes: 2 * size) {
        table.pass_i16(columns, 3, axis, pass, fixed, Int32(batch), out, stride)
      },
      make(table, "pass_f32_i16, 3 of a pixel", bytes: 4 * size) {
        table.pass_f32_i16(floatColumns, 3, axis, pass, single, 1e-3, Int32(batch), out, stride)
      },
      make(table, "pass_f32, 3 of a pixel", bytes: 4 * size) {
        table.pass_f32(floatColumns, 3, axis, pass, single, Int32(batch), floatOut, stride)
      },
      make(table, "box_pass_u8, by 4", bytes: half) { table.box_pass_u8(bytes, 3, pass, 4, boxSums) },
      make(table, "box_pass_u16, by 4", bytes: 2 * half) { table.box_pass_u16(words, 3, pass, 4, boxSums) },
      make(table, "add_rows_i16, 6 rows", bytes: 12 * stride) {
        table.add_rows_i16(rows16, single, 6, out, stride)
      },
      make(table, "add_rows_f32, 6 rows", bytes: 24 * stride) {
        table.add_rows_f32(rows32, single, 6, floatOut, stride)
      },
    ]
  }

  private func finishing(_ table: kernel_table) -> [MicroCase] {
    let samples = outputPixels * 3
    let outputPixels = outputPixels
    let (whole, single) = (sums(samples * 2), floats(samples * 2))
    let out = Memory.zeros(samples, of: UInt8.self)
    let deep = Memory.zeros(samples * 2, of: UInt16.self)
    return [
      make(table, "finish_i16_u8", bytes: 2 * samples) {
        table.finish_i16_u8(whole, samples, 1 / 64, 0, 255, out)
      },
      make(table, "finish_i16_u16", bytes: 2 * samples) {
        table.finish_i16_u16(whole, samples, 4, 0, 65535, deep)
      },
      make(table, "finish_f32_u16", bytes: 4 * samples) {
        table.finish_f32_u16(single, samples, 257, 0, 65535, deep)
      },
      make(table, "finish_premultiplied_i16", bytes: 8 * outputPixels) {
        table.finish_premultiplied_i16(whole, 4, outputPixels, 4, 65025, deep)
      },
      make(table, "finish_premultiplied_f32", bytes: 16 * outputPixels) {
        table.finish_premultiplied_f32(single, 4, outputPixels, 255, 65025, deep)
      },
    ]
  }

  private func alpha(_ table: kernel_table) -> [MicroCase] {
    let pixels = outputPixels
    let (bytes, words) = (Memory.noise(4 * pixels), Memory.deepNoise(4 * pixels))
    let premultiplied = Memory.zeros(4 * pixels, of: UInt16.self)
    table.premultiply_u8(bytes, 4, pixels, premultiplied)
    let full = Memory.zeros(4 * pixels, of: UInt16.self)
    table.premultiply_u16(words, 4, pixels, full)
    let out = Memory.zeros(4 * pixels, of: UInt8.self)
    let deep = Memory.zeros(4 * pixels, of: UInt16.self)
    let white: UnsafeMutablePointer<UInt8> = Memory.filled(3) { _ in 255 }
    let deepWhite: UnsafeMutablePointer<UInt16> = Memory.filled(3) { _ in 65535 }
    return [
      make(table, "premultiply_u8", bytes: 4 * pixels) { table.premultiply_u8(bytes, 4, pixels, deep) },
      make(table, "premultiply_u16", bytes: 8 * pixels) { table.premultiply_u16(words, 4, pixels, deep) },
      make(table, "unpremultiply_u8", bytes: 8 * pixels) {
        table.unpremultiply_u8(premultiplied, 4, pixels, 65025, out)
      },
      make(table, "unpremultiply_u16", bytes: 8 * pixels) {
        table.unpremultiply_u16(full, 4, pixels, 65535, deep)
      },
      make(table, "flatten_u8", bytes: 8 * pixels) {
        table.flatten_u8(premultiplied, 4, pixels, 65025, white, out)
      },
      make(table, "flatten_u16", bytes: 8 * pixels) {
        table.flatten_u16(full, 4, pixels, 65535, deepWhite, deep)
      },
    ]
  }

  private func color(_ table: kernel_table) -> [MicroCase] {
    let pixels = outputPixels
    let (bytes, words) = (Memory.noise(4 * pixels), Memory.deepNoise(4 * pixels))
    let byteRows = rows(bytes, 3, stride: pixels)
    let wordRows = rows(words, 3, stride: pixels)
    let out = Memory.zeros(4 * pixels, of: UInt8.self)
    let deep = Memory.zeros(4 * pixels, of: UInt16.self)
    let matrix: UnsafeMutablePointer<ck_matrix> = Memory.filled(1) { _ in
      ck_matrix(
        matrix: (1, 0, 1.402, 1, -0.344, -0.714, 1, 1.772, 0), offset: (0, 128, 128), maximum: 255, alpha_scale: 0)
    }
    let deepMatrix: UnsafeMutablePointer<ck_matrix> = Memory.filled(1) { _ in
      ck_matrix(
        matrix: (1, 0, 1.402, 1, -0.344, -0.714, 1, 1.772, 0), offset: (0, 32768, 32768), maximum: 65535,
        alpha_scale: 0)
    }
    let toWords = curves(entries: 256) { UInt16($0 * 257) }
    let toBytes = curves(entries: 65536) { UInt8($0 >> 8) }
    let ofWords = curves(entries: 65536) { UInt16($0) }
    let tone = tone()
    return [
      make(table, "matrix_u8", bytes: 3 * pixels) { table.matrix_u8(byteRows, nil, pixels, matrix, out) },
      make(table, "matrix_u16", bytes: 6 * pixels) { table.matrix_u16(wordRows, nil, pixels, deepMatrix, deep) },
      make(table, "interleave_u8", bytes: 3 * pixels) { table.interleave_u8(byteRows, 3, pixels, out) },
      make(table, "interleave_u16", bytes: 6 * pixels) { table.interleave_u16(wordRows, 3, pixels, deep) },
      make(table, "cmyk_u8", bytes: 4 * pixels) { table.cmyk_u8(bytes, pixels, 1, out) },
      make(table, "curves_u8_u16", bytes: 3 * pixels) { table.curves_u8_u16(bytes, 3, pixels, toWords, deep) },
      make(table, "curves_u16_u8", bytes: 6 * pixels) { table.curves_u16_u8(words, 3, pixels, toBytes, out) },
      make(table, "curves_u16_u16", bytes: 6 * pixels) { table.curves_u16_u16(words, 3, pixels, ofWords, deep) },
      make(table, "tone_u8", bytes: 6 * pixels) { table.tone_u8(words, 3, pixels, tone, out) },
      make(table, "tone_u16", bytes: 6 * pixels) { table.tone_u16(words, 3, pixels, tone, deep) },
      make(table, "widen", bytes: 3 * pixels) { table.widen(bytes, 3 * pixels, deep) },
      make(table, "narrow", bytes: 6 * pixels) { table.narrow(words, 3 * pixels, out) },
    ]
  }

  private func curves<Sample: BitwiseCopyable>(
    entries: Int, _ value: (Int) -> Sample
  ) -> UnsafeMutablePointer<UnsafePointer<Sample>?> {
    let table = Memory.filled(entries, value)
    let list = UnsafeMutablePointer<UnsafePointer<Sample>?>.allocate(capacity: 4)
    list.initialize(repeating: UnsafePointer(table), count: 4)
    return list
  }

  /// Straight tables: the work does not depend on what they hold.
  private func tone() -> UnsafeMutablePointer<ck_tone> {
    func straight(_ steps: Int32) -> UnsafePointer<Float> {
      UnsafePointer(Memory.filled(Int(steps) + 1) { Float($0) / Float(steps) })
    }
    let (light, system) = (straight(Int32(CK_LIGHT_STEPS)), straight(Int32(CK_TONE_STEPS)))
    let (gain, code) = (straight(Int32(CK_TONE_STEPS)), straight(Int32(CK_TONE_STEPS)))
    let result = UnsafeMutablePointer<ck_tone>.allocate(capacity: 1)
    result.initialize(
      to: ck_tone(
        light: light, system: system, luma: (0.26, 0.68, 0.06), gain: gain,
        matrix: (1.66, -0.59, -0.07, -0.12, 1.13, -0.01, -0.02, -0.1, 1.12), weights: (0.21, 0.72, 0.07), code: code,
        maximum: 255))
    return result
  }

  private func turning(_ table: kernel_table) -> [MicroCase] {
    let (pixels, rows) = (outputPixels, 64)
    var cases: [MicroCase] = []
    for bytes in [1, 3] {
      let picture = Memory.noise(pixels * rows * bytes)
      let out = Memory.zeros(pixels * rows * bytes, of: UInt8.self)
      cases.append(
        make(table, "turn, 64 rows to columns, \(bytes) a pixel", bytes: pixels * rows * bytes) {
          table.turn(picture, pixels * bytes, rows, pixels, bytes, out, rows * bytes, bytes)
        })
    }
    return cases
  }
}
