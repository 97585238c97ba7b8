import CPictures

private struct Layout {
  let name: String
  var set: @Sendable (inout cpic_jpeg_options) -> Void
  var channels: Int32 = 3
}

private func sampling(_ number: Int32) -> Layout {
  Layout(name: "\(number)", set: { _ = cpic_jpeg_set_sampling(&$0, number) })
}

private let gray = Layout(name: "gray", set: { $0.space = CPIC_JPEG_GRAY }, channels: 1)
private let cmyk = Layout(name: "cmyk", set: { $0.space = CPIC_JPEG_CMYK })
private let ycck = Layout(name: "ycck", set: { $0.space = CPIC_JPEG_YCCK })
private let rgb = Layout(name: "rgb", set: { $0.space = CPIC_JPEG_RGB })

private func entry(
  _ kind: String, _ layout: Layout, _ scene: cpic_scene, _ size: String, _ group: Entry.Group,
  _ set: @escaping @Sendable (inout cpic_jpeg_options) -> Void
) -> Entry {
  Entry(name: "jpeg-\(kind)-\(layout.name)-\(size).jpg", group: group) { path in
    var scene = scene
    scene.channels = layout.channels
    var options = cpic_jpeg_defaults()
    layout.set(&options)
    set(&options)
    return cpic_stream_jpeg(&scene, &options, path)
  }
}

func jpegEntries() -> [Entry] {
  var entries: [Entry] = []
  func add(
    _ kind: String, _ layouts: [Layout], _ sizes: [Double], sample: [Double] = [],
    _ set: @escaping @Sendable (inout cpic_jpeg_options) -> Void
  ) {
    for (index, layout) in layouts.enumerated() {
      for size in sizes {
        // The first layout at all the sample's sizes, the others at one of them.
        let isSample = index == 0 ? sample.contains(size) : !sample.isEmpty && size == sample[index % sample.count]
        entries.append(
          entry(kind, layout, scene(megapixels: size), label(size), isSample ? .sample : .whole, set))
      }
    }
  }

  let all = [sampling(420), sampling(444), sampling(422), sampling(440), sampling(411), sampling(410), gray]
  add("baseline", all, [0.01, 0.1, 0.3, 1, 3, 12, 24, 48, 100, 200], sample: [0.3, 3, 12, 48]) { _ in }
  add("baseline", [cmyk, ycck, rgb], [0.1, 1, 12, 48, 100], sample: [12, 1]) { _ in }
  add(
    "progressive", [sampling(420), sampling(444), sampling(422), sampling(440), gray],
    [0.01, 0.1, 0.3, 1, 3, 12, 24, 48, 100, 200], sample: [0.3, 12, 48]
  ) { $0.progressive = true }
  add("progressive", [cmyk, ycck, rgb], [1, 12, 48], sample: [1]) { $0.progressive = true }
  add("multi-scan", [sampling(420), sampling(444), gray], [0.3, 3, 12, 48], sample: [12, 3]) { $0.multi_scan = true }
  add("arithmetic", [sampling(420), sampling(444)], [0.3, 12, 48], sample: [12]) { $0.arithmetic = true }
  add("arithmetic-progressive", [sampling(420), sampling(444)], [0.3, 12, 48], sample: [12]) {
    $0.arithmetic = true
    $0.progressive = true
  }
  // Fine and coarse quantisation: many and few coefficients to keep.
  add("progressive-q99", [sampling(420), sampling(444)], [1, 12, 48, 100], sample: [12]) {
    $0.progressive = true
    $0.quality = 99
  }
  add("progressive-q30", [sampling(420)], [12, 48]) {
    $0.progressive = true
    $0.quality = 30
  }
  add("restart", [sampling(420), sampling(444)], [12, 48], sample: [12]) { $0.restart_interval = 64 }
  add("cut-progression", [sampling(420)], [3, 12, 48], sample: [3]) {
    $0.progressive = true
    $0.progressive_scans = 3
  }
  for orientation: Int32 in [2, 3, 6] {
    add("turned\(orientation)", [sampling(420), sampling(444)], [1, 12, 48], sample: orientation == 6 ? [12] : []) {
      $0.exif.orientation = orientation
    }
    add("turned\(orientation)-progressive", [sampling(420)], [12, 48], sample: orientation == 3 ? [12] : []) {
      $0.exif.orientation = orientation
      $0.progressive = true
    }
  }
  for (width, height): (Int32, Int32) in [
    (65500, 1000), (65500, 100), (1000, 65500), (16000, 3000), (8, 60000), (60000, 8),
  ] {
    let group: Entry.Group = width == 65500 && height == 1000 ? .sample : .whole
    let shape = scene(width: width, height: height)
    for layout in [sampling(420), sampling(444)] {
      entries.append(
        entry("long", layout, shape, "\(width)x\(height)", layout.name == "420" ? group : .whole) { _ in })
    }
    entries.append(
      entry("long-progressive", sampling(420), shape, "\(width)x\(height)", .whole) { $0.progressive = true })
  }

  let giga = scene(width: 32768, height: 32768)
  entries.append(entry("giga", sampling(420), giga, "1074mp", .giant) { _ in })
  let quarter = scene(width: 16384, height: 16384)
  entries.append(entry("giga-progressive", sampling(420), quarter, "268mp", .giant) { $0.progressive = true })
  return entries
}
