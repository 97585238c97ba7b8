import CPictures
import Foundation
import Testing

/// The built program, ended in the middle of its work: half of a picture comes through a pipe and the rest never does.
@Suite(.timeLimit(.minutes(10))) final class InterruptionTests {
  private let folder: URL
  private let program: URL
  private let picture: Data

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "downsample-interruption-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    program = try BuiltProgram.url()

    let made = try #require(cpic_make(CPIC_PHOTO, 2000, 1500, 3, 8, 1))
    defer { cpic_free(made) }
    var options = cpic_jpeg_defaults()
    var bytes = cpic_bytes()
    try #require(cpic_encode_jpeg(made, &options, &bytes) == 0)
    defer { cpic_bytes_free(&bytes) }
    picture = Data(bytes: bytes.data, count: bytes.length)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }

  /// Starts the program on a pipe, gives it half of the picture and waits until it has read that.
  private func startHalfway(_ output: URL) throws -> (process: Process, input: FileHandle) {
    let pipe = Pipe()
    let process = Process()
    process.executableURL = program
    process.arguments = ["--quiet", "--max", "1000", "-", output.path]
    process.standardInput = pipe
    process.standardError = FileHandle.nullDevice
    try BuiltProgram.start(process)
    try pipe.fileHandleForWriting.write(contentsOf: picture.prefix(picture.count / 2))
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    for _ in 0..<1000 {
      request.revents = 0
      if poll(&request, 1, 0) == 0 { break }
      usleep(10_000)
    }
    // Time to decode what it has.
    usleep(200_000)
    try #require(process.isRunning)
    return (process, pipe.fileHandleForWriting)
  }

  private func end(_ process: Process, with number: Int32) {
    kill(process.processIdentifier, number)
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal)
    #expect(process.terminationStatus == number)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGKILL]) func nothingIsLeft(number: Int32) throws {
    let output = folder.appending(path: "out.jpg")
    let (first, firstInput) = try startHalfway(output)
    end(first, with: number)
    #expect(names.filter { !$0.hasPrefix(".") } == [])
    if number != SIGKILL { #expect(names == []) }

    try Data("old".utf8).write(to: output)
    let (second, secondInput) = try startHalfway(output)
    end(second, with: number)
    #expect(try Data(contentsOf: output) == Data("old".utf8))
    if number != SIGKILL { #expect(names == ["out.jpg"]) }
    try firstInput.close()
    try secondInput.close()

    // What SIGKILL may leave goes with the next run in the folder, which also shows that the input was a good one.
    let (third, thirdInput) = try startHalfway(folder.appending(path: "next.jpg"))
    try thirdInput.write(contentsOf: picture.suffix(from: picture.count / 2))
    try thirdInput.close()
    third.waitUntilExit()
    #expect(third.terminationStatus == 0)
    #expect(names == ["next.jpg", "out.jpg"])
  }

  @Test func cutShort() throws {
    let output = folder.appending(path: "out.jpg")
    try Data("old".utf8).write(to: output)
    let (process, input) = try startHalfway(output)
    try input.close()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 65)
    #expect(names == ["out.jpg"])
    #expect(try Data(contentsOf: output) == Data("old".utf8))
  }

  @Test func fileSizeLimit() throws {
    let input = folder.appending(path: "in.jpg")
    try picture.write(to: input)
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    // A block is 512 bytes; the result is far larger than two.
    shell.arguments = [
      "-c", "ulimit -f 2; exec \"$0\" --quiet --max 1000 \"$1\" \"$2\"", program.path, input.path,
      folder.appending(path: "out.jpg").path,
    ]
    shell.standardError = FileHandle.nullDevice
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationReason == .exit)
    #expect(shell.terminationStatus == 74)
    #expect(names == ["in.jpg"])
  }

  @Test func closedPipe() throws {
    let input = folder.appending(path: "in.jpg")
    try picture.write(to: input)
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let process = Process()
    process.executableURL = program
    process.arguments = ["--quiet", input.path, "-"]
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 74)
  }
}
