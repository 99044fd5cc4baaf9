/// Runs patches in an app and exposes the types that they may change.
///
/// An app has one host.
///
/// ```swift
/// let host = try PatchHost()
/// try host.expose("CartController", CartController.self) {
///     CartController.total
///     PatchMethod("add") { (cart: CartController, name: String, count: Int) in cart.add(name, count) }
///     PatchProperty("limit", get: { (cart: CartController) in cart.limit })
///     PatchConstructor { (limit: Int) in CartController(limit: limit) }
/// }
/// let report = host.run(scripts)
/// ```
///
/// A host is thread-safe. Scripts run one at a time, under a recursive lock, on the calling thread: a patched method runs where the
/// original would. To avoid a deadlock, the caller of a patched method must not hold a lock that a host method acquires.
public final class PatchHost: Sendable {
    /// The patch id of code that a person evaluates with ``evaluate(_:)``.
    package static let console = "console"

    public struct Settings: Sendable {
        /// The CPU time that one call into a patch may use.
        ///
        /// The limit also applies to the evaluation of a patch.
        public var timeLimit = Duration.seconds(1)
        /// The bytes by which the process may grow during such a call.
        public var memoryLimit = 256_000_000
        /// Runs the work that patches defer.
        public var executor: any PatchExecutor = TaskExecutor()
        /// Receives the console output of patches.
        ///
        /// It is called while a patch runs, so it must not wait for another patch.
        public var log: @Sendable (PatchLogLine) -> Void = { _ in }
        /// Receives every failure of a patch, including those that are also thrown to a caller.
        public var failed: @Sendable (PatchFailure) -> Void = { _ in }

        public init() {}
    }

    private let lock: RecursiveLock
    private let guarded: Guarded
    private let reference = MethodHostReference()

    private final class Guarded: @unchecked Sendable {
        // Sendable: it is used only under the lock.
        let core: HostCore

        init(_ core: HostCore) { self.core = core }
    }

    public init(_ settings: Settings = Settings()) {
        lock = RecursiveLock()
        guarded = Guarded(HostCore(settings, reference: reference))
        reference.refer(to: self)
    }

    deinit { guarded.core.close() }

    func withCore<Result, Failure: Error>(_ body: (HostCore) throws(Failure) -> Result) throws(Failure) -> Result {
        try lock.withLock { () throws(Failure) in try body(guarded.core) }
    }
}

extension PatchHost {
    /// Exposes a type, so that scripts can call and patch its `members`.
    ///
    /// - Parameter parent: the name of an exposed type whose members this type inherits.
    /// - Throws: ``PatchCallError``.
    public func expose<Object: AnyObject & Sendable>(
        _ name: String,
        _: Object.Type,
        parent: String? = nil,
        @PatchMembersBuilder _ members: () -> [PatchMember]
    ) throws(PatchCallError) {
        let members = members()
        try withCore { core throws(PatchCallError) in
            try core.expose(name, ObjectIdentifier(Object.self), { $0 is Object }, parent: parent, members)
        }
    }

    /// Runs these patches in this order, and withdraws all others.
    ///
    /// A patch that already runs in the same version is not evaluated again, unless the order of the running patches changes. A
    /// patch that fails is removed completely and does not affect the others.
    @discardableResult
    public func run(_ scripts: [PatchScript]) -> PatchReport { withCore { $0.run(scripts) } }

    /// Withdraws one patch: the original methods are restored at once, and the patch's deferred work is discarded.
    ///
    /// - Returns: whether the patch was running.
    @discardableResult
    public func withdraw(_ patch: String) -> Bool { withCore { $0.withdraw(patch) } }

    /// The patches of the last ``run(_:)``, with their states.
    public var report: PatchReport { withCore { $0.report } }

    /// Releases at once all objects that neither scripts nor callers can reach.
    public func collectGarbage() { withCore { $0.engine.collectGarbage() } }

    /// Evaluates a text in the same context, as a patch named `console` above all others.
    ///
    /// Use it to inspect a running app. Variables persist between calls.
    public func evaluate(_ text: String) throws(PatchFailure) -> PatchValue {
        try withCore { core throws(PatchFailure) in try core.evaluate(text) }
    }
}

extension PatchHost: MethodHost {
    func call<Result: PatchConvertible>(
        _ slot: MethodSlot,
        on object: (any AnyObject & Sendable)?,
        _ values: [PatchValue],
        as _: Result.Type
    ) throws -> Result? {
        try withCore { core in
            guard let (value, patch) = try core.call(slot, on: object, values) else { return nil }
            return try core.read(value, as: Result.self, method: slot.name, patch: patch)
        }
    }

    func callAsync<Result: PatchConvertible>(
        _ slot: MethodSlot,
        on object: (any AnyObject & Sendable)?,
        _ values: [PatchValue],
        as _: Result.Type
    ) async throws -> Result? {
        let answer: (PatchValue, String)? = try await withCheckedThrowingContinuation { continuation in
            withCore { $0.callAsync(slot, on: object, values, continuation) }
        }
        guard let (value, patch) = answer else { return nil }
        return try withCore { core in try core.read(value, as: Result.self, method: slot.name, patch: patch) }
    }
}
