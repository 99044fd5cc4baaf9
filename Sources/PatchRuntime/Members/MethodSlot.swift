import Synchronization

/// Whether one method is patched, for callers in Swift: they pay one atomic load where it is not.
final class MethodSlot: @unchecked Sendable {
    // Sendable: `isPatched` is atomic; all else is used under the lock of the host.
    private let isPatched = Atomic(false)
    let name: String
    private let binding = RecursiveLock()
    private var bound: HostReference?
    /// The outermost patch's method, and the patch.
    private(set) var patched: (method: HeldValue, patch: String)?
    /// What a static method is called on.
    private var target: HeldValue?

    init(name: String) { self.name = name }

    /// The host that a call has to go to; nil while the method is the host's own.
    var host: PatchHost? {
        guard isPatched.load(ordering: .acquiring) else { return nil }
        return binding.withLock { bound?.host }
    }

    /// A method belongs to one host, for as long as that is there.
    func bind(to host: HostReference, target: HeldValue?) throws(PatchCallError) {
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

/// A host, for as long as somebody else keeps it.
final class HostReference: Sendable {
    private let reference = WeakHost()

    init() {}

    func refer(to host: PatchHost) { reference.set(host) }

    var host: PatchHost? { reference.get() }

    func found() throws(PatchCallError) -> PatchHost {
        guard let host else { throw .noHost }
        return host
    }
}

private final class WeakHost: @unchecked Sendable {
    // Sendable: the reference is set once, before anybody else has this.
    private weak var host: PatchHost?

    func set(_ host: PatchHost) { self.host = host }
    func get() -> PatchHost? { host }
}
