import Budget
import Testing

@Suite struct ByteCountTests {
  @Test(arguments: [
    ("120MB", 120 << 20), ("64MiB", 64 << 20), ("64 mib", 64 << 20), ("1.5g", 3 << 29), ("4096", 4096), ("10k", 10240),
    ("7B", 7), ("2TiB", 2 << 40), ("120M", 120 << 20), ("1KB", 1024),
  ])
  func sizes(text: String, bytes: Int) { #expect(ByteCount.parse(text) == bytes) }

  @Test(arguments: [
    "", "MB", "12X", "-1", "+1", "0", "1.5", "1.5.5MB", ".5MB", "5.MB", "12 34", "1e3", "12MBB", "12ib", "12BB",
    "9999999TB",
    "0.0000001K", "1,5MB", "١MB",
  ])
  func noSizes(text: String) { #expect(ByteCount.parse(text) == nil) }

  @Test func descriptions() {
    #expect(ByteCount.describe(900) == "900 bytes")
    #expect(ByteCount.describe(1025) == "2 KB")
    #expect(ByteCount.describe(2_411_724) == "2.3 MB")
    #expect(ByteCount.describe(2_411_725) == "2.4 MB")
    #expect(ByteCount.describe((142 << 20) + 1) == "143 MB")
  }
}
