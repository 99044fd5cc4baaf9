/// A host's context and what it knows: everything behind the lock of ``PatchHost``.
final class HostCore {
    /// A script may leave this much for later at once.
    static let mostScheduled = 10_000

    let settings: PatchHost.Settings
    let engine: JavaScriptEngine
    let reference: MethodHostReference
    var types: [String: ExposedType] = [:]
    /// By the Swift type's identity.
    var typeNames: [ObjectIdentifier: String] = [:]
    var patches: [LoadedPatch] = []
    /// What patches that run have left for later.
    var scheduled = 0
    /// Callers that wait for a patch's promise, by number.
    var waiting: [Int: WaitingCall] = [:]
    var nextWaiting = 0
    private(set) lazy var language = HostLanguage(engine, environment(of: engine))
    /// What was stopped first during the present call.
    private var stopped: Stopped?

    private struct Stopped {
        let patch: String?
        let stop: EngineLimits.Stop
    }

    init(_ settings: PatchHost.Settings, reference: MethodHostReference) {
        self.settings = settings
        self.reference = reference
        engine = JavaScriptEngine(limits: EngineLimits(time: settings.timeLimit, bytes: settings.memoryLimit))
        _ = language
        engine.blame = { [unowned self] thrown in language.text(\.blame, thrown) }
        engine.stopped = { [unowned self] stop in wasStopped(stop) }
        engine.watchRejections { [unowned self] reason in rejected(reason) }
    }

    /// The host ends: methods are the originals, and who waits is told.
    func close() {
        for type in types.values { for member in type.members { member.slot?.changed(to: nil, of: nil) } }
        for call in waiting.values { call.end(.failure(PatchCallError.noHost)) }
        waiting = [:]
    }

    /// Runs a call into scripts for a patch; after the outermost one, the patch that was stopped is withdrawn.
    func entered<Result>(for patch: String?, _ body: () throws -> Result) throws -> Result {
        guard engine.depth == 0 else { return try engine.entered(body) }
        do {
            let result = try engine.entered(body)
            if let exception = settle(patch) { throw exception }
            return result
        } catch let exception as JavaScriptException {
            throw settle(patch) ?? exception
        }
    }

    /// - Returns: how the call that is over was stopped, if it was.
    private func settle(_ patch: String?) -> JavaScriptException? {
        guard let stopped else { return nil }
        self.stopped = nil
        language.run(\.reset)
        // Among promises' jobs it is not known whose ran: the call's patch began them.
        let id = stopped.patch ?? patch
        let exception = JavaScriptException(kind: .stopped(stopped.stop), message: stopped.stop.sentence, patch: id)
        guard let id else { return exception }
        // One that is being evaluated is told of when that ends.
        let isInstalled = patches.contains { $0.id == id && $0.state == .installed }
        _ = withdraw(id)
        if isInstalled { note(failure(exception, of: id), of: id) }
        return exception
    }

    /// - Returns: the patch whose code was stopped first during the present call.
    private func wasStopped(_ stop: EngineLimits.Stop) -> String? {
        if let stopped { return stopped.patch }
        let patch = language.text(\.owner)
        stopped = Stopped(patch: patch, stop: stop)
        return patch
    }
}
