import CPictures
import Glibc

/// A picture in double precision, in code values of 8 bits whatever the depth was: the reference for resampling.
public struct RealPicture {
  public let width: Int
  public let height: Int
  public let channels: Int
  public var values: [Double]

  public init(_ picture: Picture) {
    (width, height, channels) = (picture.width, picture.height, picture.channels)
    let count = width * height * channels
    values = [Double](unsafeUninitializedCapacity: count) { values, initialized in
      picture.withSamples { samples in
        let unit = picture.bits == 8 ? 1.0 : 255.0 / 65535.0
        let bytes = samples.assumingMemoryBound(to: UInt8.self)
        let words = samples.assumingMemoryBound(to: UInt16.self)
        let values = values.baseAddress!
        let isBytes = picture.bits == 8
        var i = 0
        while i < count {
          values[i] = Double(isBytes ? UInt16(bytes[i]) : words[i]) * unit
          i += 1
        }
      }
      initialized = count
    }
  }

  private init(width: Int, height: Int, channels: Int, values: [Double]) {
    (self.width, self.height, self.channels, self.values) = (width, height, channels, values)
  }

  /// The picture of 8 bits next to it.
  public var rounded: Picture {
    Picture(width, height, channels: channels) { x, y, channel in
      Int((values[(y * width + x) * channels + channel]).rounded())
    }
  }

  private var hasAlpha: Bool { channels == 2 || channels == 4 }

  /// Every other channel times alpha; itself without alpha.
  public var premultiplied: RealPicture {
    guard hasAlpha else { return self }
    var result = self
    for i in stride(from: 0, to: values.count, by: channels) {
      let alpha = values[i + channels - 1] / 255
      for channel in 0..<channels - 1 { result.values[i + channel] *= alpha }
    }
    return result
  }

  /// Premultiplied colour as far as alpha allows: a filter's overshoot can take it further.
  public var limitedByAlpha: RealPicture {
    guard hasAlpha else { return self }
    var result = self
    for i in stride(from: 0, to: values.count, by: channels) {
      for channel in 0..<channels - 1 {
        result.values[i + channel] = min(values[i + channel], values[i + channels - 1])
      }
    }
    return result
  }

  /// Of premultiplied colour.
  public var overWhite: RealPicture {
    guard hasAlpha else { return self }
    var result: [Double] = []
    for i in stride(from: 0, to: values.count, by: channels) {
      let rest = 255 - values[i + channels - 1]
      for channel in 0..<channels - 1 { result.append(values[i + channel] + rest) }
    }
    return RealPicture(width: width, height: height, channels: channels - 1, values: result)
  }

  /// Gray as red, green and blue alike.
  public var rgb: RealPicture {
    guard channels == 1 else { return self }
    return RealPicture(width: width, height: height, channels: 3, values: values.flatMap { [$0, $0, $0] })
  }

  /// By the weights of BT.601; itself when gray. Alpha is dropped.
  public var luma: RealPicture {
    guard channels >= 3 else { return self }
    var luma: [Double] = []
    luma.reserveCapacity(width * height)
    for i in stride(from: 0, to: values.count, by: channels) {
      let (red, green) = (0.299 * values[i], 0.587 * values[i + 1])
      luma.append(red + green + 0.114 * values[i + 2])
    }
    return RealPicture(width: width, height: height, channels: 1, values: luma)
  }

  /// By Lanczos of three lobes with the support scaled by the ratio, and within 0 to 255. The filter's centres lie `shift`
  /// output pixels further to the right and down: 0 is right, another value shows what a test would notice. Colour is
  /// premultiplied where there is alpha: what alpha overshoots is taken back from both.
  public func resampled(width newWidth: Int, height newHeight: Int, shift: Double = 0) -> RealPicture {
    var rows = [Double](repeating: 0, count: newWidth * height * channels)
    var result = [Double](repeating: 0, count: newWidth * newHeight * channels)
    Self.resample(
      values, into: &rows, runs: height, channels: channels, from: width, to: newWidth, shift: shift)
    // Down the columns: a whole row is one sample of many channels.
    Self.resample(
      rows, into: &result, runs: 1, channels: newWidth * channels, from: height, to: newHeight, shift: shift)
    if hasAlpha {
      for pixel in stride(from: 0, to: result.count, by: channels) {
        let alpha = result[pixel + channels - 1]
        for i in pixel..<pixel + channels where alpha > 255 { result[i] *= 255 / alpha }
      }
    }
    return RealPicture(
      width: newWidth, height: newHeight, channels: channels, values: result.map { min(max($0, 0), 255) })
  }

  /// `runs` lines of `length` samples of `channels` each. Plain loops over pointers, because tests are built without
  /// optimisation.
  private static func resample(
    _ source: [Double], into result: inout [Double], runs: Int, channels: Int, from length: Int, to newLength: Int,
    shift: Double
  ) {
    let step = Double(length) / Double(newLength)
    let scale = max(1, step)
    source.withUnsafeBufferPointer { source in
      result.withUnsafeMutableBufferPointer { result in
        for i in 0..<newLength {
          let center = min(max((Double(i) + 0.5 + shift) * step, 0.5), Double(length) - 0.5)
          let first = max(0, Int((center - 3 * scale - 0.5).rounded(.up)))
          let last = min(length - 1, Int((center + 3 * scale - 0.5).rounded(.down)))
          let weights = (first...last).map { lanczos((Double($0) + 0.5 - center) / scale) }
          let sum = weights.reduce(0, +)
          for run in 0..<runs {
            let output = result.baseAddress! + (run * newLength + i) * channels
            for (k, weight) in weights.enumerated() {
              let input = source.baseAddress! + (run * length + first + k) * channels
              let part = weight / sum
              var channel = 0
              while channel < channels {
                output[channel] += part * input[channel]
                channel += 1
              }
            }
          }
        }
      }
    }
  }

  private static func lanczos(_ x: Double) -> Double {
    if abs(x) < 1e-12 { return 1 }
    if abs(x) >= 3 { return 0 }
    return 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x)
  }

  /// Mean and largest absolute difference; infinite when the shapes differ.
  public func difference(from other: RealPicture) -> (mean: Double, largest: Double) {
    guard width == other.width, height == other.height, channels == other.channels else {
      return (.infinity, .infinity)
    }
    var (sum, largest) = (0.0, 0.0)
    values.withUnsafeBufferPointer { mine in
      other.values.withUnsafeBufferPointer { theirs in
        var i = 0
        while i < mine.count {
          let difference = abs(mine[i] - theirs[i])
          sum += difference
          if difference > largest { largest = difference }
          i += 1
        }
      }
    }
    return (sum / Double(values.count), largest)
  }
}
