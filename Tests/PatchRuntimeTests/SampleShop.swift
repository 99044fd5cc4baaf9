import Synchronization

@testable import PatchRuntime

/// A cart as a host's own code has it.
final class Cart: PatchExposed {
    let most = Atomic(20)
    let counts = Locked<[Int]>([])

    var sum: Int { counts.withLock { $0.reduce(0, +) } }
}

enum CartError: Error, Equatable { case empty }

/// A host that exposes carts, and what its patches said and did wrong.
final class SampleShop: Sendable {
    let host: PatchHost
    let executor = ManualExecutor()
    private let said = Locked<[PatchLogLine]>([])
    private let noted = Locked<[PatchFailure]>([])

    let total = PatchMethod("total") { (cart: Cart) in cart.sum }
    let add = PatchMethod("add") { (cart: Cart, count: Int, name: String?) in
        cart.counts.withLock { $0.append(count) }
    }
    let price = PatchMethod("price") { (_: Cart, cents: Int) in cents * 2 }
    let check = PatchMethod("check") { (cart: Cart) in
        if cart.counts.withLock(\.isEmpty) { throw CartError.empty }
    }
    let echo = PatchMethod("echo") { (_: Cart, value: PatchValue) in value }
    let twice = PatchMethod("twice") { (_: Cart, work: PatchFunction) in
        try work()
        return try work()
    }
    let load = PatchAsyncMethod("load") { (_: Cart, id: String) async throws in
        if id == "none" { throw CartError.empty }
        return "cart \(id)"
    }
    let limit = PatchProperty(
        "limit",
        get: { (cart: Cart) in cart.most.load(ordering: .relaxed) },
        set: { $0.most.store($1, ordering: .relaxed) }
    )
    let greeting = PatchStaticMethod("greeting") { (name: String) in "hello \(name)" }

    init(_ change: (inout PatchHost.Settings) -> Void = { _ in }) throws {
        var settings = PatchHost.Settings()
        settings.executor = executor
        settings.log = { [said] line in said.withLock { $0.append(line) } }
        settings.failed = { [noted] failure in noted.withLock { $0.append(failure) } }
        change(&settings)
        host = PatchHost(settings)
        try host.expose("Cart", Cart.self) {
            total
            add
            price
            check
            echo
            twice
            load
            limit
            greeting
            PatchConstructor { (count: Int) in
                let cart = Cart()
                cart.counts.withLock { $0 = [count] }
                return cart
            }
        }
    }

    /// Runs texts as patches `first`, `second` and so on, in version 1.
    @discardableResult
    func run(_ texts: String...) -> [PatchScriptState] {
        let names = ["first", "second", "third", "fourth"]
        return host.run(zip(names, texts).map { PatchScript(id: $0, version: "1", $1) }).rows.map(\.state)
    }

    /// What patches said.
    var log: [PatchLogLine] { said.withLock { $0 } }
    var lines: [String] { log.map(\.text) }
    /// What they did wrong.
    var failures: [PatchFailure] { noted.withLock { $0 } }
}

/// A value behind a lock.
final class Locked<Value>: @unchecked Sendable {
    // Sendable: the value is used under the lock alone.
    private let lock = RecursiveLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}

/// Runs what is left for later when a test says so.
final class ManualExecutor: PatchExecutor {
    struct Work: Sendable {
        let queue: PatchQueue
        let delay: Duration
        let run: @Sendable () -> Void
    }

    private let work = Locked<[Work]>([])

    func run(on queue: PatchQueue, after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        self.work.withLock { $0.append(Work(queue: queue, delay: delay, run: work)) }
    }

    /// What waits: on which queue, and for how long.
    var waiting: [String] { work.withLock { $0.map { "\($0.queue) \($0.delay)" } } }

    func runAll() {
        let work = work.withLock { work in
            defer { work = [] }
            return work
        }
        for piece in work { piece.run() }
    }
}
