import Foundation

@testable import Raster

/// A plane of samples, row by row, channels interleaved.
struct Samples {
  let width: Int
  let height: Int
  let channels: Int
  var values: [Double]

  init(width: Int, height: Int, channels: Int, value: (_ x: Int, _ y: Int, _ channel: Int) -> Double) {
    self.width = width
    self.height = height
    self.channels = channels
    values = []
    values.reserveCapacity(width * height * channels)
    for y in 0..<height { for x in 0..<width { for c in 0..<channels { values.append(value(x, y, c)) } } }
  }

  subscript(x: Int, y: Int, c: Int) -> Double { values[(y * width + x) * channels + c] }

  func cut(to window: PixelRect) -> Samples {
    Samples(width: window.width, height: window.height, channels: channels) { self[window.x + $0, window.y + $1, $2] }
  }

  var transposed: Samples { Samples(width: height, height: width, channels: channels) { self[$1, $0, $2] } }
}

/// The resampling's definition, in double precision and without thought for speed: boxes, then the filter over each axis.
enum Reference {
  static func resample(_ source: Samples, x: ResamplingAxis, y: ResamplingAxis, boxed: Bool = true) -> Samples {
    let columns = resampleRows(source, axis: x, boxed: boxed)
    return resampleRows(columns.transposed, axis: y, boxed: boxed).transposed
  }

  private static func resampleRows(_ source: Samples, axis: ResamplingAxis, boxed: Bool) -> Samples {
    let box = boxed && axis.kernel != .box && axis.step >= 8 ? min(256, Int(axis.step / 4)) : 1
    let count = (source.width + box - 1) / box
    let step = axis.step / Double(box)
    let origin = axis.origin / Double(box)
    let scale = max(1, step)
    let channels = source.channels
    let weights = (0..<axis.count).map { i -> (first: Int, values: [Double]) in
      let center = min(max(origin + (Double(i) + 0.5) * step, 0), Double(count))
      if axis.kernel == .box {
        // What it covers of each sample.
        let start = origin + Double(i) * step
        let parts = (0..<count).map { max(0, min(start + step, Double($0) + 1) - max(start, Double($0))) }
        guard let first = parts.firstIndex(where: { $0 > 0 }) else { return (center > 0 ? count - 1 : 0, [1]) }
        let last = parts.lastIndex { $0 > 0 }!
        let sum = parts.reduce(0, +)
        return (first, parts[first...last].map { $0 / sum })
      }
      let radius = radius(axis.kernel)
      let near = max(0, Int(center - radius * scale) - 1)..<min(count, Int(center + radius * scale) + 2)
      if axis.step == 1, let exact = near.first(where: { abs(Double($0) + 0.5 - center) < 1e-7 }) {
        return (exact, [1])
      }
      let inside = near.filter { abs(Double($0) + 0.5 - center) < radius * scale }
      // Narrow ones may reach no sample at the ends.
      let used = inside.isEmpty ? [center > 0 ? count - 1 : 0] : inside
      // The last box may hold fewer samples: it is narrower.
      let values = used.map { k in
        let width = Double(min(box, source.width - k * box)) / Double(box)
        return inside.isEmpty ? 1 : filter(axis.kernel, (Double(k) + width / 2 - center) / scale) * width
      }
      let sum = values.reduce(0, +)
      return (used[0], values.map { $0 / sum })
    }
    var result = Samples(width: axis.count, height: source.height, channels: channels) { _, _, _ in 0 }
    source.values.withUnsafeBufferPointer { values in
      result.values.withUnsafeMutableBufferPointer { out in
        var means = [Double](repeating: 0, count: count)
        for y in 0..<source.height {
          for c in 0..<channels {
            let row = y * source.width * channels + c
            for i in 0..<count {
              let pixels = min(box, source.width - i * box)
              var sum = 0.0
              for k in 0..<pixels { sum += values[row + (i * box + k) * channels] }
              means[i] = sum / Double(pixels)
            }
            for i in 0..<axis.count {
              let run = weights[i]
              var sum = 0.0
              run.values.withUnsafeBufferPointer { weights in
                means.withUnsafeBufferPointer { means in
                  for k in 0..<weights.count { sum += means[run.first + k] * weights[k] }
                }
              }
              out[(y * axis.count + i) * channels + c] = sum
            }
          }
        }
      }
    }
    return result
  }

  private static func radius(_ kernel: ResamplingKernel) -> Double {
    switch kernel {
    case .box: 0.5
    case .triangle: 1
    case .catrom, .mitchell, .lanczos2: 2
    case .lanczos3: 3
    }
  }

  private static func filter(_ kernel: ResamplingKernel, _ x: Double) -> Double {
    func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
    let t = abs(x)
    switch kernel {
    case .box: return 0
    case .triangle: return 1 - t
    case .catrom:
      return t < 1 ? 1.5 * t * t * t - 2.5 * t * t + 1 : -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2
    case .mitchell:
      return t < 1
        ? 7.0 / 6 * t * t * t - 2 * t * t + 8.0 / 9 : -7.0 / 18 * t * t * t + 2 * t * t - 10.0 / 3 * t + 16.0 / 9
    case .lanczos2: return sinc(x) * sinc(x / 2)
    case .lanczos3: return sinc(x) * sinc(x / 3)
    }
  }
}

/// What PlaneResampler makes of samples.
func resampled(
  _ source: Samples, maximum: Int, type: SampleType, window: PixelRect? = nil, x: ResamplingAxis, y: ResamplingAxis,
  to outputMaximum: Int, as outputType: SampleType, mapping: PlaneResampler.Mapping? = nil,
  isPremultiplied: Bool = false
) throws -> Samples {
  var rows: [[Double]] = []
  let output = PlaneLayout(
    width: x.count, height: y.count, channels: source.channels, sampleType: outputType, maximum: outputMaximum)
  let resampler = try PlaneResampler(
    input: PlaneLayout(
      width: source.width, height: source.height, channels: source.channels, sampleType: type, maximum: maximum),
    window: window ?? PixelRect(x: 0, y: 0, width: source.width, height: source.height), x: x, y: y, output: output,
    mapping: mapping, isPremultiplied: isPremultiplied
  ) { row throws(DownsampleError) in
    rows.append(
      (0..<output.samplesPerRow).map { i -> Double in
        outputType == .uint8
          ? Double(row.load(fromByteOffset: i, as: UInt8.self))
          : Double(row.load(fromByteOffset: 2 * i, as: UInt16.self))
      })
  }
  let count = source.width * source.channels
  let memory = UnsafeMutableRawPointer.allocate(byteCount: count * type.byteCount, alignment: 2)
  defer { memory.deallocate() }
  for y in 0..<source.height {
    for i in 0..<count {
      let value = source.values[y * count + i]
      if type == .uint8 {
        memory.storeBytes(of: UInt8(value), toByteOffset: i, as: UInt8.self)
      } else {
        memory.storeBytes(of: UInt16(value), toByteOffset: i * 2, as: UInt16.self)
      }
    }
    try resampler.push(memory)
  }
  guard rows.count == y.count else {
    throw DownsampleError(.internalFault, "\(rows.count) rows of \(y.count)")
  }
  return Samples(width: x.count, height: y.count, channels: source.channels) { x, y, c in
    rows[y][x * source.channels + c]
  }
}

extension ResamplingAxis {
  /// All of `source` samples becoming `count`.
  static func whole(_ source: Int, to count: Int, kernel: ResamplingKernel = .lanczos3) -> ResamplingAxis {
    ResamplingAxis(sourceCount: source, origin: 0, step: Double(source) / Double(count), count: count, kernel: kernel)
  }
}
