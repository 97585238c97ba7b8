import Codecs
import Foundation
import Raster
import Testing

@testable import Downsample

extension OutputFile {
  fileprivate func write(_ text: String) throws(DownsampleError) {
    var result: Result<Void, DownsampleError> = .success(())
    Array(text.utf8).withUnsafeBytes { bytes in
      do throws(DownsampleError) { try write(bytes) } catch { result = .failure(error) }
    }
    try result.get()
  }
}

/// Each promise holds with unnamed files and, as on file systems without them, with temporary names.
@Suite struct OutputFileTests {
  let folder = TemporaryFolder()

  private func make(
    _ name: String, unnamed: Bool, replaceExisting: Bool = true
  ) throws(DownsampleError) -> OutputFile {
    try OutputFile(path: folder(name), replaceExisting: replaceExisting, unnamedFiles: unnamed)
  }

  private func failure(_ body: () throws -> Void) -> DownsampleError? {
    do {
      try body()
      return nil
    } catch {
      return error as? Raster.DownsampleError
    }
  }

  // MARK: - New files

  @Test(arguments: [true, false]) func newFileAppearsWithCommit(unnamed: Bool) throws {
    let output = try make("new.jpg", unnamed: unnamed)
    try output.write("hello, ")
    try output.write(String(repeating: "x", count: 100_000))
    try output.write("")
    try output.write("end")
    #expect(folder.content("new.jpg") == nil)
    #expect(folder.names.count == (unnamed ? 0 : 1))
    try output.commit()
    #expect(folder.content("new.jpg") == "hello, " + String(repeating: "x", count: 100_000) + "end")
    #expect(output.byteCount == 100_010)
    #expect(folder.names == ["new.jpg"])
    #expect(folder.status("new.jpg").st_mode & 0o7777 == 0o666 & ~CreationMask.current())
    #expect(folder.status("new.jpg").st_nlink == 1)
  }

  @Test(arguments: [true, false]) func withoutCommitNothingIsLeft(unnamed: Bool) throws {
    var output: OutputFile? = try make("new.jpg", unnamed: unnamed)
    try output?.write(String(repeating: "x", count: 100_000))
    output = nil
    #expect(folder.names == [])
    folder.put("old.jpg", "old")
    output = try make("old.jpg", unnamed: unnamed)
    try output?.write("new")
    output?.discard()
    #expect(folder.names == ["old.jpg"])
    #expect(folder.content("old.jpg") == "old")
    #expect(failure { try output?.write("more") }?.code == .internalFault)
    #expect(failure { try output?.commit() }?.code == .internalFault)
    #expect(folder.content("old.jpg") == "old")
  }

  @Test(arguments: [true, false]) func emptyOutput(unnamed: Bool) throws {
    let output = try make("empty", unnamed: unnamed)
    try output.commit()
    #expect(folder.content("empty") == "")
    #expect(failure { try output.commit() }?.code == .internalFault)
    #expect(folder.names == ["empty"])
  }

  @Test func umaskIsReadAsTheShellSeesIt() throws {
    let shell = Process()
    let pipe = Pipe()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", "umask"]
    shell.standardOutput = pipe
    try shell.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(mode_t(text.trimmingCharacters(in: .whitespacesAndNewlines), radix: 8) == CreationMask.current())
  }

  @Test(arguments: [true, false]) func namesThatAreNotText(unnamed: Bool) throws {
    let path = Path(bytes: Array(folder.path.utf8) + [0x2F, 0xFF, 0xFE, 0x2E])
    let output = try OutputFile(path: path, replaceExisting: true, unnamedFiles: unnamed)
    try output.write("x")
    try output.commit()
    #expect(SystemCalls.status(of: path)?.st_size == 1)
  }

  @Test(arguments: [true, false]) func longNames(unnamed: Bool) throws {
    let longest = String(repeating: "ä", count: 127) + "x"
    for content in ["first", "second"] {
      let output = try make(longest, unnamed: unnamed)
      try output.write(content)
      try output.commit()
      #expect(folder.content(longest) == content)
    }
    let error = failure { _ = try make(longest + "x", unnamed: unnamed) }
    #expect(error?.code == .cannotCreate)
    #expect(error?.message.contains("File name too long") == true)
  }

  // MARK: - Existing files

  @Test(arguments: [true, false], [0o644, 0o600, 0o664, 0o4711, 0o200] as [mode_t])
  func existingFileIsReplacedAndKeepsItsMode(unnamed: Bool, mode: mode_t) throws {
    folder.put("out.png", "old", mode: mode)
    let output = try make("out.png", unnamed: unnamed)
    try output.write("new content")
    #expect(folder.status("out.png").st_size == 3)
    try output.commit()
    #expect(folder.status("out.png").st_size == 11)
    #expect(folder.status("out.png").st_mode & 0o7777 == mode)
    #expect(folder.names == ["out.png"])
  }

  @Test(.enabled(if: geteuid() == 0), arguments: [true, false]) func ownerIsKept(unnamed: Bool) throws {
    folder.put("out.png", "old")
    #expect(chown(folder.text("out.png"), 1234, 4321) == 0)
    chmod(folder.text("out.png"), 0o6755)
    let output = try make("out.png", unnamed: unnamed)
    try output.write("new")
    try output.commit()
    let status = folder.status("out.png")
    #expect(status.st_uid == 1234)
    #expect(status.st_gid == 4321)
    #expect(status.st_mode & 0o7777 == 0o6755)
  }

  @Test(arguments: [true, false]) func fileBeingReplacedIsPrivateUntilThen(unnamed: Bool) throws {
    folder.put("secret", "old", mode: 0o600)
    let output = try make("secret", unnamed: false)
    for name in folder.names { #expect(folder.status(name).st_mode & 0o077 == 0) }
    try output.commit()
    #expect(folder.status("secret").st_mode & 0o7777 == 0o600)
    // And when the old one goes meanwhile, the result is an ordinary new file.
    let second = try make("secret", unnamed: unnamed)
    unlink(folder.text("secret"))
    try second.commit()
    #expect(folder.status("secret").st_mode & 0o7777 == 0o666 & ~CreationMask.current())
  }

  @Test(arguments: [true, false]) func readersOfTheOldFileKeepIt(unnamed: Bool) throws {
    // As when input and output are the same file.
    folder.put("same.jpg", "the input")
    let source = try BufferedSource(path: folder("same.jpg"))
    let output = try make("same.jpg", unnamed: unnamed)
    try output.write("the output")
    try output.commit()
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = try bytes.withUnsafeMutableBytes { try source.read(into: $0) }
    #expect(String(decoding: bytes[..<count], as: UTF8.self) == "the input")
    #expect(folder.content("same.jpg") == "the output")
  }

  @Test(arguments: [true, false]) func noReaderSeesAPart(unnamed: Bool) throws {
    let sizes = [200_000, 300_000]
    folder.put("seen", String(repeating: "a", count: sizes[0]))
    let path = folder.text("seen")
    let reader = BackgroundThread<(looks: Int, parts: Int)> { isStopped in
      var looks = 0
      var parts = 0
      while !isStopped() {
        let data = FileManager.default.contents(atPath: path)
        looks += 1
        let isWhole =
          data.map { [200_000, 300_000].contains($0.count) && $0.allSatisfy { [first = $0.first] in $0 == first } }
          ?? false
        if !isWhole { parts += 1 }
      }
      return (looks, parts)
    }
    for round in 0..<40 {
      let output = try make("seen", unnamed: unnamed)
      let letter = round % 2 == 0 ? "b" : "a"
      for _ in 0..<(sizes[1 - round % 2] / 10_000) { try output.write(String(repeating: letter, count: 10_000)) }
      try output.commit()
    }
    reader.cancel()
    let (looks, parts) = try #require(reader.value())
    #expect(looks > 0)
    #expect(parts == 0)
  }

  // MARK: - No clobber

  @Test(arguments: [true, false]) func noClobberRefusesBeforeAnyWork(unnamed: Bool) {
    folder.put("there", "old")
    let error = failure { _ = try make("there", unnamed: unnamed, replaceExisting: false) }
    #expect(error?.code == .cannotCreate)
    #expect(error?.message.contains("--no-clobber") == true)
    #expect(folder.names == ["there"])
  }

  @Test(arguments: [true, false]) func noClobberMakesNewFiles(unnamed: Bool) throws {
    let output = try make("new", unnamed: unnamed, replaceExisting: false)
    try output.write("new")
    try output.commit()
    #expect(folder.names == ["new"])
    #expect(folder.content("new") == "new")
  }

  @Test(arguments: [true, false]) func noClobberRefusesWhatCameMeanwhile(unnamed: Bool) throws {
    let output = try make("late", unnamed: unnamed, replaceExisting: false)
    try output.write("ours")
    folder.put("late", "theirs")
    #expect(failure { try output.commit() }?.code == .cannotCreate)
    #expect(folder.names == ["late"])
    #expect(folder.content("late") == "theirs")
  }

  @Test(arguments: [true, false]) func whatCameMeanwhileIsReplaced(unnamed: Bool) throws {
    let output = try make("late", unnamed: unnamed)
    try output.write("ours")
    folder.put("late", "theirs", mode: 0o640)
    try output.commit()
    #expect(folder.names == ["late"])
    #expect(folder.content("late") == "ours")
    #expect(folder.status("late").st_mode & 0o7777 == 0o640)
  }

  @Test(arguments: [true, false]) func manyWritersOneWinner(unnamed: Bool) async throws {
    let path = folder("contested")
    let wins = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<8 {
        group.addTask {
          do {
            let output = try OutputFile(path: path, replaceExisting: false, unnamedFiles: unnamed)
            try output.write(String(repeating: "\(number)", count: 1000))
            try output.commit()
            return true
          } catch { return false }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(wins == 1)
    #expect(folder.names == ["contested"])
    #expect(Set(folder.content("contested") ?? "").count == 1)
  }

  // MARK: - Links and folders

  @Test(arguments: [true, false]) func linksAreFollowed(unnamed: Bool) throws {
    mkdir(folder.text("far"), 0o755)
    folder.put("far/target", "old", mode: 0o640)
    symlink("far/middle", folder.text("link"))
    symlink("target", folder.text("far/middle"))
    let output = try make("link", unnamed: unnamed)
    try output.write("new")
    try output.commit()
    #expect(folder.content("far/target") == "new")
    #expect(folder.status("far/target").st_mode == S_IFREG | 0o640)
    #expect(folder.status("link").st_mode & S_IFMT == S_IFLNK)
    #expect(folder.status("far/middle").st_mode & S_IFMT == S_IFLNK)
    #expect(folder.names == ["far", "link"])
  }

  @Test(arguments: [true, false]) func danglingLinksMakeTheirTarget(unnamed: Bool) throws {
    mkdir(folder.text("far"), 0o755)
    symlink(folder.text("far/target"), folder.text("link"))
    let output = try make("link", unnamed: unnamed, replaceExisting: false)
    try output.write("new")
    try output.commit()
    #expect(folder.content("far/target") == "new")
    #expect(folder.status("link").st_mode & S_IFMT == S_IFLNK)
  }

  @Test(arguments: [true, false]) func impossibleNames(unnamed: Bool) {
    symlink("nowhere/at-all", folder.text("broken"))
    symlink("loop", folder.text("loop"))
    folder.put("file", "x")
    let cases = [
      ("missing/out.jpg", "does not exist"), ("broken", "does not exist"), (".", "is a folder"),
      ("missing/", "does not exist"), ("file/out.jpg", "Not a directory"), ("loop", "Too many levels"),
    ]
    for (name, cause) in cases {
      let error = failure { _ = try make(name, unnamed: unnamed) }
      #expect(error?.code == .cannotCreate)
      #expect(error?.message.contains(cause) == true, "\(name): \(error?.message ?? "no error")")
    }
    for path in [Path(""), Path(bytes: [0x61, 0, 0x62])] {
      #expect(failure { _ = try OutputFile(path: path) }?.code == .cannotCreate)
    }
  }

  @Test(arguments: [true, false]) func folderThatIsRenamedMeanwhile(unnamed: Bool) throws {
    mkdir(folder.text("before"), 0o755)
    let output = try make("before/out", unnamed: unnamed)
    try output.write("x")
    rename(folder.text("before"), folder.text("after"))
    try output.commit()
    #expect(folder.content("after/out") == "x")
  }

  @Test(.enabled(if: geteuid() != 0), arguments: [true, false]) func permissions(unnamed: Bool) {
    mkdir(folder.text("closed"), 0o555)
    #expect(failure { _ = try make("closed/out", unnamed: unnamed) }?.code == .cannotCreate)
    folder.put("protected", "x", mode: 0o444)
    #expect(failure { _ = try make("protected", unnamed: unnamed) }?.code == .cannotCreate)
    #expect(folder.content("protected") == "x")
    mkdir(folder.text("drop"), 0o333)
    #expect(
      failure {
        let output = try make("drop/out", unnamed: unnamed)
        try output.write("x")
        try output.commit()
      } == nil)
    chmod(folder.text("drop"), 0o755)
    #expect(folder.content("drop/out") == "x")
  }

  // MARK: - What is not a file

  @Test func devicesStayWhatTheyAre() throws {
    for replace in [true, false] {
      let output = try OutputFile(path: "/dev/null", replaceExisting: replace)
      try output.write(String(repeating: "x", count: 100_000))
      try output.commit()
      #expect(SystemCalls.status(of: "/dev/null")?.kind == S_IFCHR)
    }
    // Through a link as well.
    symlink("/dev/null", folder.text("link"))
    let output = try OutputFile(path: folder("link"))
    try output.commit()
    #expect(folder.status("link").st_mode & S_IFMT == S_IFLNK)
  }

  @Test func fullDevice() throws {
    let output = try OutputFile(path: "/dev/full")
    let error = failure {
      try output.write("x")
      try output.commit()
    }
    #expect(error?.code == .inputOutput)
    #expect(error?.message.contains("No space left on device") == true)
    #expect(failure { try output.write("more") } != nil)
    #expect(failure { try output.commit() } != nil)
  }

  @Test func fifo() throws {
    mkfifo(folder.text("fifo"), 0o600)
    let path = folder.text("fifo")
    let reader = BackgroundThread<Int> { _ in
      let descriptor = open(path, O_RDONLY)
      defer { close(descriptor) }
      return (try? FileHandle(fileDescriptor: descriptor).readToEnd()?.count) ?? -1
    }
    let output = try OutputFile(path: folder("fifo"))
    try output.write(String(repeating: "x", count: 300_000))
    try output.commit()
    #expect(reader.value() == 300_000)
    #expect(folder.status("fifo").st_mode & S_IFMT == S_IFIFO)
  }

  @Test func descriptors() throws {
    folder.put("open", "before ")
    let descriptor = open(folder.text("open"), O_WRONLY | O_APPEND)
    for output in [OutputFile(descriptor: descriptor), try OutputFile(path: Path("/dev/fd/\(descriptor)"))] {
      try output.write("x")
      try output.commit()
    }
    #expect(write(descriptor, "!", 1) == 1)
    close(descriptor)
    #expect(folder.content("open") == "before xx!")
    #expect(failure { _ = try OutputFile(path: "/dev/fd/987") }?.code == .cannotCreate)
  }

  @Test func closedPipe() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    close(ends[0])
    defer { close(ends[1]) }
    let output = OutputFile(descriptor: ends[1])
    let error = failure { try output.write(String(repeating: "x", count: 100_000)) }
    #expect(error?.code == .inputOutput)
    #expect(error?.message.contains("Broken pipe") == true)
  }

  @Test func nonBlockingPipe() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
    let readEnd = ends[0]
    let reader = BackgroundThread<Int> { _ in
      var total = 0
      var bytes = [UInt8](repeating: 0, count: 65_536)
      while true {
        usleep(1000)
        let count = read(readEnd, &bytes, bytes.count)
        if count <= 0 { return total }
        total += count
      }
    }
    let output = OutputFile(descriptor: ends[1])
    try output.write(String(repeating: "x", count: 1_000_000))
    try output.commit()
    close(ends[1])
    #expect(reader.value() == 1_000_000)
    close(readEnd)
  }

  // MARK: - Full disk

  @Test(.enabled(if: geteuid() == 0), arguments: [true, false]) func fullDisk(unnamed: Bool) throws {
    let disk = folder.text("disk")
    mkdir(disk, 0o755)
    // Not every root may mount: in a container this proves nothing, and says so.
    guard mount("none", disk, "tmpfs", 0, "size=256k") == 0 else { return }
    defer { umount2(disk, Int32(MNT_DETACH)) }
    folder.put("disk/old", "old")
    for name in ["old", "new"] {
      let output = try make("disk/\(name)", unnamed: unnamed)
      let error = failure {
        for _ in 0..<100 { try output.write(String(repeating: "x", count: 10_000)) }
        try output.commit()
      }
      #expect(error?.code == .inputOutput)
      #expect(error?.message.contains("No space left on device") == true)
      #expect(failure { try output.commit() } != nil)
      output.discard()
      #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == ["old"])
      #expect(folder.content("disk/old") == "old")
    }
  }

  // MARK: - Leftovers

  private static let leftover = ".out.jpg.downsample-4000000-0123456789abcdef"

  private func sweep() {
    let descriptor = open(folder.path, O_RDONLY)
    StaleNames.sweepNow(descriptor)
    close(descriptor)
  }

  @Test func nextRunSweeps() {
    folder.put(Self.leftover, "left by kill -9")
    folder.nextRun()
    #expect(folder.names == [])
  }

  @Test func onlyOurNamesAreSwept() {
    let others = [
      ".out.jpg.downsample-4000000-0123456789abcdeg", "out.jpg.downsample-4000000-0123456789abcdef",
      ".out.jpg.downsample--0123456789abcdef", ".out.jpg.downsample-40-0123456789abcde",
      ".out.jpg.downsample-4000000-0123456789abcdef.jpg", ".downsample-1-0123456789abcdef",
      ".out.jpg.Downsample-1-0123456789abcdef", ".out.jpg.downsample-x1-0123456789abcdef",
    ]
    for name in others { folder.put(name, "not ours") }
    mkdir(folder.text(".folder.downsample-4000000-0123456789abcdef"), 0o755)
    symlink("x", folder.text(".link.downsample-4000000-0123456789abcdef"))
    mkfifo(folder.text(".fifo.downsample-4000000-0123456789abcdef"), 0o600)
    let before = folder.names
    sweep()
    #expect(folder.names == before)
  }

  @Test func liveOutputsAreNotSwept() throws {
    let output = try make("live", unnamed: false)
    try output.write("x")
    sweep()
    #expect(folder.names.count == 1)
    try output.commit()
    #expect(folder.content("live") == "x")
  }

  @Test func temporaryNamesAreRecognised() {
    for name in ["a", "out.jpg", String(repeating: "é", count: 200), ".downsample-1-0123456789abcdef", "-", "ä"] {
      for process: Int32 in [1, 4_194_304, .max] {
        let made = TemporaryName.make(for: Path(name), process: process)
        #expect(made.bytes.withUnsafeBufferPointer { TemporaryName.matches($0) })
        #expect(made.bytes.count <= 143)
        #expect(String(validating: made.bytes, as: UTF8.self) != nil)
      }
    }
  }

  @Test func sweepingAndWritingAtOnce() throws {
    // Two hundred outputs at temporary names while another thread sweeps without pause: none may be lost.
    let path = folder.path
    let sweeper = BackgroundThread<Bool> { isStopped in
      let descriptor = open(path, O_RDONLY)
      while !isStopped() { StaleNames.sweepNow(descriptor) }
      close(descriptor)
      return true
    }
    for number in 0..<200 {
      let output = try make("out-\(number % 20)", unnamed: number % 2 == 0)
      try output.write("\(number)")
      try output.commit()
      #expect(folder.content("out-\(number % 20)") == "\(number)")
    }
    sweeper.cancel()
    #expect(sweeper.value() == true)
    #expect(folder.names.count == 20)
  }

  // MARK: - Signals

  @Test func pendingNamesAreRemoved() throws {
    // Its own folder and entry: other tests' entries are theirs, so the table is not emptied here.
    let descriptor = open(folder.path, O_RDONLY)
    defer { close(descriptor) }
    let entries = (0..<4).compactMap { PendingNames.arm(Path("x\($0)"), folder: descriptor) }
    #expect(entries.count == 4)
    entries.forEach(PendingNames.disarm)
    #expect(PendingNames.arm(Path(String(repeating: "x", count: 256)), folder: descriptor) == nil)
  }
}
