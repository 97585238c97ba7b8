import CPictures
import Foundation
import Testing

/// The memory-budget gate, at the command line.
@Suite(.timeLimit(.minutes(10))) final class MemoryTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "downsample-memory-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // Turned, so that the whole output is held: what it takes depends on its size.
    let picture = try #require(cpic_make(CPIC_PHOTO, 3000, 2400, 3, 8, 1))
    defer { cpic_free(picture) }
    var options = cpic_jpeg_defaults()
    options.exif.orientation = 6
    try #require(cpic_write_jpeg(picture, &options, folder.appending(path: "in.jpg").path) == 0)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  private func run(_ arguments: String..., environment: [String: String] = [:]) throws -> BuiltProgram.Result {
    try BuiltProgram.run(arguments, environment: environment, in: folder)
  }

  /// What the plan says, as JSON.
  private func plan(_ arguments: String...) throws -> [String: Any] {
    try BuiltProgram.run(["plan", "--json"] + arguments + ["in.jpg"], in: folder).json
  }

  private func number(_ json: [String: Any], _ name: String) throws -> Int { try #require(json[name] as? Int) }

  @Test func planSaysWhatIsNeeded() throws {
    let json = try plan("--max", "2000")
    #expect(json["fits"] as? Bool == true)
    let stages = try #require(json["stages"] as? [[String: Any]])
    #expect(stages.contains { $0["name"] as? String == "turning" })
    let needed = try number(json, "predicted_peak_bytes")
    let text = try run("plan", "--max", "2000", "in.jpg")
    #expect(text.status == 0 && text.text.contains("in.jpg: JPEG 2400x3000 to 1600x2000: needs "))
    #expect(try run("plan", "-v", "in.jpg").text.contains("turning"))
    #expect(try names == ["in.jpg"])

    let made = try run("--json", "--max", "2000", "in.jpg", "out.jpg").json
    // The tests run a build that is not optimised, which has more code to touch.
    #expect(try number(made, "peak_rss_bytes") <= number(made, "predicted_peak_bytes") + (4 << 20))
    #expect(abs(try number(made, "predicted_peak_bytes") - needed) < 1 << 20)
  }

  /// libheif holds several copies of a profile while it puts the file together.
  @Test func largeProfilesInHEIF() throws {
    let picture = try #require(cpic_make(CPIC_PHOTO, 64, 48, 3, 8, 1))
    defer { cpic_free(picture) }
    var options = cpic_png_defaults()
    try #require(cpic_make_icc(CPIC_ICC_DISPLAY_P3, 7 << 20, &options.icc) == 0)
    defer { cpic_bytes_free(&options.icc) }
    try #require(cpic_write_png(picture, &options, folder.appending(path: "p3.png").path) == 0)
    let made = try run("--json", "p3.png", "out.heic").json
    #expect(try number(made, "peak_rss_bytes") <= number(made, "predicted_peak_bytes") + (4 << 20))
  }

  @Test func refusedBeforeDecoding() throws {
    let json = try plan("--max", "3000")
    let ceiling = try number(json, "predicted_peak_bytes") - (3 << 20)
    let refused = try run("--memory", "\(ceiling)", "--max", "3000", "in.jpg", "out.jpg")
    #expect(refused.status == 80)
    #expect(refused.errors.contains("needs ") && refused.errors.contains("turning"))
    #expect(try names == ["in.jpg"])

    // The size that would have fitted, does.
    let plan = try run("plan", "--json", "--memory", "\(ceiling)", "--max", "3000", "in.jpg")
    #expect(plan.status == 80)
    let side = try number(plan.json, "largest_fitting_size")
    #expect(refused.errors.contains(/--max 2\d\d\d would fit, or --memory 2\dMB would do/), "\(refused.errors)")
    #expect(side > 1000 && side < 3000)
    #expect(try run("--memory", "\(ceiling)", "--max", "\(side)", "in.jpg", "a.jpg").status == 0)

    let shrunk = try run(
      "--json", "--memory", "\(ceiling)", "--max", "3000", "--over-budget", "shrink", "in.jpg", "b.jpg")
    #expect(shrunk.status == 0)
    let output = try #require(try shrunk.json["output"] as? [String: Any])
    // What is resident at the time of planning differs by a page or two.
    #expect(abs(try #require(output["height"] as? Int) - side) < 40)
    // As above: a build that is not optimised has more code to touch.
    #expect(try number(shrunk.json, "peak_rss_bytes") <= ceiling + (4 << 20))
  }

  /// Black and white noise, as of a dithered page, is taken for a screen's content by libaom: what it may look up then once
  /// took 60 MB that no plan named.
  @Test(.enabled(if: cpic_has_heif()), arguments: [3, 6])
  func anAVIFOfBlackAndWhiteTakesWhatIsPlanned(effort: Int) throws {
    let picture = try #require(cpic_make(CPIC_NOISE, 512, 512, 1, 8, 1))
    defer { cpic_free(picture) }
    for y in 0..<512 as Range<Int32> {
      for x in 0..<512 as Range<Int32> {
        cpic_set_sample(picture, x, y, 0, cpic_sample(picture, x, y, 0) < 128 ? 0 : 255)
      }
    }
    var options = cpic_png_defaults()
    try #require(cpic_write_png(picture, &options, folder.appending(path: "page.png").path) == 0)
    let made = try run("--json", "--effort", "\(effort)", "page.png", "out.avif")
    try #require(made.status == 0, "\(made.errors)")
    // As above.
    #expect(try number(made.json, "peak_rss_bytes") <= number(made.json, "predicted_peak_bytes") + (4 << 20))
  }

  @Test func theEnvironmentSaysTheCeiling() throws {
    #expect(try run("in.jpg", "a.jpg", environment: ["DOWNSAMPLE_MEMORY": "2MB"]).status == 80)
    #expect(try run("--memory", "100MB", "in.jpg", "a.jpg", environment: ["DOWNSAMPLE_MEMORY": "2MB"]).status == 0)
    #expect(try run("in.jpg", "a.jpg", environment: ["DOWNSAMPLE_MEMORY": ""]).status == 0)
    let wrong = try run("in.jpg", "a.jpg", environment: ["DOWNSAMPLE_MEMORY": "much"])
    #expect(wrong.status == 64 && wrong.errors.contains("DOWNSAMPLE_MEMORY"))
    #expect(try run("plan", "--memory", "2MB", "in.jpg").text.contains("does not fit"))
  }

  @Test func automatic() throws {
    #expect(try run("--memory", "auto", "in.jpg", "a.jpg").status == 0)
    let json = try plan("--memory", "40MB", "--max", "auto")
    let output = try #require(json["output"] as? [String: Any])
    #expect(output["height"] as? Int == 1024 || output["height"] as? Int == 512)
  }

  @Test func deadline() throws {
    let result = try run("--deadline", "1ms", "in.jpg", "out.jpg")
    #expect(result.status == 75)
    #expect(result.errors.contains("deadline"))
    #expect(try names == ["in.jpg"])
    #expect(try run("--deadline", "60s", "in.jpg", "out.jpg").status == 0)
  }

  /// A pipe into which nothing, or not all, is written.
  @Test(arguments: [0, 1000]) func deadlineWhileWaiting(bytes: Int) throws {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data(contentsOf: folder.appending(path: "in.jpg")).prefix(bytes))
    let process = Process()
    process.executableURL = try BuiltProgram.url()
    process.arguments = ["-q", "--deadline", "200ms", "-", folder.appending(path: "out.jpg").path]
    process.standardInput = pipe.fileHandleForReading
    process.standardError = FileHandle.nullDevice
    let start = ContinuousClock.now
    try BuiltProgram.start(process)
    process.waitUntilExit()
    #expect(process.terminationStatus == 75)
    #expect(ContinuousClock.now - start < .seconds(20))
    try pipe.fileHandleForWriting.close()
    #expect(try names == ["in.jpg"])
  }

  /// Where nothing asks for the deadline: a FIFO that nobody opens for reading.
  @Test func deadlineOfWhatDoesNotComeBack() throws {
    let fifo = folder.appending(path: "fifo")
    try #require(mkfifo(fifo.path, 0o600) == 0)
    let result = try run("--json", "--deadline", "200ms", "in.jpg", "fifo")
    #expect(result.status == 75)
    #expect(result.errors.contains("deadline"))
    #expect((try result.json["error"] as? [String: Any])?["exit_status"] as? Int == 75)
    #expect(try names == ["fifo", "in.jpg"])
  }

  @Test func severalPlans() throws {
    try Data("no picture".utf8).write(to: folder.appending(path: "bad"))
    let result = try run("plan", "in.jpg", "bad", "missing")
    #expect(result.status == 1)
    #expect(result.text.split(separator: "\n").count == 1)
    #expect(try run("plan", "bad").status == 65)
    #expect(try run("plan", "missing").status == 66)
  }
}
