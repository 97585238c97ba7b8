import CPictures
import Foundation
import Testing

/// --metadata and --strip-gps of the built program.
@Suite(.timeLimit(.minutes(5))) final class MetadataTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "downsample-metadata-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let picture = try #require(cpic_make(CPIC_PHOTO, 300, 200, 3, 8, 1))
    defer { cpic_free(picture) }
    var options = cpic_jpeg_defaults()
    options.exif.orientation = 6
    options.exif.gps = true
    options.exif.maker = true
    try #require(cpic_write_jpeg(picture, &options, folder.appending(path: "in.jpg").path) == 0)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func exif(_ options: String...) throws -> [UInt8] {
    let result = try BuiltProgram.run(["--max", "100"] + options + ["in.jpg", "out.jpg"], in: folder)
    #expect(result.status == 0 && result.errors == "")
    var info = cpic_info()
    try #require(cpic_read(folder.appending(path: "out.jpg").path, nil, &info) == 0)
    defer { cpic_info_free(&info) }
    return Array(UnsafeBufferPointer(start: info.exif.data, count: info.exif.length))
  }

  @Test func choices() throws {
    #expect(try exif().isEmpty)
    #expect(try exif("--strip-gps").isEmpty)
    let all = try exif("--metadata", "all")
    let stripped = try exif("--metadata", "all", "--strip-gps")
    let rights = try exif("--metadata", "rights")
    #expect(all.count > stripped.count && stripped.count > rights.count && !rights.isEmpty)
    let texts = [all, stripped, rights].map { String(decoding: $0, as: UTF8.self) }
    #expect(texts.map { $0.contains("Made picture") } == [true, true, false])
    #expect(texts.allSatisfy { $0.contains("free to use") })
  }
}
