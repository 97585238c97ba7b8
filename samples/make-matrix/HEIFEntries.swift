import CPictures

private struct Layout {
  let name: String
  var channels: Int32 = 3
  var chroma = CPIC_CHROMA_420
  var bits: Int32 = 8
}

private let layouts = [
  Layout(name: "420"), Layout(name: "444", chroma: CPIC_CHROMA_444), Layout(name: "420-10bit", bits: 10),
  Layout(name: "420-alpha", channels: 4), Layout(name: "422", chroma: CPIC_CHROMA_422),
  Layout(name: "mono", channels: 1, chroma: CPIC_CHROMA_MONO),
  Layout(name: "444-10bit", chroma: CPIC_CHROMA_444, bits: 10), Layout(name: "mono-alpha", channels: 2),
]

private func entry(
  _ codec: cpic_heif_codec, tile: Int32, _ layout: Layout, _ scene: cpic_scene, _ size: String, _ group: Entry.Group,
  orientation: Int32 = 1
) -> Entry {
  let kind = codec == CPIC_HEVC ? "heic" : "avif"
  let arrangement = tile > 0 ? "grid\(tile)" : "single"
  let turned = orientation == 1 ? "" : "-turned\(orientation)"
  return Entry(name: "\(kind)-\(arrangement)-\(layout.name)\(turned)-\(size).\(kind)", group: group) { path in
    var scene = scene
    scene.channels = layout.channels
    scene.bits = layout.bits > 8 ? 16 : 8
    var options = cpic_heif_defaults()
    options.codec = codec
    options.quality = 60
    options.chroma = layout.chroma
    options.bits = layout.bits
    options.orientation = orientation
    options.tile_width = tile
    if tile > 0 { return cpic_stream_heif_grid(&scene, &options, 12, path) }
    guard let picture = cpic_scene_picture(&scene, 0, 0, scene.width, scene.height) else { return 1 }
    defer { cpic_free(picture) }
    return cpic_write_heif(picture, &options, path)
  }
}

func heifEntries() -> [Entry] {
  guard cpic_has_heif() else { return [] }
  var entries: [Entry] = []
  for codec in [CPIC_HEVC, CPIC_AV1] {
    for (index, layout) in layouts.enumerated() {
      for size in [0.01, 0.3, 1, 3, 12] {
        let isSample = size == [3, 0.3, 1][index % 3]
        entries.append(entry(codec, tile: 0, layout, scene(megapixels: size), label(size), isSample ? .sample : .whole))
      }
      for size in [1.0, 12, 48] {
        let isSample = index < 5 && size == [12, 1, 48][index % 3]
        entries.append(
          entry(codec, tile: 512, layout, scene(megapixels: size), label(size), isSample ? .sample : .whole))
      }
    }
    // libaom 3.6.0, that of Debian 12, cannot encode 48 megapixels at once.
    for size in codec == CPIC_HEVC ? [24.0, 48] : [24] {
      entries.append(entry(codec, tile: 0, layouts[0], scene(megapixels: size), label(size), .whole))
    }
    for layout in layouts[..<3] {
      for size in [24.0, 100, 200] {
        entries.append(entry(codec, tile: 512, layout, scene(megapixels: size), label(size), .whole))
      }
    }
    for tile: Int32 in [256, 1024, 2048] {
      for size in [3.0, 12, 48] {
        let isSample = size == 12 && tile == 1024
        entries.append(
          entry(codec, tile: tile, layouts[0], scene(megapixels: size), label(size), isSample ? .sample : .whole))
      }
    }
    for orientation: Int32 in [3, 6] {
      let shape = scene(megapixels: 12)
      let isSample = orientation == 6
      entries.append(
        entry(codec, tile: 512, layouts[0], shape, "12mp", isSample ? .sample : .whole, orientation: orientation))
      entries.append(entry(codec, tile: 0, layouts[0], shape, "12mp", .whole, orientation: orientation))
    }
    entries.append(
      entry(codec, tile: 512, layouts[0], scene(width: 40000, height: 1000), "long-40000x1000", .whole))
  }
  return entries
}
