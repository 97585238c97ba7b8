import CPictures
import Codecs
import Foundation
import Raster
import Synchronization
import TestPictures
import Testing

@testable import Downsample

@Suite struct CancellationTests {
  let folder = TemporaryFolder()

  static let picture = Picture(CPIC_PHOTO, 1300, 1000).jpeg()

  @Test func cancelledBefore() {
    let cancellation = Cancellation()
    cancellation.cancel()
    #expect(cancellation.isCancelled)
    let error = #expect(throws: DownsampleError.self) {
      try Downsampler.run(
        .bytes(Self.picture), request: Request(memory: .ample), to: .path(folder("out")), cancellation: cancellation)
    }
    #expect(error?.code == .cancelled && folder.names.isEmpty)
  }

  /// By the progress it makes: in the middle, on the thread that does the work.
  @Test(arguments: [1, 2]) func cancelledInTheMiddle(threads: Int) {
    let cancellation = Cancellation()
    let last = Mutex(RowProgress(completedRows: 0, totalRows: 0))
    let error = #expect(throws: DownsampleError.self) {
      try Downsampler.run(
        .bytes(Self.picture), request: Request(maxPixelSize: 1200, threads: threads, memory: .ample),
        to: .path(folder("out")), cancellation: cancellation
      ) { progress in
        last.withLock { $0 = progress }
        if progress.fractionCompleted > 0.4 { cancellation.cancel() }
      }
    }
    #expect(error?.code == .cancelled && folder.names.isEmpty)
    #expect(last.withLock { $0.fractionCompleted < 0.6 })
  }

  @Test func byAFunctionThatIsAsked() {
    let count = Mutex(0)
    let cancellation = Cancellation(polling: {
      count.withLock {
        $0 += 1
        return $0 > 1
      }
    })
    let error = #expect(throws: DownsampleError.self) {
      while true {
        _ = try Downsampler.bytes(
          of: .bytes(Self.picture), request: Request(maxPixelSize: 900, memory: .ample), cancellation: cancellation)
      }
    }
    #expect(error?.code == .cancelled)
    // Once it has said so it is not asked again.
    #expect(cancellation.isCancelled && count.withLock { $0 == 2 })
  }

  @Test func waitingForOthers() throws {
    let ledger = Ledger(capacity: 40 << 20)
    let held = try ledger.reserve(39 << 20, for: "another")
    let cancellation = Cancellation()
    let start = Date()
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.1) { cancellation.cancel() }
    let error = #expect(throws: DownsampleError.self) {
      _ = try Downsampler.bytes(
        of: .bytes(Self.picture), request: Request(memory: .ample, ledger: ledger), cancellation: cancellation)
    }
    #expect(error?.code == .cancelled && Date().timeIntervalSince(start) >= 0.1)
    #expect(ledger.waitingCount == 0)
    held.release()
    #expect(ledger.reservedBytes == 0)
  }

  @Test func aPipeThatBringsNothing() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let cancellation = Cancellation()
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { cancellation.cancel() }
    let error = #expect(throws: DownsampleError.self) {
      _ = try Downsampler.bytes(
        of: .descriptor(ends[0]), request: Request(memory: .ample), cancellation: cancellation)
    }
    #expect(error?.code == .cancelled)
  }

  private static let unreadable = [
    "input FIFO", "output FIFO", "full pipe", "full pipe that does not block", "full socket",
  ]

  /// Whatever waits for another end that never comes.
  @Test(arguments: unreadable, [false, true]) func nobodyAtTheOtherEnd(_ what: String, byDeadline: Bool) throws {
    #expect(mkfifo(folder.text("fifo"), 0o600) == 0)
    var ends: [Int32] = [0, 0]
    #expect(what == "full socket" ? socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 : pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let mode = fcntl(ends[1], F_GETFL)
    #expect(fcntl(ends[1], F_SETFL, mode | O_NONBLOCK) == 0)
    let block = [UInt8](repeating: 0, count: 4096)
    while write(ends[1], block, block.count) > 0 {}
    if what != "full pipe that does not block" { #expect(fcntl(ends[1], F_SETFL, mode) == 0) }

    let source: ImageSource = what == "input FIFO" ? .path(folder("fifo")) : .bytes(Self.picture)
    let destination: ImageDestination =
      what == "input FIFO"
      ? .bytes(EncodedBytes()) : what == "output FIFO" ? .path(folder("fifo")) : .descriptor(ends[1])
    let cancellation = Cancellation()
    var request = Request(memory: .ample)
    if byDeadline {
      request.deadline = .milliseconds(100)
    } else {
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.1) { cancellation.cancel() }
    }
    let error = #expect(throws: DownsampleError.self) {
      try Downsampler.run(source, request: request, to: destination, cancellation: cancellation)
    }
    #expect(error?.code == (byDeadline ? .deadlinePassed : .cancelled))
  }

  /// Somebody comes in the end.
  @Test(arguments: [false, true]) func aFIFOIsWaitedFor(isInput: Bool) throws {
    #expect(mkfifo(folder.text("fifo"), 0o600) == 0)
    let expected = try Downsampler.bytes(of: .bytes(Self.picture), request: Request(maxPixelSize: 500, memory: .ample))
    let name = folder.text("fifo")
    let read = Mutex<[UInt8]>([])
    let other = Thread {
      Thread.sleep(forTimeInterval: 0.1)
      if isInput {
        let handle = FileHandle(forWritingAtPath: name)
        handle?.write(Data(Self.picture))
        try? handle?.close()
      } else {
        let data = FileHandle(forReadingAtPath: name)?.readDataToEndOfFile() ?? Data()
        read.withLock { $0 = Array(data) }
      }
    }
    other.start()
    let request = Request(maxPixelSize: 500, memory: .ample, deadline: .seconds(60))
    if isInput {
      #expect(try Downsampler.bytes(of: .path(folder("fifo")), request: request) == expected)
    } else {
      try Downsampler.run(.bytes(Self.picture), request: request, to: .path(folder("fifo")))
    }
    while !other.isFinished { Thread.sleep(forTimeInterval: 0.001) }
    if !isInput { #expect(read.withLock { $0 } == expected) }
  }

  @Test(arguments: [Picture(CPIC_PHOTO, 300, 250).jpeg(), Picture(CPIC_PHOTO, 301, 251).png { $0.interlaced = true }])
  func progress(file: [UInt8]) throws {
    let all = Mutex<[RowProgress]>([])
    try Downsampler.run(
      .bytes(file), request: Request(maxPixelSize: 250, memory: .ample), to: .bytes(EncodedBytes())
    ) { progress in all.withLock { $0.append(progress) } }
    let told = all.withLock { $0 }
    #expect(told.count > 50 && told.count <= 101)
    #expect(
      zip(told, told.dropFirst()).allSatisfy { $0.completedRows < $1.completedRows && $0.totalRows == $1.totalRows })
    #expect(told.last?.fractionCompleted == 1 && told[told.count / 2].fractionCompleted < 0.7)
  }

  // MARK: Without blocking

  @Test func withoutBlocking() async throws {
    let request = Request(maxPixelSize: 100, memory: .ample)
    let collector = EncodedBytes()
    let report = try await Downsampler.run(.bytes(Self.picture), request: request, to: .bytes(collector))
    #expect(report.output.size.longEdge == 100)
    let blocking = { () throws(Raster.DownsampleError) in
      try Downsampler.bytes(of: .bytes(Self.picture), request: request)
    }
    #expect(try blocking() == collector.array)
    #expect(try await Downsampler.bytes(of: .bytes(Self.picture), request: request) == collector.array)
  }

  @Test func withItsTask() async throws {
    let ledger = Ledger(capacity: 40 << 20)
    let held = try ledger.reserve(39 << 20, for: "another")
    let task = Task {
      try await Downsampler.bytes(of: .bytes(Self.picture), request: Request(memory: .ample, ledger: ledger))
    }
    while ledger.waitingCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    let result = await task.result
    #expect(throws: DownsampleError.self) { try result.get() }
    if case .failure(let error as Raster.DownsampleError) = result { #expect(error.code == .cancelled) }
    held.release()
  }
}
