/// The context of a host and its state, protected by the lock of ``PatchHost``.
final class HostCore {
    /// The most pieces of deferred work at one time.
    static let mostScheduled = 10_000

    let settings: PatchHost.Settings
    let engine: JavaScriptEngine
    let reference: MethodHostReference
    var types: [String: ExposedType] = [:]
    /// The names of exposed types, by the Swift type's identity.
    var typeNames: [ObjectIdentifier: String] = [:]
    var patches: [LoadedPatch] = []
    /// The number of pending pieces of deferred work.
    var scheduled = 0
    /// Callers that wait for a patch's promise, by number.
    var waiting: [Int: WaitingCall] = [:]
    var nextWaiting = 0
    private(set) lazy var language = HostLanguage(engine, environment(of: engine))
    /// The first patch that was stopped during the current call.
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

    /// Ends the host: restores the original methods and fails the waiting calls.
    func close() {
        for type in types.values { for member in type.members { member.slot?.changed(to: nil, of: nil) } }
        for call in waiting.values { call.end(.failure(PatchCallError.noHost)) }
        waiting = [:]
    }

    /// Runs a call into scripts for a patch.
    ///
    /// After the outermost call, a stopped patch is withdrawn.
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

    /// - Returns: the exception of the stop, if the finished call was stopped.
    private func settle(_ patch: String?) -> JavaScriptException? {
        guard let stopped else { return nil }
        self.stopped = nil
        language.run(\.reset)
        // The owner of a stopped promise job is unknown. It is attributed to the patch whose call started the jobs.
        let id = stopped.patch ?? patch
        let exception = JavaScriptException(kind: .stopped(stopped.stop), message: stopped.stop.sentence, patch: id)
        guard let id else { return exception }
        // A patch that is still being evaluated is reported when its evaluation ends.
        let isInstalled = patches.contains { $0.id == id && $0.state == .installed }
        _ = withdraw(id)
        if isInstalled { note(failure(exception, of: id), of: id) }
        return exception
    }

    /// - Returns: the patch whose code was stopped first during the current call.
    private func wasStopped(_ stop: EngineLimits.Stop) -> String? {
        if let stopped { return stopped.patch }
        let patch = language.text(\.owner)
        stopped = Stopped(patch: patch, stop: stop)
        return patch
    }
}
