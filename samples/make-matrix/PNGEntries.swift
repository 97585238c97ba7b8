import CPictures

private struct Layout {
  let name: String
  let colourType: Int32
  let bits: Int32
}

private func entry(
  _ layout: Layout, adam7: Bool, _ scene: cpic_scene, _ size: String, _ group: Entry.Group
) -> Entry {
  Entry(name: "png-\(adam7 ? "adam7-" : "")\(layout.name)-\(size).png", group: group) { path in
    var scene = scene
    var options = cpic_png_defaults()
    options.colour_type = layout.colourType
    options.bits = layout.bits
    options.interlaced = adam7
    options.compression = 1
    // Always the same one is three times as fast as libpng's choice by row.
    options.filter = layout.bits < 8 || layout.colourType == 3 ? 0 : 2
    return cpic_stream_png(&scene, &options, path)
  }
}

func pngEntries() -> [Entry] {
  var entries: [Entry] = []
  let rgb = Layout(name: "rgb8", colourType: 2, bits: 8)
  let layouts = [
    rgb, Layout(name: "rgba8", colourType: 6, bits: 8), Layout(name: "gray8", colourType: 0, bits: 8),
    Layout(name: "palette8", colourType: 3, bits: 8), Layout(name: "rgb16", colourType: 2, bits: 16),
    Layout(name: "rgba16", colourType: 6, bits: 16), Layout(name: "gray16", colourType: 0, bits: 16),
    Layout(name: "graya8", colourType: 4, bits: 8), Layout(name: "graya16", colourType: 4, bits: 16),
    Layout(name: "gray1", colourType: 0, bits: 1), Layout(name: "palette4", colourType: 3, bits: 4),
  ]
  let samples: [Double] = [12, 3, 0.3, 1]
  for (index, layout) in layouts.enumerated() {
    for size in [0.01, 0.1, 0.3, 1, 3, 12, 24, 48] {
      let isSample = size == samples[index % samples.count] || layout.name == "rgb8" && size == 48
      entries.append(
        entry(layout, adam7: false, scene(megapixels: size), label(size), isSample ? .sample : .whole))
    }
    for size in [0.01, 0.1, 0.3, 1, 3, 12, 24, 48] {
      let isSample = index < 6 && size == samples[(index + 1) % samples.count] || layout.name == "rgb8" && size == 12
      entries.append(
        entry(layout, adam7: true, scene(megapixels: size), label(size), isSample ? .sample : .whole))
    }
  }
  for name in ["rgb8", "gray8", "rgba16", "palette8"] {
    for layout in layouts where layout.name == name {
      for size in [100.0, 200] {
        entries.append(entry(layout, adam7: false, scene(megapixels: size), label(size), .whole))
        if size == 100 { entries.append(entry(layout, adam7: true, scene(megapixels: size), label(size), .whole)) }
      }
    }
  }
  for (width, height): (Int32, Int32) in [(65500, 1000), (200_000, 100), (100, 200_000), (1000, 65500), (8, 60000)] {
    let isSample = width == 65500
    let shape = scene(width: width, height: height)
    entries.append(entry(rgb, adam7: false, shape, "long-\(width)x\(height)", isSample ? .sample : .whole))
    entries.append(entry(rgb, adam7: true, shape, "long-\(width)x\(height)", .whole))
  }
  entries.append(entry(rgb, adam7: false, scene(width: 32768, height: 32768), "giga-1074mp", .giant))
  return entries
}
