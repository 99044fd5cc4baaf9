import Synchronization

/// Whether one method is patched, for callers in Swift: they pay one atomic load where it is not.
final class MethodSlot: @unchecked Sendable {
    // Sendable: `isPatched` is atomic; all else is used under the lock of the host.
    private let isPatched = Atomic(false)
    let name: String
    private let binding = RecursiveLock()
    private var bound: MethodHostReference?
    /// The outermost patch's method, and the patch.
    private(set) var patched: (method: HeldValue, patch: String)?
    /// What a static method is called on.
    private var target: HeldValue?

    init(name: String) { self.name = name }

    /// The host that a call has to go to; nil while the method is the host's own.
    var host: (any MethodHost)? {
        guard isPatched.load(ordering: .acquiring) else { return nil }
        return binding.withLock { bound?.host }
    }

    /// A method belongs to one host, for as long as that is there.
    func bind(to host: MethodHostReference, target: HeldValue?) throws(PatchCallError) {
        try binding.withLock { () throws(PatchCallError) in
            if let bound, bound !== host, bound.host != nil { throw .exposedElsewhere(name) }
            bound = host
            patched = nil
            isPatched.store(false, ordering: .releasing)
            self.target = target
        }
    }

    func changed(to method: HeldValue?, of patch: String?) {
        patched = method.map { ($0, patch ?? "") }
        isPatched.store(method != nil, ordering: .releasing)
    }

    var staticTarget: JavaScriptValue? { target?.value }
}

/// Who calls patches for Swift.
protocol MethodHost: AnyObject, Sendable {
    /// Calls the patch that holds a method; nil when none does any more.
    func call<Result: PatchConvertible>(
        _ slot: MethodSlot,
        on object: (any AnyObject & Sendable)?,
        _ values: [PatchValue],
        as _: Result.Type
    ) throws -> Result?

    /// The same for a method that waits.
    func callAsync<Result: PatchConvertible>(
        _ slot: MethodSlot,
        on object: (any AnyObject & Sendable)?,
        _ values: [PatchValue],
        as _: Result.Type
    ) async throws -> Result?
}

/// A host, for as long as somebody else keeps it.
final class MethodHostReference: @unchecked Sendable {
    // Sendable: the reference is set once, before anybody else has this.
    private(set) weak var host: (any MethodHost)?

    func refer(to host: any MethodHost) { self.host = host }
}
