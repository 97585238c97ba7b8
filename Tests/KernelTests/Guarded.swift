import Glibc

/// Memory for exactly `count` elements, ended by a page that may not be touched: whoever reads or writes beyond the end is
/// killed. What lies before the beginning is checked at the end.
final class Guarded<Element> {
  let pointer: UnsafeMutablePointer<Element>
  let count: Int
  private let mapping: UnsafeMutableRawPointer
  private let mappedBytes: Int

  init(_ count: Int) {
    self.count = count
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let bytes = count * MemoryLayout<Element>.stride
    let usable = (bytes + 64 + page - 1) / page * page
    mappedBytes = usable + page
    guard
      let memory = mmap(nil, mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      memory != MAP_FAILED, mprotect(memory + usable, page, PROT_NONE) == 0
    else { fatalError("no memory to test with") }
    mapping = memory
    memset(memory, 0xA5, usable)
    pointer = (memory + usable - bytes).assumingMemoryBound(to: Element.self)
  }

  convenience init(_ elements: [Element]) {
    self.init(elements.count)
    pointer.update(from: elements, count: elements.count)
  }

  var elements: [Element] { Array(UnsafeBufferPointer(start: pointer, count: count)) }

  /// Whether the 64 bytes before the beginning are as they were.
  var isIntactBefore: Bool {
    UnsafeRawBufferPointer(start: UnsafeRawPointer(pointer) - 64, count: 64).allSatisfy { $0 == 0xA5 }
  }

  deinit { munmap(mapping, mappedBytes) }
}

/// Keeps guarded inputs until the end of a test.
final class Inputs {
  private var kept: [AnyObject] = []

  func holding<Element>(_ elements: [Element]) -> UnsafeMutablePointer<Element> {
    let memory = Guarded(elements)
    kept.append(memory)
    return memory.pointer
  }

  /// Pointers to planes, as the kernels take them.
  func holding<Element>(planes: [[Element]]) -> [UnsafePointer<Element>?] {
    planes.map { UnsafePointer(holding($0)) }
  }

  func free() { kept = [] }
}
