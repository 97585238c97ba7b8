import Testing

@testable import DownsampleC

/// A struct of which the first version ended after `first`, and of which a later one may go on after `second`.
private struct Grown: SizedStruct {
  var size = 0
  var first: Int64 = 0
  var second: Int64 = 0

  static var firstSize: Int { 16 }
  static var defaults: Grown { Grown(first: 10, second: 20) }
}

@Suite struct SizedStructTests {
  /// 64 bytes that begin with a size, and then hold 0x7F each.
  private func withProgram<Result>(
    size: Int, _ body: (UnsafeMutablePointer<Grown>, UnsafeMutableRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 8)
    defer { memory.deallocate() }
    for index in memory.indices { memory[index] = 0x7F }
    memory.storeBytes(of: size, as: Int.self)
    return try body(memory.baseAddress!.assumingMemoryBound(to: Grown.self), memory)
  }

  private static let filled: Int64 = 0x7F7F_7F7F_7F7F_7F7F

  @Test func anOlderProgramGetsDefaults() throws {
    try withProgram(size: 16) { program, _ in
      let value = try Grown.read(program)
      #expect(value.first == Self.filled)
      #expect(value.second == 20)
    }
    try withProgram(size: 20) { program, _ in
      // Half a field: none of it can be what the program means, but nothing beyond it is read.
      let value = try Grown.read(program)
      #expect(value.second & 0xFFFF_FFFF == 0x7F7F_7F7F)
      #expect(value.second >> 32 == 0)
    }
  }

  @Test func aNewerProgramIsReadAsFarAsItIsKnown() throws {
    try withProgram(size: 64) { program, _ in
      let value = try Grown.read(program)
      #expect(value.first == Self.filled)
      #expect(value.second == Self.filled)
    }
  }

  @Test(arguments: [(16, 16), (24, 24), (64, 24)]) func onlyWhatFitsIsWritten(size: Int, written: Int) throws {
    try withProgram(size: size) { program, memory in
      try Grown(size: 1, first: 0, second: 0).write(to: program)
      #expect(memory.loadUnaligned(as: Int.self) == size)
      #expect(memory[8..<written].allSatisfy { $0 == 0 })
      #expect(memory[written...].allSatisfy { $0 == 0x7F })
    }
  }

  @Test(arguments: [0, 1, 15, 4097, Int.max, -1, Int.min]) func noSize(size: Int) {
    withProgram(size: size) { program, memory in
      let text =
        "struct_size of a Grown is \(UInt(bitPattern: size)); it takes 16 to 4096: set it by GROWN_INIT"
      #expect { try Grown.read(program) } throws: { "\($0)" == text }
      #expect { try Grown.defaults.write(to: program) } throws: { "\($0)" == text }
      #expect(memory[8...].allSatisfy { $0 == 0x7F })
    }
  }

  @Test func null() {
    #expect(throws: (any Error).self) { try Grown.read(nil) }
    #expect(throws: (any Error).self) { try Grown.defaults.write(to: nil) }
  }
}
