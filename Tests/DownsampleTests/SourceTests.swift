import Codecs
import Foundation
import Raster
import Testing

@testable import Downsample

extension ByteSource {
  fileprivate func peek(_ count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = try bytes.withUnsafeMutableBytes { try peek(into: $0) }
    return Array(bytes[..<got])
  }

  fileprivate func read(_ count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = try bytes.withUnsafeMutableBytes { try read(into: $0) }
    return Array(bytes[..<got])
  }

  fileprivate func read(_ count: Int, at offset: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset) }
    return Array(bytes[..<got])
  }

  fileprivate func readAll(by count: Int) throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let part = try read(count)
      if part.isEmpty { return all }
      all += part
    }
  }
}

@Suite struct SourceTests {
  let folder = TemporaryFolder()
  static let content = (0..<100_003).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7) }

  enum Kind: CaseIterable { case file, memory, borrowed, pipe, seekablePipe }

  private func put(_ name: String, _ bytes: [UInt8]) {
    try! Data(bytes).write(to: URL(fileURLWithPath: folder.text(name)))
  }

  private func source(_ kind: Kind, _ bytes: [UInt8]) throws -> any ByteSource {
    switch kind {
    case .file:
      put("file", bytes)
      return try BufferedSource(path: folder("file"))
    case .memory:
      return MemorySource(bytes)
    case .borrowed:
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
      copy.copyBytes(from: bytes)
      return MemorySource(borrowing: UnsafeRawBufferPointer(copy))
    case .pipe:
      return try pipeSource(bytes)
    case .seekablePipe:
      let source = try pipeSource(bytes)
      _ = try source.peek(100)
      try source.makeSeekable()
      return source
    }
  }

  @Test(arguments: Kind.allCases, [1, 4, 1000, 4096, 16_383, 16_384, 200_000])
  func everyByteInOrder(kind: Kind, block: Int) throws {
    if block == 1 {
      #expect(try source(kind, Array(Self.content[..<5000])).readAll(by: 1) == Array(Self.content[..<5000]))
    } else {
      #expect(try source(kind, Self.content).readAll(by: block) == Self.content)
    }
  }

  @Test(arguments: Kind.allCases) func peekDoesNotMoveOn(kind: Kind) throws {
    let source = try source(kind, Self.content)
    #expect(try source.peek(12) == Array(Self.content[..<12]))
    #expect(try source.peek(4096) == Array(Self.content[..<4096]))
    #expect(try source.peek(9000) == Array(Self.content[..<4096]))
    #expect(try source.read(10) == Array(Self.content[..<10]))
    #expect(try source.peek(4096) == Array(Self.content[10..<4106]))
    #expect(try source.peek(0) == [])
    #expect(try source.read(0) == [])
    #expect(try source.readAll(by: 70_000) == Array(Self.content[10...]))
    #expect(try source.peek(4096) == [])
    #expect(try source.read(10) == [])
  }

  @Test(arguments: Kind.allCases) func peekNearTheEndOfTheReadAhead(kind: Kind) throws {
    let source = try source(kind, Self.content)
    var position = 0
    while position < Self.content.count {
      let seen = try source.peek(4096)
      #expect(seen == Array(Self.content[position..<min(position + 4096, Self.content.count)]))
      position += try source.read(3001).count
    }
  }

  @Test(arguments: Kind.allCases) func emptyInput(kind: Kind) throws {
    let source = try source(kind, [])
    #expect(try source.peek(10) == [])
    try source.makeSeekable()
    #expect(source.byteCount == 0)
    #expect(try source.read(10) == [])
    #expect(try source.read(10, at: 0) == [])
  }

  @Test(arguments: Kind.allCases) func randomAccess(kind: Kind) throws {
    let source = try source(kind, Self.content)
    if kind == .pipe { #expect(source.byteCount == nil) }
    try source.makeSeekable()
    try source.makeSeekable()
    #expect(source.byteCount == Self.content.count)
    #expect(try source.read(100, at: 50_000) == Array(Self.content[50_000..<50_100]))
    #expect(try source.read(100) == Array(Self.content[..<100]))
    #expect(try source.read(100, at: 100_000) == Array(Self.content[100_000...]))
    #expect(try source.read(100, at: 100_003) == [])
    #expect(try source.read(100, at: .max) == [])
    #expect(throws: DownsampleError.self) { try source.read(100, at: -1) }
    #expect(try source.readAll(by: 7000) == Array(Self.content[100...]))
  }

  @Test func aPipeIsSequential() throws {
    let source = try pipeSource(Self.content)
    #expect(throws: DownsampleError.self) { try source.read(1, at: 0) }
    _ = try source.read(1)
    #expect(throws: DownsampleError.self) { try source.makeSeekable() }
  }

  @Test func standardInputThatIsAFileBeginsWhereItStands() throws {
    put("file", Self.content)
    let descriptor = open(folder.text("file"), O_RDONLY)
    defer { close(descriptor) }
    lseek(descriptor, 1000, SEEK_SET)
    let source = try BufferedSource(descriptor: descriptor)
    #expect(source.byteCount == Self.content.count - 1000)
    #expect(try source.read(10, at: 5) == Array(Self.content[1005..<1015]))
    #expect(try source.readAll(by: 5000) == Array(Self.content[1000...]))
  }

  @Test func whatCannotBeRead() {
    let cases = [
      (folder(""), "is a folder"), (folder("missing"), "No such file"), (Path(""), "No such file"),
      (Path(bytes: [0x61, 0, 0x62]), "No such file"),
    ]
    for (path, cause) in cases {
      do {
        _ = try BufferedSource(path: path)
        Issue.record("\(path) was opened")
      } catch {
        #expect(error.code == .noInput)
        #expect(error.message.contains(cause), "\(error.message)")
      }
    }
    #expect(throws: DownsampleError.self) { try BufferedSource(descriptor: 987) }
    #expect(throws: DownsampleError.self) { try BufferedSource(descriptor: -1, closesDescriptor: true) }
  }

  @Test func readErrors() throws {
    // A descriptor for writing only: the read fails with EBADF.
    put("file", Self.content)
    let source = try BufferedSource(descriptor: open(folder.text("file"), O_WRONLY), closesDescriptor: true)
    do {
      _ = try source.peek(4)
      Issue.record("read from a descriptor for writing")
    } catch {
      #expect((error as? Raster.DownsampleError)?.code == .inputOutput)
    }
  }

  @Test func aFileThatShrinksOrGrows() throws {
    put("file", Self.content)
    let source = try BufferedSource(path: folder("file"))
    _ = try source.read(20_000)
    truncate(folder.text("file"), 30_000)
    #expect(try source.readAll(by: 8192).count <= 32_768 - 20_000)
    #expect(try source.read(10, at: 40_000) == [])
    put("other", [1, 2, 3])
    let growing = try BufferedSource(path: folder("other"))
    #expect(try growing.readAll(by: 10) == [1, 2, 3])
    let descriptor = open(folder.text("other"), O_WRONLY | O_APPEND)
    #expect(write(descriptor, [4] as [UInt8], 1) == 1)
    close(descriptor)
    #expect(try growing.read(10) == [4])
    #expect(growing.byteCount == 3)
  }

  @Test func aFIFO() throws {
    mkfifo(folder.text("fifo"), 0o600)
    let path = folder.text("fifo")
    Thread.detachNewThread { try? Data(Self.content).write(to: URL(fileURLWithPath: path), options: []) }
    // Foundation replaces a FIFO by a file when it writes atomically; without options it writes into it.
    let source = try BufferedSource(path: folder("fifo"))
    #expect(source.byteCount == nil)
    try source.makeSeekable()
    #expect(try source.readAll(by: 4096) == Self.content)
  }

  @Test func nonBlockingInput() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    #expect(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
    let writeEnd = ends[1]
    Thread.detachNewThread {
      usleep(50_000)
      _ = write(writeEnd, "late", 4)
      close(writeEnd)
    }
    let source = try BufferedSource(descriptor: ends[0], closesDescriptor: true)
    #expect(try source.readAll(by: 10) == Array("late".utf8))
  }

  @Test func temporaryFilesHaveNoName() throws {
    let file = try TemporaryFile()
    #expect(SystemCalls.status(of: file.descriptor)?.st_nlink == 0)
  }

  @Test func fileSystemsAreTold() {
    #expect(FileSystemKind(device: SystemCalls.status(of: "/proc")!.st_dev).name == "proc")
    #expect(FileSystemKind(device: dev_t.max).name == nil)
    #expect(!FileSystemKind(device: SystemCalls.status(of: "/proc")!.st_dev).isInMemory)
  }

  @Test func paths() {
    #expect(Path("a/b").folder == "a")
    #expect(Path("b").folder == ".")
    #expect(Path("/b").folder == "/")
    #expect(Path("a/b/").lastComponent == "")
    #expect(Path("a/b.jpg").lastComponent == "b.jpg")
    #expect(Path("a").appending("b") == "a/b")
    #expect(Path("a/").appending("b") == "a/b")
    #expect(Path("a").appending("/b") == "/b")
    #expect(Path("a.b/photo.x.JPG").stem == "photo.x")
    #expect(Path("a.b/photo.x.JPG").fileExtension == "jpg")
    #expect(Path("a.b/photo").fileExtension == nil)
    #expect(Path(".hidden").fileExtension == nil)
    #expect(Path(".hidden").stem == ".hidden")
    #expect(Path("photo.").fileExtension == "")
    #expect(folder("").isFolder)
    #expect(!folder("missing").isFolder)
    #expect(Path(bytes: [0xFF]).description == "\u{FFFD}")
  }
}
