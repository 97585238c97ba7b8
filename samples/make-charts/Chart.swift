import CPictures
import Glibc

/// One chart: its file's name and what a sample of it is.
struct Chart {
  let name: String
  /// 1 gray, 3 RGB, 4 RGBA.
  let channels: Int
  /// The 8-bit samples at column x of row y of a chart of `side` pixels a side.
  let samples: @Sendable (_ x: Int, _ y: Int, _ side: Int) -> [UInt8]

  /// The whole chart, or nil for want of memory.
  func make(side: Int) -> UnsafeMutablePointer<cpic_picture>? {
    guard let picture = cpic_create(Int32(side), Int32(side), Int32(channels), 8) else { return nil }
    let bytes = picture.pointee.samples.assumingMemoryBound(to: UInt8.self)
    for y in 0..<side {
      for x in 0..<side {
        for (channel, sample) in samples(x, y, side).enumerated() {
          bytes[(y * side + x) * channels + channel] = sample
        }
      }
    }
    return picture
  }
}

let charts = [
  Chart(name: "zone-plate", channels: 1) { x, y, side in [zonePlate(x, y, side)] },
  Chart(name: "checkerboard", channels: 1) { x, y, _ in [(x + y) % 2 == 0 ? 255 : 0] },
  Chart(name: "lines", channels: 1) { x, y, side in [lines(x, y, side)] },
  Chart(name: "edges", channels: 1) { x, y, side in [edges(x, y, side)] },
  Chart(name: "text", channels: 3) { x, y, side in text(x, y, side) },
  Chart(name: "alpha", channels: 4) { x, y, side in alpha(x, y, side) },
]

/// Black below 0, white above 1.
private func gray(_ value: Double) -> UInt8 { UInt8((min(max(value, 0), 1) * 255).rounded()) }

/// cos(k r^2) around the middle. k lets the frequency along either axis, x / side cycles a pixel at x pixels from the middle,
/// reach the Nyquist limit of one half at the chart's edges, and nowhere pass it: nothing in the chart itself is an alias.
private func zonePlate(_ x: Int, _ y: Int, _ side: Int) -> UInt8 {
  let half = Double(side) / 2
  let dx = Double(x) + 0.5 - half
  let dy = Double(y) + 0.5 - half
  return gray(0.5 + 0.5 * cos(.pi / Double(side) * (dx * dx + dy * dy)))
}

/// A fan of white lines on black, and under the middle a fan of black ones on white: a pixel wide, antialiased, two to six
/// degrees apart.
private func lines(_ x: Int, _ y: Int, _ side: Int) -> UInt8 {
  let isUpper = y < side / 2
  let row = Double(isUpper ? y : y - side / 2) + 0.5
  let column = Double(x) + 0.5 - Double(side) / 2
  var coverage = 0.0
  for step in 0...28 {
    let angle = (3 + Double(step) * (4 + 2 * sin(Double(step)))) * .pi / 180
    let distance = abs(column * sin(angle) - row * cos(angle))
    coverage = max(coverage, 1 - distance)
  }
  return gray(isUpper ? coverage : 1 - coverage)
}

/// Steps between a quarter and three quarters of white, so that what goes beyond can be seen: upright, level and aslant in
/// quadrants of their own; and in the last quadrant a black and white one, as hard as it can be.
private func edges(_ x: Int, _ y: Int, _ side: Int) -> UInt8 {
  let half = side / 2
  let dx = Double(x % half) + 0.5 - Double(half) / 2
  let dy = Double(y % half) + 0.5 - Double(half) / 2
  switch (x < half, y < half) {
  case (true, true): return dx < 0 ? 64 : 192
  case (false, true): return dy < 0 ? 64 : 192
  case (true, false): return dx * cos(0.1) < dy * sin(0.1) ? 64 : 192
  case (false, false): return dx < 0 ? 0 : 255
  }
}

/// Lines of text: letters seven, 14, 21 and 28 pixels high, black on white, white on black, and colours on each other.
private func text(_ x: Int, _ y: Int, _ side: Int) -> [UInt8] {
  let pairs: [(ink: [UInt8], paper: [UInt8])] = [
    ([0, 0, 0], [255, 255, 255]), ([255, 255, 255], [0, 0, 0]), ([200, 0, 0], [255, 255, 255]),
    ([255, 220, 0], [0, 40, 160]),
  ]
  let band = min(y * pairs.count / side, pairs.count - 1)
  let pair = pairs[band]
  // Within a band, the sizes one below the other: 10, 20, 30 and 40 pixels to the line, then again.
  var row = (y - band * side / pairs.count) % 100
  var scale = 1
  while row >= scale * 10 {
    row -= scale * 10
    scale += 1
  }
  return Glyph.isInk(column: x / scale, row: row / scale - 1) ? pair.ink : pair.paper
}

/// Shapes whose transparent pixels hide colours that must not be seen: a disc, a ring a pixel wide, hairlines, and a disc with
/// an alpha of a half. Green lies hidden under the left half's transparent pixels, white under the right's.
private func alpha(_ x: Int, _ y: Int, _ side: Int) -> [UInt8] {
  let half = Double(side) / 2
  let dx = (Double(x) + 0.5).truncatingRemainder(dividingBy: half) - half / 2
  let dy = (Double(y) + 0.5).truncatingRemainder(dividingBy: half) - half / 2
  let r = (dx * dx + dy * dy).squareRoot()
  let radius = half * 0.36
  let opacity: Double
  let visible: [UInt8]
  switch (Double(x) < half, Double(y) < half) {
  case (true, true):
    opacity = r < radius ? 1 : 0  // hard-edged
    visible = [220, 20, 20]
  case (false, true):
    opacity = min(max(radius + 0.5 - r, 0), 1)  // antialiased
    visible = [20, 40, 120]
  case (true, false):
    opacity = min(max(1 - abs(r - radius), 0), 1) + (x % 16 == 0 && r < radius - 2 ? 1 : 0)
    visible = [250, 240, 230]
  case (false, false):
    opacity = 0.5 * min(max(radius + 0.5 - r, 0), 1)
    visible = [10, 10, 10]
  }
  if opacity == 0 { return (Double(x) < half ? [0, 255, 0] : [255, 255, 255]) + [0] }
  return visible + [gray(opacity)]
}
