import CPictures
import Glibc
import Testing

/// The pictures of the memory matrix are written row by row: they have to be those that the writers of pictures in
/// memory make.
@Suite struct StreamedPictureTests {
  private func scene(_ channels: Int32, bits: Int32 = 8, width: Int32 = 301, height: Int32 = 203) -> cpic_scene {
    cpic_scene(width: width, height: height, channels: channels, bits: bits, seed: 7)
  }

  /// What `write` puts into a file.
  private func written(_ write: (String) -> Int32) throws -> [UInt8] {
    let path = "/var/tmp/streamed-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    defer { unlink(path) }
    try #require(write(path) == 0, "\(String(cString: cpic_message()))")
    var bytes = cpic_bytes()
    try #require(cpic_load_file(path, &bytes) == 0)
    defer { cpic_bytes_free(&bytes) }
    return Array(UnsafeBufferPointer(start: bytes.data, count: bytes.length))
  }

  private func encoded(_ encode: (inout cpic_bytes) -> Int32) throws -> [UInt8] {
    var bytes = cpic_bytes()
    try #require(encode(&bytes) == 0, "\(String(cString: cpic_message()))")
    defer { cpic_bytes_free(&bytes) }
    return Array(UnsafeBufferPointer(start: bytes.data, count: bytes.length))
  }

  @Test(arguments: [
    (CPIC_JPEG_GRAY, false), (CPIC_JPEG_YCBCR, false), (CPIC_JPEG_YCBCR, true), (CPIC_JPEG_RGB, false),
    (CPIC_JPEG_CMYK, false), (CPIC_JPEG_YCCK, true),
  ])
  func jpegIsTheOneMadeInMemory(space: cpic_jpeg_space, progressive: Bool) throws {
    var scene = scene(space == CPIC_JPEG_GRAY ? 1 : 3)
    var options = cpic_jpeg_defaults()
    options.space = space
    options.progressive = progressive
    options.restart_interval = 5
    let picture = try #require(cpic_scene_picture(&scene, 0, 0, scene.width, scene.height))
    defer { cpic_free(picture) }
    let streamed = try written { cpic_stream_jpeg(&scene, &options, $0) }
    #expect(try streamed == encoded { cpic_encode_jpeg(picture, &options, &$0) })
  }

  @Test(arguments: [(0, 1), (0, 16), (2, 8), (3, 4), (3, 8), (4, 8), (6, 16)] as [(Int32, Int32)], [false, true])
  func pngIsTheOneMadeInMemory(kind: (type: Int32, bits: Int32), interlaced: Bool) throws {
    let channels: Int32 = [0: 1, 2: 3, 3: 3, 4: 2, 6: 4][kind.type] ?? 3
    var scene = scene(channels, bits: kind.bits == 16 ? 16 : 8)
    var options = cpic_png_defaults()
    options.colour_type = kind.type
    options.bits = kind.bits
    options.interlaced = interlaced
    let picture = try #require(cpic_scene_picture(&scene, 0, 0, scene.width, scene.height))
    defer { cpic_free(picture) }
    let streamed = try written { cpic_stream_png(&scene, &options, $0) }
    #expect(try streamed == encoded { cpic_encode_png(picture, &options, &$0) })
  }

  @Test func partsOfASceneFitTogether() throws {
    var scene = scene(4, bits: 16)
    let whole = try #require(cpic_scene_picture(&scene, 0, 0, scene.width, scene.height))
    defer { cpic_free(whole) }
    let part = try #require(cpic_scene_picture(&scene, 101, 57, 90, 60))
    let cut = try #require(cpic_crop(whole, 101, 57, 90, 60))
    defer {
      cpic_free(part)
      cpic_free(cut)
    }
    var largest: Int32 = -1
    #expect(cpic_compare(part, cut, &largest, nil, nil) == 0)
    #expect(largest == 0)
    // Nothing trivial: most neighbours differ.
    let differing = (1..<301).count { cpic_sample(whole, $0, 100, 0) != cpic_sample(whole, $0 - 1, 100, 0) }
    #expect(differing > 200)
  }

  @Test(.enabled(if: cpic_has_heif()), arguments: [CPIC_HEVC, CPIC_AV1], [3, 4] as [Int32])
  func gridShowsTheScene(codec: cpic_heif_codec, channels: Int32) throws {
    var scene = scene(channels)
    var options = cpic_heif_defaults()
    options.codec = codec
    options.quality = 95
    options.tile_width = 64
    options.chroma = CPIC_CHROMA_444
    // As many distinct tiles as the grid has: then it is the scene itself.
    let file = try written { cpic_stream_heif_grid(&scene, &options, 20, $0) }
    var info = cpic_info()
    var decoded: UnsafeMutablePointer<cpic_picture>?
    try #require(cpic_decode(file, file.count, &decoded, &info) == 0, "\(String(cString: cpic_message()))")
    defer {
      cpic_free(decoded)
      cpic_info_free(&info)
    }
    #expect(info.tile_columns == 5 && info.tile_rows == 4)
    #expect(info.has_alpha == (channels == 4))
    let picture = try #require(cpic_scene_picture(&scene, 0, 0, scene.width, scene.height))
    defer { cpic_free(picture) }
    var mean = 255.0
    #expect(cpic_compare(picture, decoded, nil, &mean, nil) == 0)
    #expect(mean < 4)
  }

  @Test(.enabled(if: cpic_has_heif())) func gridOfFewTilesRepeatsThemAndTurns() throws {
    var scene = scene(3, width: 640, height: 320)
    var options = cpic_heif_defaults()
    options.tile_width = 64
    options.orientation = 6
    let file = try written { cpic_stream_heif_grid(&scene, &options, 3, $0) }
    var info = cpic_info()
    var decoded: UnsafeMutablePointer<cpic_picture>?
    try #require(cpic_decode(file, file.count, &decoded, &info) == 0, "\(String(cString: cpic_message()))")
    defer {
      cpic_free(decoded)
      cpic_info_free(&info)
    }
    #expect(info.width == 320 && info.height == 640)
    // The first row of tiles is the last column now; every third tile is the same.
    let first = try #require(cpic_crop(decoded, 256, 0, 64, 64))
    let fourth = try #require(cpic_crop(decoded, 256, 192, 64, 64))
    defer {
      cpic_free(first)
      cpic_free(fourth)
    }
    var largest: Int32 = -1
    #expect(cpic_compare(first, fourth, &largest, nil, nil) == 0)
    #expect(largest == 0)
  }

  @Test func whatCannotBeWrittenIsSaid() {
    var scene = scene(3, width: 65501, height: 1)
    var jpeg = cpic_jpeg_defaults()
    #expect(cpic_stream_jpeg(&scene, &jpeg, "/dev/null") != 0)
    scene.width = 64
    var png = cpic_png_defaults()
    #expect(cpic_stream_jpeg(&scene, &jpeg, "/nowhere/picture.jpg") != 0)
    #expect(cpic_stream_png(&scene, &png, "/nowhere/picture.png") != 0)
    #expect(cpic_stream_png(&scene, &png, "/dev/full") != 0)
    var heif = cpic_heif_defaults()
    heif.tile_width = 7
    #expect(cpic_stream_heif_grid(&scene, &heif, 1, "/dev/null") != 0)
  }
}
