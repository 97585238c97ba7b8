import Foundation
import Synchronization
import Testing

@testable import Budget

private final class Shared<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(_ value: Value) { self.value = Mutex(value) }

  var now: Value { value.withLock { $0 } }
  func change(_ body: (inout sending Value) -> Void) { value.withLock { body(&$0) } }
}

@Suite(.timeLimit(.minutes(1))) struct LedgerTests {
  @Test func reservesAndFrees() throws {
    let ledger = Ledger(capacity: 100)
    let first = try ledger.reserve(60, for: "a")
    #expect(ledger.reservedBytes == 60)
    #expect(ledger.reservations.map(\.name) == ["a"])
    #expect(throws: Ledger.Refusal.timedOut) { try ledger.reserve(41, for: "b", timeout: .zero) }
    let second = try ledger.reserve(40, for: "c", timeout: .zero)
    first.release()
    first.release()
    #expect(ledger.reservedBytes == 40)
    _ = second
  }

  @Test func frees() throws {
    let ledger = Ledger(capacity: 10)
    do { _ = try ledger.reserve(10, for: "a") }
    #expect(ledger.reservedBytes == 0)
  }

  @Test func refusesWhatNeverFits() {
    #expect(throws: Ledger.Refusal.exceedsCapacity(capacity: 10)) { try Ledger(capacity: 10).reserve(11, for: "a") }
  }

  @Test func timesOut() throws {
    let ledger = Ledger(capacity: 10)
    let held = try ledger.reserve(10, for: "a")
    let clock = ContinuousClock()
    let waited = clock.measure {
      #expect(throws: Ledger.Refusal.timedOut) { try ledger.reserve(1, for: "b", timeout: .milliseconds(60)) }
    }
    #expect(waited >= .milliseconds(60))
    #expect(ledger.waitingCount == 0)
    held.release()
  }

  /// A small job that came later waits behind a large one, and goes when that one gives up.
  @Test func firstComeFirstServed() throws {
    let ledger = Ledger(capacity: 10)
    let held = try ledger.reserve(6, for: "held")
    let order = Shared<[String]>([])
    let kept = Shared<[Ledger.Reservation]>([])
    func queue(_ bytes: Int, _ name: String) throws -> Ledger.Ticket {
      try ledger.enqueue(bytes, for: name) { result in
        switch result {
        case .success(let reservation):
          order.change { $0.append(name) }
          kept.change { $0.append(reservation) }
        case .failure(let refusal): order.change { $0.append("\(name) \(refusal)") }
        }
      }
    }
    _ = try queue(8, "large")
    _ = try queue(2, "small")
    #expect(order.now == [] && ledger.waitingCount == 2)
    held.release()
    #expect(order.now == ["large", "small"])
    #expect(ledger.reservations.map(\.name) == ["large", "small"])
    kept.change { $0 = [] }
    #expect(ledger.reservedBytes == 0)

    let again = try ledger.reserve(6, for: "again")
    let large = try queue(8, "large")
    _ = try queue(2, "small")
    large.cancel()
    large.cancel()
    #expect(order.now.suffix(2).sorted() == ["large cancelled", "small"])
    again.release()
    kept.change { $0 = [] }
    #expect(ledger.reservedBytes == 0 && ledger.waitingCount == 0)
  }

  @Test func cancelling() throws {
    let ledger = Ledger(capacity: 1)
    let held = try ledger.reserve(1, for: "held")
    #expect(throws: Ledger.Refusal.cancelled) {
      try ledger.reserve(1, for: "b") { ticket in
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.03) { ticket.cancel() }
      }
    }
    #expect(ledger.waitingCount == 0 && ledger.reservedBytes == 1)
    held.release()
    #expect(ledger.reservedBytes == 0)
  }

  @Test func manyThreads() {
    let ledger = Ledger(capacity: 1000)
    let most = Shared(0)
    DispatchQueue.concurrentPerform(iterations: 16) { thread in
      for i in 0..<400 {
        let bytes = (thread * 131 + i * 37) % 700
        guard
          let reservation = try? ledger.reserve(bytes, for: "\(thread)", timeout: i % 3 == 0 ? .milliseconds(1) : nil)
        else { continue }
        let now = ledger.reservedBytes
        most.change { $0 = max($0, now) }
        reservation.release()
      }
    }
    #expect(ledger.reservedBytes == 0 && ledger.waitingCount == 0)
    #expect(most.now <= 1000)
  }
}
