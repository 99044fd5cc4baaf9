import PatchRuntime
import Synchronization
import CommandKit

/// A host for trying patches: a shop's cart with a wrong total.
final class SampleHost: Sendable {
    /// A line of a cart.
    ///
    /// Prices are in whole cents.
    struct Line: Sendable {
        let price: Int
        let count: Int
    }

    final class CartController: PatchExposed {
        let lines = [Line(price: 333, count: 3), Line(price: 1_000, count: 1)]
    }

    let host: PatchHost
    let cart = CartController()
    private let later: LaterWork

    /// The bug: the discount of ten per cent is rounded for each piece instead of for each line.
    let total = PatchMethod("total") { (cart: CartController) in
        cart.lines.reduce(0) { $0 + ($1.price - ($1.price + 5) / 10) * $1.count }
    }
    let count = PatchMethod("count") { (cart: CartController) in cart.lines.count }
    let price = PatchMethod("price") { (cart: CartController, line: Int) throws in
        guard cart.lines.indices.contains(line) else { throw NoSuchLine(line: line) }
        return cart.lines[line].price
    }
    let pieces = PatchMethod("pieces") { (cart: CartController, line: Int) throws in
        guard cart.lines.indices.contains(line) else { throw NoSuchLine(line: line) }
        return cart.lines[line].count
    }

    struct NoSuchLine: Error, CustomStringConvertible {
        let line: Int
        var description: String { "there is no line \(line)" }
    }

    /// - Parameters:
    ///   - output: Receives the console output of scripts.
    ///   - failed: Called for each failure, including later ones.
    init(
        output: Console = .standardOutput,
        failed: @escaping @Sendable (PatchFailure) -> Void = { _ in }
    ) throws(PatchCallError) {
        later = LaterWork()
        var settings = PatchHost.Settings()
        settings.executor = later
        settings.log = { line in output.line(printable("\(line.patch ?? "?"): \(line.text)")) }
        settings.failed = failed
        host = PatchHost(settings)
        try host.expose("CartController", CartController.self) {
            total
            count
            price
            pieces
            PatchConstructor { CartController() }
        }
    }

    /// Waits until scripts have no pending work, or until a time limit.
    ///
    /// - Returns: Whether no work is pending.
    func settle() async -> Bool { await later.settle() }
}

/// Runs the delayed work of scripts, and tracks whether any is pending.
private final class LaterWork: PatchExecutor {
    private static let longest = Duration.seconds(10)
    private let (ends, end) = AsyncStream.makeStream(of: Void.self)
    private let left = Mutex(0)

    func run(on queue: PatchQueue, after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        left.withLock { $0 += 1 }
        TaskExecutor().run(on: queue, after: delay) { [self] in
            work()
            left.withLock { $0 -= 1 }
            end.yield()
        }
    }

    func settle() async -> Bool {
        await withTaskGroup { group in
            group.addTask { [self] in
                var changes = ends.makeAsyncIterator()
                while left.withLock({ $0 }) > 0, await changes.next() != nil {}
                return left.withLock { $0 } == 0
            }
            group.addTask {
                try? await Task.sleep(for: Self.longest)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? true
        }
    }
}
