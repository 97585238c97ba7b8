import Downsample
import Foundation
import Testing

/// A pipe that gives `bytes` in uneven parts.
func pipeSource(_ bytes: [UInt8]) throws -> BufferedSource {
  var ends: [Int32] = [0, 0]
  try #require(pipe(&ends) == 0)
  let writeEnd = ends[1]
  Thread.detachNewThread {
    var rest = bytes[...]
    var step = 1
    while !rest.isEmpty {
      let part = Array(rest.prefix(step))
      if write(writeEnd, part, part.count) != part.count { break }
      rest = rest.dropFirst(part.count)
      step = step * 3 % 7919 + 1
    }
    close(writeEnd)
  }
  return try BufferedSource(descriptor: ends[0], closesDescriptor: true)
}
