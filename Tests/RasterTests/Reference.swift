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

/// The resampling's definition, in double precision and without thought for speed: boxes, then Lanczos 3 over each axis.
enum Reference {
  static func resample(_ source: Samples, x: ResamplingAxis, y: ResamplingAxis, boxed: Bool = true) -> Samples {
    let columns = resampleRows(source, axis: x, boxed: boxed)
    return resampleRows(columns.transposed, axis: y, boxed: boxed).transposed
  }

  private static func resampleRows(_ source: Samples, axis: ResamplingAxis, boxed: Bool) -> Samples {
    let box = boxed && axis.step >= 8 ? min(256, Int(axis.step / 4)) : 1
    let count = (source.width + box - 1) / box
    let step = axis.step / Double(box)
    let origin = axis.origin / Double(box)
    let scale = max(1, step)
    let channels = source.channels
    let weights = (0..<axis.count).map { i -> (first: Int, values: [Double]) in
      let center = min(max(origin + (Double(i) + 0.5) * step, 0), Double(count))
      let near = max(0, Int(center - 3 * scale) - 1)..<min(count, Int(center + 3 * scale) + 2)
      let used = near.filter { abs(Double($0) + 0.5 - center) < 3 * scale }
      // The last box may hold fewer samples: it is narrower.
      let values = used.map { k in
        let width = Double(min(box, source.width - k * box)) / Double(box)
        return lanczos((Double(k) + width / 2 - center) / scale) * width
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

  private static func lanczos(_ x: Double) -> Double {
    func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
    return sinc(x) * sinc(x / 3)
  }
}

/// What PlaneResampler makes of samples.
func resampled(
  _ source: Samples, maximum: Int, type: SampleType, window: PixelRect? = nil, x: ResamplingAxis, y: ResamplingAxis,
  to outputMaximum: Int, as outputType: SampleType, mapping: PlaneResampler.Mapping? = nil
) throws -> Samples {
  var rows: [[Double]] = []
  let output = PlaneLayout(
    width: x.count, height: y.count, channels: source.channels, sampleType: outputType, maximum: outputMaximum)
  let resampler = try PlaneResampler(
    input: PlaneLayout(
      width: source.width, height: source.height, channels: source.channels, sampleType: type, maximum: maximum),
    window: window ?? PixelRect(x: 0, y: 0, width: source.width, height: source.height), x: x, y: y, output: output,
    mapping: mapping
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
  static func whole(_ source: Int, to count: Int) -> ResamplingAxis {
    ResamplingAxis(sourceCount: source, origin: 0, step: Double(source) / Double(count), count: count)
  }
}
