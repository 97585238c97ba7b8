#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The one account in which every job reserves its bytes before it starts and frees them at its end, so that jobs that run
/// at once stay under one ceiling together. First come, first served: a job that waits is not overtaken by a smaller one.
/// Safe to use from any number of threads.
public final class Ledger: Sendable {
  /// Why bytes were not granted.
  public enum Refusal: Error, Sendable, Equatable {
    /// More than the ledger has in all, in bytes.
    case exceedsCapacity(capacity: Int)
    /// The bytes were not free in the time given.
    case timedOut
    /// The place in the queue was given up.
    case cancelled
  }

  /// Bytes that are reserved until this is released or let go.
  public final class Reservation: Sendable {
    /// Of the job, as given.
    public let name: String
    /// What it holds.
    public let bytes: Int
    private let ledger: Ledger
    private let number: Int

    fileprivate init(_ ledger: Ledger, number: Int, name: String, bytes: Int) {
      self.ledger = ledger
      self.number = number
      self.name = name
      self.bytes = bytes
    }

    /// Gives the bytes back. Again does nothing.
    public func release() { ledger.release(number) }

    deinit { release() }
  }

  /// Bytes that can be reserved in all.
  public let capacity: Int

  private struct Waiter {
    let number: Int
    let name: String
    let bytes: Int
    let resume: @Sendable (_ number: Int, Refusal?) -> Void
  }

  private struct State {
    var isGranted: [Int: (name: String, bytes: Int)] = [:]
    var reserved = 0
    var waiting: [Waiter] = []
    var lastNumber = 0
  }

  private let lock = Lock(State())

  /// - Parameter capacity: in bytes, 0 or more.
  public init(capacity: Int) {
    precondition(capacity >= 0)
    self.capacity = capacity
  }

  /// Bytes that are reserved now.
  public var reservedBytes: Int { lock.with { $0.reserved } }

  /// The jobs that hold bytes now, in the order in which they came.
  public var reservations: [(name: String, bytes: Int)] {
    lock.with { state in state.isGranted.sorted { $0.key < $1.key }.map(\.value) }
  }

  /// Jobs that wait now.
  public var waitingCount: Int { lock.with { $0.waiting.count } }

  /// A place in the queue.
  public struct Ticket: Sendable {
    fileprivate let ledger: Ledger
    fileprivate let number: Int

    /// Gives the place up: who waits is told `.cancelled`. Does nothing once the bytes were granted.
    public func cancel() { _ = ledger.withdraw(number, .cancelled) }
  }

  /// Reserves `bytes`, 0 or more, and blocks the calling thread until they are there.
  ///
  /// - Parameters:
  ///   - name: of the job, for whoever looks at the ledger.
  ///   - timeout: how long to wait at most; nil waits as long as it takes, zero does not wait.
  ///   - ticket: given the place in the queue before the wait begins, so that another thread can cancel it.
  ///   - isCancelled: asked every 20 ms while it waits, where it is given.
  /// - Throws: `Refusal`: at once where the ledger never has so many.
  public func reserve(
    _ bytes: Int, for name: String, timeout: Duration? = nil, ticket: (Ticket) -> Void = { _ in },
    isCancelled: (() -> Bool)? = nil
  ) throws(Refusal) -> Reservation {
    let gate = Gate()
    let number = try enter(bytes, name) { _, refusal in gate.open(refusal) }
    ticket(Ticket(ledger: self, number: number))
    if let refusal = wait(at: gate, for: number, timeout, isCancelled) { throw refusal }
    return Reservation(self, number: number, name: name, bytes: bytes)
  }

  /// Nil once the bytes are granted.
  private func wait(
    at gate: Gate, for number: Int, _ timeout: Duration?, _ isCancelled: (() -> Bool)?
  ) -> Refusal? {
    guard let isCancelled else { return gate.wait(timeout) ? gate.refusal : leave(number, .timedOut) }
    let slice = Duration.milliseconds(20)
    var left = timeout
    while !gate.wait(left.map { min($0, slice) } ?? slice) {
      if isCancelled() { return leave(number, .cancelled) }
      left = left.map { $0 - slice }
      if let left, left <= .zero { return leave(number, .timedOut) }
    }
    return gate.refusal
  }

  /// The same without waiting here, for whoever has another way to wait, such as a task: `completion` is called once, with
  /// the reservation or the refusal, on this thread before this returns, or on the thread that freed the bytes or cancelled.
  /// It should be short and not use the ledger.
  ///
  /// - Throws: `Refusal.exceedsCapacity`; `completion` is then not called.
  public func enqueue(
    _ bytes: Int, for name: String, completion: @escaping @Sendable (Result<Reservation, Refusal>) -> Void
  ) throws(Refusal) -> Ticket {
    let number = try enter(bytes, name) { number, refusal in
      if let refusal { return completion(.failure(refusal)) }
      completion(.success(Reservation(self, number: number, name: name, bytes: bytes)))
    }
    return Ticket(ledger: self, number: number)
  }

  /// Joins the queue; `resume` is called once, maybe before this returns.
  private func enter(
    _ bytes: Int, _ name: String, resume: @escaping @Sendable (_ number: Int, Refusal?) -> Void
  ) throws(Refusal) -> Int {
    precondition(bytes >= 0)
    guard bytes <= capacity else { throw .exceedsCapacity(capacity: capacity) }
    let (number, ready) = lock.with { state in
      state.lastNumber += 1
      state.waiting.append(Waiter(number: state.lastNumber, name: name, bytes: bytes, resume: resume))
      return (state.lastNumber, Self.grant(&state, capacity))
    }
    for waiter in ready { waiter.resume(waiter.number, nil) }
    return number
  }

  /// Grants what the first in the queue ask for, as far as there is enough.
  private static func grant(_ state: inout State, _ capacity: Int) -> [Waiter] {
    var granted: [Waiter] = []
    while let first = state.waiting.first, first.bytes <= capacity - state.reserved {
      state.waiting.removeFirst()
      state.reserved += first.bytes
      state.isGranted[first.number] = (first.name, first.bytes)
      granted.append(first)
    }
    return granted
  }

  /// Takes a waiter out of the queue and resumes it with the refusal; false when it does not wait any more.
  private func withdraw(_ number: Int, _ refusal: Refusal) -> Bool {
    let (found, ready) = lock.with { state -> (Waiter?, [Waiter]) in
      guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return (nil, []) }
      let waiter = state.waiting.remove(at: index)
      // Those behind it may fit now.
      return (waiter, Self.grant(&state, capacity))
    }
    found?.resume(number, refusal)
    for waiter in ready { waiter.resume(waiter.number, nil) }
    return found != nil
  }

  /// Ends the wait of a thread: the refusal, or nil when the bytes were granted in the last moment.
  private func leave(_ number: Int, _ refusal: Refusal) -> Refusal? { withdraw(number, refusal) ? refusal : nil }

  fileprivate func release(_ number: Int) {
    let ready = lock.with { state -> [Waiter] in
      guard let job = state.isGranted.removeValue(forKey: number) else { return [] }
      state.reserved -= job.bytes
      return Self.grant(&state, capacity)
    }
    for waiter in ready { waiter.resume(waiter.number, nil) }
  }
}

/// What a thread waits at until another opens it.
private final class Gate: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var isOpen = false
  private(set) var refusal: Ledger.Refusal?

  init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // Waiting must not follow when the clock is set.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func open(_ refusal: Ledger.Refusal?) {
    pthread_mutex_lock(mutex)
    self.refusal = refusal
    isOpen = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  /// False when the time ran out.
  func wait(_ timeout: Duration?) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard let timeout else {
      while !isOpen { pthread_cond_wait(condition, mutex) }
      return true
    }
    var end = timespec()
    clock_gettime(CLOCK_MONOTONIC, &end)
    let (seconds, attoseconds) = timeout.components
    let nanoseconds = Int64(end.tv_nsec) + attoseconds / 1_000_000_000
    let (sum, isTooLong) = Int64(end.tv_sec).addingReportingOverflow(seconds)
    end.tv_sec = isTooLong ? .max : Int(sum + nanoseconds / 1_000_000_000)
    end.tv_nsec = Int(nanoseconds % 1_000_000_000)
    while !isOpen {
      if pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT { return isOpen }
    }
    return true
  }
}
