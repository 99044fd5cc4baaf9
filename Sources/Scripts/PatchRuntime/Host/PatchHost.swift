/// What patches run in, one an app: the types that may be patched, and the patches.
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
/// Any thread may call it. Scripts run one at a time, under a lock that a thread may take again, on the thread that called: a
/// patched method runs where the original would. Who calls a patched method holds no lock that a host's method wants.
public final class PatchHost: Sendable {
    /// The patch that a person is who evaluates something.
    package static let console = "console"

    public struct Settings: Sendable {
        /// How long one call into a patch may take of its thread's time, and so may the evaluation of one.
        public var timeLimit = Duration.seconds(1)
        /// By how many bytes the process may grow during such a call.
        public var memoryLimit = 256_000_000
        /// Runs what patches leave for later.
        public var executor: any PatchExecutor = TaskExecutor()
        /// Takes what patches tell their console, while one runs: it must not wait for another.
        public var log: @Sendable (PatchLogLine) -> Void = { _ in }
        /// Told of each failure of a patch, whoever else is told.
        public var failed: @Sendable (PatchFailure) -> Void = { _ in }

        public init() {}
    }

    private let lock: RecursiveLock
    private let guarded: Guarded
    private let reference = MethodHostReference()

    private final class Guarded: @unchecked Sendable {
        // Sendable: it is used under the lock alone.
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
    /// Lets scripts call, and patch, what `members` say of a type.
    ///
    /// - Parameter parent: the name of an exposed type whose members it has as well.
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

    /// Makes these the patches that run, in this order, and takes all others back.
    ///
    /// What runs already in the same version stays as it is. Each patch is tried by itself: one that fails leaves nothing behind
    /// and stops no other.
    @discardableResult
    public func run(_ scripts: [PatchScript]) -> PatchReport { withCore { $0.run(scripts) } }

    /// Takes one patch back: originals hold again at once, and what it left for later comes to nothing.
    ///
    /// - Returns: whether it ran.
    @discardableResult
    public func withdraw(_ patch: String) -> Bool { withCore { $0.withdraw(patch) } }

    /// The patches of the last ``run(_:)``, and what became of them.
    public var report: PatchReport { withCore { $0.report } }

    /// Lets go at once of what no script and no caller can reach any more.
    public func collectGarbage() { withCore { $0.engine.collectGarbage() } }

    /// Evaluates a text in the same context, as a patch named `console` that lies over all others.
    ///
    /// For a person who looks into a running app; variables stay from one text to the next.
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
