import CPictures
import Foundation
import Testing

/// The built program from its command line to its exit status.
@Suite(.timeLimit(.minutes(10))) final class ProgramTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "downsample-program-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  private func file(_ name: String) -> URL { folder.appending(path: name) }

  private func run(_ arguments: String..., input: URL? = nil) throws -> BuiltProgram.Result {
    try BuiltProgram.run(arguments, input: input, in: folder)
  }

  private func makeJPEG(_ name: String, width: Int32 = 300, height: Int32 = 200, orientation: Int32 = 0) throws {
    let picture = try #require(cpic_make(CPIC_PHOTO, width, height, 3, 8, 1))
    defer { cpic_free(picture) }
    var options = cpic_jpeg_defaults()
    options.exif.orientation = orientation
    try #require(cpic_write_jpeg(picture, &options, file(name).path) == 0)
  }

  private func makeHEIC(_ name: String, width: Int32 = 300, height: Int32 = 200) throws {
    let picture = try #require(cpic_make(CPIC_PHOTO, width, height, 3, 8, 1))
    defer { cpic_free(picture) }
    var options = cpic_heif_defaults()
    try #require(cpic_write_heif(picture, &options, file(name).path) == 0)
  }

  /// Kind and size of a picture file.
  private func look(_ name: String) throws -> (kind: cpic_file_kind, width: Int32, height: Int32) {
    var info = cpic_info()
    try #require(cpic_read(file(name).path, nil, &info) == 0)
    defer { cpic_info_free(&info) }
    return (info.kind, info.width, info.height)
  }

  @Test func makesAPicture() throws {
    try makeJPEG("in.jpg")
    let result = try run("--max", "100", "in.jpg", "out.jpg")
    #expect(result.status == 0)
    #expect(result.text == "" && result.errors == "")
    #expect(try look("out.jpg") == (CPIC_FILE_JPEG, 100, 67))
    #expect(try names == ["in.jpg", "out.jpg"])
  }

  @Test func extensionSaysTheFormat() throws {
    try makeJPEG("in.jpg")
    for (output, kind) in [("a.png", CPIC_FILE_PNG), ("a.JPEG", CPIC_FILE_JPEG), ("noextension", CPIC_FILE_JPEG)] {
      #expect(try run("in.jpg", output).status == 0)
      #expect(try look(output).kind == kind, "\(output)")
    }
    #expect(try run("--format=png", "in.jpg", "b.jpg").status == 0)
    #expect(try look("b.jpg").kind == CPIC_FILE_PNG)
    let unknown = try run("in.jpg", "c.tiff")
    #expect(unknown.status == 64)
    #expect(unknown.errors.contains(".tiff"))
    #expect(try !names.contains("c.tiff"))
  }

  @Test func contentAndNotTheNameSaysTheInputsKind() throws {
    try makeHEIC("actually-heic.png")
    #expect(try run("--max", "50", "actually-heic.png", "out.png").status == 0)
    #expect(try look("out.png") == (CPIC_FILE_PNG, 50, 33))
  }

  @Test func folderAsOutput() throws {
    try makeJPEG("in.photo.jpg")
    try FileManager.default.createDirectory(at: file("small"), withIntermediateDirectories: false)
    #expect(try run("--format", "png", "in.photo.jpg", "small").status == 0)
    #expect(try look("small/in.photo.png").kind == CPIC_FILE_PNG)
    #expect(try run("in.photo.jpg", "small/").status == 0)
    #expect(try look("small/in.photo.jpg").kind == CPIC_FILE_JPEG)
  }

  @Test func folderThatHoldsTheInputKeepsIt() throws {
    try makeJPEG("in.jpg")
    let before = try Data(contentsOf: file("in.jpg"))
    let result = try run("--max", "20", "in.jpg", ".")
    #expect(result.status == 73)
    #expect(try Data(contentsOf: file("in.jpg")) == before)
  }

  @Test func inputAndOutputMayBeOneFile() throws {
    try makeJPEG("in.jpg")
    #expect(try run("--max", "40", "in.jpg", "in.jpg").status == 0)
    #expect(try look("in.jpg") == (CPIC_FILE_JPEG, 40, 27))
    #expect(try names == ["in.jpg"])
  }

  @Test func standardInputAndOutput() throws {
    try makeHEIC("in.heic")
    try makeJPEG("in.jpg")
    for name in ["in.heic", "in.jpg"] {
      let result = try run("--max", "60", "-", "-", input: file(name))
      #expect(result.status == 0)
      #expect(result.output.starts(with: [0xFF, 0xD8]))
      try result.output.write(to: file("out.jpg"))
      #expect(try look("out.jpg") == (CPIC_FILE_JPEG, 60, 40))
    }
    #expect(try run("--max", "60", "-", ".", input: file("in.jpg")).status == 0)
    #expect(try look("image.jpg") == (CPIC_FILE_JPEG, 60, 40))
  }

  /// libheif loads plugins only once: where others in the process use it too, here as if the program were linked to it,
  /// they have to find theirs. On its own, the program loads those alone that it needs.
  @Test(arguments: [false, true]) func pluginsAreLeftToOthers(isHosts: Bool) throws {
    try makeHEIC("in.heic")
    let environment = ["LD_DEBUG": "files", "LD_PRELOAD": isHosts ? "libheif.so.1" : ""]
    let result = try BuiltProgram.run(["info", "in.heic"], environment: environment, in: folder)
    #expect(result.status == 0)
    #expect(result.errors.contains("/libheif-libde265.so") == isHosts)
  }

  @Test func heicThroughAPipe() throws {
    try makeHEIC("in.heic")
    #expect(try shell("cat in.heic | \"$0\" --max 60 - - | cat > out.jpg") == 0)
    #expect(try look("out.jpg") == (CPIC_FILE_JPEG, 60, 40))
  }

  /// /dev/shm is a tmpfs wherever there is one.
  @Test func temporaryFileInMemoryIsSaid() throws {
    try makeHEIC("in.heic")
    try #require(FileManager.default.isWritableFile(atPath: "/dev/shm"))
    #expect(try shell("cat in.heic | TMPDIR=/dev/shm \"$0\" --json --max 50 - out.jpg > report.json") == 0)
    let report = try JSONSerialization.jsonObject(with: Data(contentsOf: file("report.json"))) as? [String: Any]
    let warnings = try #require(report?["warnings"] as? [String])
    #expect(warnings.count == 1 && warnings[0].contains("tmpfs"))
  }

  @Test func refusals() throws {
    try makeJPEG("in.jpg")
    try Data("GIF89a and so on".utf8).write(to: file("a.gif"))
    try Data("plain text".utf8).write(to: file("text.jpg"))
    try Data().write(to: file("empty.jpg"))
    try Data(contentsOf: file("in.jpg")).prefix(3000).write(to: file("half.jpg"))
    let before = try names
    let cases: [(arguments: [String], status: Int32, says: String)] = [
      (["a.gif", "out.jpg"], 69, "GIF"), (["text.jpg", "out.jpg"], 65, "text.jpg"),
      (["empty.jpg", "out.jpg"], 65, "empty"), (["half.jpg", "out.jpg"], 65, "ends after"),
      (["missing.jpg", "out.jpg"], 66, "missing.jpg"), ([".", "out.jpg"], 66, "folder"),
      (["in.jpg", "nowhere/out.jpg"], 73, "nowhere/out.jpg"), (["--max", "0", "in.jpg", "out.jpg"], 64, "--max"),
      (["--quality", "101", "in.jpg", "out.jpg"], 64, "100"), (["--qualty", "1", "in.jpg", "o.jpg"], 64, "--quality"),
      (["in.jpg"], 64, "OUTPUT"), ([], 64, "INPUT"), (["in.jpg", "/dev/full"], 74, "space"),
    ]
    for (arguments, status, says) in cases {
      let result = try BuiltProgram.run(arguments, in: folder)
      #expect(result.status == status, "\(arguments): \(result.errors)")
      #expect(result.errors.hasPrefix("downsample: ") && result.errors.contains(says), "\(arguments): \(result.errors)")
      #expect(result.text == "")
    }
    #expect(try names == before)
  }

  @Test func noClobber() throws {
    try makeJPEG("in.jpg")
    try Data("mine".utf8).write(to: file("out.jpg"))
    let result = try run("--no-clobber", "in.jpg", "out.jpg")
    #expect(result.status == 73)
    #expect(result.errors.contains("out.jpg"))
    #expect(try Data(contentsOf: file("out.jpg")) == Data("mine".utf8))
    #expect(try run("--no-clobber", "in.jpg", "new.jpg").status == 0)
  }

  @Test func devNullStaysWhatItIs() throws {
    try makeJPEG("in.jpg")
    #expect(try run("in.jpg", "/dev/null").status == 0)
    var status = stat()
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
  }

  @Test func reportAsJSON() throws {
    try makeJPEG("in \"quoted\".jpg", orientation: 6)
    let result = try run("--json", "--max", "90", "in \"quoted\".jpg", "out.jpg")
    #expect(result.status == 0)
    #expect(result.errors == "")
    let report = try result.json
    let input = try #require(report["input"] as? [String: Any])
    let output = try #require(report["output"] as? [String: Any])
    #expect(input["file"] as? String == "in \"quoted\".jpg")
    #expect(input["kind"] as? String == "JPEG")
    #expect(input["width"] as? Int == 200 && input["height"] as? Int == 300)
    #expect(input["coded_width"] as? Int == 300 && input["orientation"] as? Int == 6)
    #expect(input["subsampling"] as? String == "4:2:0" && input["depth"] as? Int == 8)
    #expect(output["width"] as? Int == 60 && output["height"] as? Int == 90)
    let bytes = try FileManager.default.attributesOfItem(atPath: file("out.jpg").path)[.size] as? Int
    #expect(output["file_bytes"] as? Int == bytes)
    let peak = try #require(report["peak_rss_bytes"] as? Int)
    #expect(peak > 1_000_000 && peak < 200_000_000)
    for stage in ["header_ms", "decode_ms", "resample_ms", "encode_ms", "commit_ms", "total_ms"] {
      #expect(report[stage] as? Double != nil, "\(stage)")
    }
    #expect((report["warnings"] as? [String])?.isEmpty == true)
  }

  @Test func reportStaysOutOfThePicture() throws {
    try makeJPEG("in.jpg")
    let result = try run("--json", "--max", "90", "in.jpg", "-")
    #expect(result.output.starts(with: [0xFF, 0xD8]))
    let report = try #require(
      try JSONSerialization.jsonObject(with: Data(result.errors.utf8)) as? [String: Any])
    #expect(report["strategy"] is String)
  }

  @Test func failureAsJSON() throws {
    let result = try run("--json", "missing.jpg", "out.jpg")
    #expect(result.status == 66)
    let failure = try #require(try result.json["error"] as? [String: Any])
    #expect(failure["exit_status"] as? Int == 66)
    #expect(failure["message"] as? String != nil)
    // With the picture meant for standard output, the failure is the only thing on standard error.
    let other = try run("--json", "missing.jpg", "-")
    #expect(other.output.isEmpty)
    #expect(try JSONSerialization.jsonObject(with: Data(other.errors.utf8)) is [String: Any])
  }

  @Test func wrongUseAsJSON() throws {
    for arguments in [["--json", "--max", "0", "a", "b"], ["a", "--json"], ["--json", "--nonsense"]] {
      let result = try BuiltProgram.run(arguments, in: folder)
      #expect(result.status == 64)
      #expect(result.errors.contains("--help"))
      #expect((try result.json["error"] as? [String: Any])?["exit_status"] as? Int == 64)
    }
  }

  private func shell(_ script: String) throws -> Int32 {
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", script, try BuiltProgram.url().path]
    shell.currentDirectoryURL = folder
    shell.standardError = FileHandle.nullDevice
    try BuiltProgram.start(shell)
    shell.waitUntilExit()
    return shell.terminationStatus
  }

  @Test func standardOutputByAnotherName() throws {
    try makeJPEG("in.jpg")
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
      #expect(try shell("\"$0\" --json --max 50 in.jpg \(name) > out.jpg 2> report.json") == 0)
      let picture = try Data(contentsOf: file("out.jpg"))
      #expect(picture.suffix(2).elementsEqual([0xFF, 0xD9]), "\(name)")
      #expect(try JSONSerialization.jsonObject(with: Data(contentsOf: file("report.json"))) is [String: Any])
    }
  }

  @Test func closedStandardStreams() throws {
    try makeHEIC("in.heic")
    // A file opened meanwhile must not become standard output.
    #expect(try shell("cat in.heic | \"$0\" --max 50 - - >&-") == 74)
    #expect(try shell("\"$0\" --max 50 in.heic a.jpg <&- >&- 2>&-") == 0)
    #expect(try look("a.jpg") == (CPIC_FILE_JPEG, 50, 33))
    #expect(try shell("\"$0\" --max 50 - b.jpg <&-") == 74)
    #expect(try names == ["a.jpg", "in.heic"])
  }

  @Test func controlCharactersStayOutOfMessages() throws {
    let result = try run("--max", "5\n\u{1B}[2J", "a", "b")
    #expect(result.errors.split(separator: "\n").count == 2)
    #expect(!result.errors.contains("\u{1B}"))
  }

  @Test func verboseAndQuiet() throws {
    try makeJPEG("in.jpg")
    let verbose = try run("--verbose", "in.jpg", "out.jpg")
    #expect(verbose.text == "")
    #expect(verbose.errors.contains("300x200") && verbose.errors.contains("ms"))
    #expect(try run("-q", "missing.jpg", "out.jpg").errors != "")
  }

  @Test func infoOfSeveral() throws {
    try makeJPEG("a.jpg")
    try makeHEIC("b.heic")
    let good = try run("info", "a.jpg", "b.heic")
    #expect(good.status == 0)
    #expect(good.text.contains("a.jpg: JPEG 300x200") && good.text.contains("b.heic: HEIC 300x200"))
    let some = try run("info", "a.jpg", "missing.jpg", "b.heic")
    #expect(some.status == 1)
    #expect(some.text.split(separator: "\n").count == 2 && some.errors.contains("missing.jpg"))
    #expect(try run("info", "missing.jpg").status == 66)
    let lines = try run("info", "--json", "a.jpg", "missing.jpg").text.split(separator: "\n")
    #expect(lines.count == 2)
    for line in lines { #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any]) }
    #expect(try run("info", "--max", "3", "a.jpg").status == 64)
    #expect(try names == ["a.jpg", "b.heic"])
  }

  @Test func helpAndVersion() throws {
    let help = try run("--help")
    #expect(help.status == 0 && help.text.hasPrefix("Usage: downsample"))
    let version = try run("--version")
    #expect(version.status == 0)
    for library in ["libjpeg-turbo ", "libpng 1.", "libheif 1.", "Little CMS 2."] {
      #expect(version.text.contains(library), "\(version.text)")
    }
  }

  @Test func namesThatAreNotUTF8() throws {
    try makeJPEG("in.jpg")
    let script =
      "n=$(printf 'a\\377b'); cp in.jpg \"$n.jpg\"; \"$0\" --max 9 \"$n.jpg\" \"$n.png\" && test -s \"$n.png\""
    #expect(try shell(script) == 0)
  }

  /// What an assertion of libheif does to the process, here by a signal in the middle of a decoder's work.
  @Test func abortInsideLibheif() throws {
    try makeHEIC("in.heic", width: 3000, height: 2000)
    try Data("old".utf8).write(to: file("out.jpg"))
    let process = Process()
    process.executableURL = try BuiltProgram.url()
    process.arguments = [file("in.heic").path, file("out.jpg").path]
    process.standardError = FileHandle.nullDevice
    try BuiltProgram.start(process)
    // The picture takes 9 MB, which fill as it is decoded: nothing before that takes half as much once the decoder is loaded.
    let folder = "/proc/\(process.processIdentifier)"
    func text(_ name: String) -> String { (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)) ?? "" }
    func residentPages() -> Int { text("statm").split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 }
    var least: Int?
    for _ in 0..<10_000 {
      usleep(1000)
      if least == nil, !text("maps").contains("libde265") { continue }
      let pages = residentPages()
      if let least, pages > least + (4 << 20) / 4096 { break }
      least = min(least ?? pages, pages)
    }
    kill(process.processIdentifier, SIGABRT)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 65)
    #expect(try Data(contentsOf: file("out.jpg")) == Data("old".utf8))
    #expect(try names == ["in.heic", "out.jpg"])
  }
}
