import Synchronization

/// The patch state of one method; Swift callers of an unpatched method pay one atomic load.
final class MethodSlot: @unchecked Sendable {
    // Sendable: `isPatched` is atomic, `binding` protects `bound`, and the rest is used under the host's lock.
    private let isPatched = Atomic(false)
    let name: String
    private let binding = RecursiveLock()
    private var bound: MethodHostReference?
    /// The topmost patch's method, and the patch.
    private(set) var patched: (method: HeldValue, patch: String)?
    /// The class on which a static method is called.
    private var target: HeldValue?

    init(name: String) { self.name = name }

    /// The host that a call must use, or nil if the method is not patched.
    var host: (any MethodHost)? {
        guard isPatched.load(ordering: .acquiring) else { return nil }
        return binding.withLock { bound?.host }
    }

    /// Assigns the method to a host.
    ///
    /// A method belongs to one host as long as the host exists.
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

/// Calls patches for Swift code.
protocol MethodHost: AnyObject, Sendable {
    /// Calls the patch that replaces a method. Returns nil if it is no longer patched.
    func call<Result: PatchConvertible>(
        _ slot: MethodSlot,
        on object: (any AnyObject & Sendable)?,
        _ values: [PatchValue],
        as _: Result.Type
    ) throws -> Result?

    /// Calls the patch that replaces an async method.
    func callAsync<Result: PatchConvertible>(
        _ slot: MethodSlot,
        on object: (any AnyObject & Sendable)?,
        _ values: [PatchValue],
        as _: Result.Type
    ) async throws -> Result?
}

/// A weak reference to a host.
final class MethodHostReference: @unchecked Sendable {
    // Sendable: the reference is set once, before this object is shared.
    private(set) weak var host: (any MethodHost)?

    func refer(to host: any MethodHost) { self.host = host }
}
