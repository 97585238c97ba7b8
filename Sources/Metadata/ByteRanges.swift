/// A set of byte offsets, as ranges in ascending order that do not touch.
struct ByteRanges {
  private(set) var ranges: [Range<Int>] = []

  init(_ ranges: [Range<Int>]) {
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = self.ranges.last, range.lowerBound <= last.upperBound {
        self.ranges[self.ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        self.ranges.append(range)
      }
    }
  }

  func overlaps(_ range: Range<Int>) -> Bool {
    // The first that ends behind the range's beginning.
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound <= range.lowerBound { low = middle + 1 } else { high = middle }
    }
    return !range.isEmpty && low < ranges.count && ranges[low].lowerBound < range.upperBound
  }

  func subtracting(_ other: ByteRanges) -> ByteRanges {
    var result: [Range<Int>] = []
    var next = 0
    for range in ranges {
      var start = range.lowerBound
      while next < other.ranges.count, other.ranges[next].upperBound <= start { next += 1 }
      var i = next
      while i < other.ranges.count, other.ranges[i].lowerBound < range.upperBound {
        if other.ranges[i].lowerBound > start { result.append(start..<other.ranges[i].lowerBound) }
        start = max(start, other.ranges[i].upperBound)
        i += 1
      }
      if start < range.upperBound { result.append(start..<range.upperBound) }
    }
    return ByteRanges(result)
  }

  func union(_ other: ByteRanges) -> ByteRanges { ByteRanges(ranges + other.ranges) }
}
