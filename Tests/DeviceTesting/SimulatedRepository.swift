import NIOConcurrencyHelpers
package import PatchFetch
package import PatchFormat
package import PatchTesting
import PatchSync
import PatchCrypto
import PatchTrust

/// A server in memory and the pipeline that feeds it, with every way in which a network and a server go wrong.
///
/// It keeps to the promise of ``Fetcher``, as the real one does: nothing beyond `limit` is handed over.
package final class SimulatedRepository: Fetcher, Sendable {
    /// What becomes of one path until it is ``repair(_:)``ed.
    package enum Fault: Sendable {
        case notFound
        case status(Int)
        /// 503 and `Retry-After`, in seconds.
        case busy(Int)
        case timesOut
        case stalls
        case connection
        /// The connection ends after this many bytes of each answer.
        case breaksOff(after: Int)
        /// All of it comes, and more was announced.
        case announcesMore
        /// Nothing comes after this many bytes, until whoever waits is cancelled.
        case hangs(after: Int)
        /// The answer is whole for HTTP, and holds only this many bytes.
        case shortened(to: Int)
        /// Goes on for ever, without a length.
        case endless
        /// One bit, in the byte at this part of the whole: 0 for the first, 0.5 for the middle.
        case bitFlipped(at: Double)
        case replaced([UInt8])
        /// The server, or whoever stands in between, answers what the real fetcher makes this of.
        case refused(FetchError)
        /// A web page, of a host that answers every name with one.
        case webPage
        /// The same of its compressed form alone; the file itself is right.
        indirect case ofForm(Fault)
    }

    package static let production: ChannelName = simulated("production")
    package static let beta: ChannelName = simulated("beta")
    private struct State {
        var tree: SimulatedTree
        var faults: [String: Fault] = [:]
        var requests: [String] = []
        var bytes = 0
        var onRequest: (@Sendable (String) async -> Void)?
        var validator: @Sendable ([UInt8]) -> String? = { "\"\(SHA256Digest(of: $0))\"" }
        var compress: @Sendable (String) -> CompressionFormat? = { _ in nil }
        var onQuestion: (@Sendable (DeviceQuestion) -> [UInt8]?)?
        var onBytes: (@Sendable (_ path: String, _ count: Int) throws(FetchError) -> Void)?
        var pieceSize: Int?
        var withoutRanges: Set<String> = []
    }

    private let state: NIOLockedValueBox<State>
    private let clock: ManualClock

    /// A root of trust and nothing published yet.
    package init(clock: ManualClock, preparing prepare: (inout SimulatedTree) -> Void = { _ in }) {
        var tree = SimulatedTree(at: clock.now())
        prepare(&tree)
        tree.publishRoot()
        tree.publishTargets()
        tree.publishSnapshot()
        state = NIOLockedValueBox(State(tree: tree))
        self.clock = clock
    }

    private init(_ state: State, clock: ManualClock) {
        self.state = NIOLockedValueBox(state)
        self.clock = clock
    }

    /// The same server once more, by another clock: what becomes of the one does not reach the other.
    package func copy(clock: ManualClock) -> SimulatedRepository {
        SimulatedRepository(state.withLockedValue(\.self), clock: clock)
    }

    // MARK: The pipeline

    package var tree: SimulatedTree { state.withLockedValue(\.tree) }
    package var app: AppID { tree.app }

    /// The first root, which a device is made with.
    package var root: [UInt8] { self[URLLayout.metadata("root", version: 1)] }

    /// The bytes under a path that was published.
    package subscript(path: String) -> [UInt8] {
        guard let bytes = tree.files[path] else { preconditionFailure("\(path) was not published") }
        return bytes
    }

    /// Changes what is published, signed at the clock's time.
    package func edit(_ change: (inout SimulatedTree) -> Void) {
        state.withLockedValue { state in
            state.tree.time = clock.now()
            change(&state.tree)
        }
    }

    /// Makes the channel offer exactly these, and nothing of what it offered before.
    package func publish(
        _ patches: [SimulatedPatch],
        to channel: ChannelName = production,
        editing edit: SimulatedTree.Edit = { _ in }
    ) {
        self.edit { tree in
            tree.publishChannel(channel, patches, editing: edit)
            tree.publishSnapshot()
        }
    }

    package func withdraw(_ id: String, from channel: ChannelName = production) {
        publish((tree.offers[channel] ?? []).filter { $0.id.text != id }, to: channel)
    }

    /// Withdraws a version by name, as every later list does, and lists these from now on.
    ///
    /// A bundle goes by its manifest, which holds when it was published: no time has passed since.
    package func withdraw(_ patch: SimulatedPatch, listing patches: [SimulatedPatch]) {
        edit { tree in
            tree.withdrawn[Self.production, default: []].append(
                WithdrawnVersion(
                    patchID: patch.id,
                    version: patch.version,
                    sha256: SHA256Digest(of: patch.named(in: tree.app, at: tree.time)),
                    serial: 1,
                    since: tree.time
                )
            )
        }
        publish(patches)
    }

    /// The server turns its dial.
    package func setDial(_ rows: [Dial.Row], of channel: ChannelName = production) {
        edit { tree in
            tree.publishDial([Dial(app: tree.app, channel: channel, rows: rows)])
            tree.publishSnapshot()
        }
    }

    /// An operator changes what apps are told by name; nil takes the document away.
    package func setParameters(
        _ values: [String: ParameterValue]?,
        of channel: ChannelName = production,
        saying other: ChannelName? = nil
    ) {
        edit { tree in
            let document = values.map { values in
                var named: [ParameterName: ParameterValue] = [:]
                for (name, value) in values { named[simulated(name)] = value }
                return OnlineParameters(app: tree.app, channel: other ?? channel, values: named).json.fileBytes
            }
            tree.publishParameters(document, of: channel)
            tree.publishSnapshot()
        }
    }

    /// A new root, signed by the old keys and the new ones; then everything that new online keys sign.
    package func rotateRoot(to root: SimulatedKey? = nil, online: SimulatedKey? = nil) {
        edit { tree in
            let old = tree.keys["root"] ?? []
            if let root { tree.keys["root"] = [root] }
            if let online { for role in ["snapshot", "timestamp", "dial"] { tree.keys[role] = [online] } }
            tree.publishRoot(alsoSignedBy: old)
            guard online != nil else { return }
            tree.publishTargets()
            tree.publishSnapshot()
        }
    }

    /// Publishes a version of this role that has expired, and fresh ones of those that refer to it.
    package func expire(_ role: String) {
        edit { tree in
            tree.lifetimes[role] = .seconds(-1)
            switch role {
            case "root": tree.publishRoot()
            case "targets": tree.publishTargets()
            case "dial": tree.publishDial([Dial(app: tree.app, channel: Self.production, rows: [])])
            case "snapshot", "timestamp": break
            default: tree.publishChannel(simulated(role), tree.offers[simulated(role)] ?? [])
            }
            tree.publishSnapshot()
        }
    }

    // MARK: The server

    package func fail(_ path: String, with fault: Fault) {
        state.withLockedValue { $0.faults[path] = fault }
    }

    /// Answers each request for a part of this file with all of it.
    package func lackRanges(of path: String) {
        _ = state.withLockedValue { $0.withoutRanges.insert(path) }
    }

    package func repair(_ path: String) {
        state.withLockedValue { $0.faults[path] = nil }
    }

    /// Runs at every request, before it is answered: to look, or to pull the plug.
    package func onRequest(_ body: (@Sendable (String) async -> Void)?) {
        state.withLockedValue { $0.onRequest = body }
    }

    /// Runs after each piece of a file was taken: to count, or to cut the line.
    ///
    /// - Parameter pieceSize: of each piece, in bytes; nil for about a twentieth of the file.
    package func onBytes(
        pieceSize: Int? = nil,
        _ body: (@Sendable (_ path: String, _ count: Int) throws(FetchError) -> Void)?
    ) {
        state.withLockedValue { ($0.onBytes, $0.pieceSize) = (body, pieceSize) }
    }

    /// What is answered to devices' questions from now on; nil is 404, as of a host of files alone.
    package func onQuestion(_ body: (@Sendable (DeviceQuestion) -> [UInt8]?)?) {
        state.withLockedValue { $0.onQuestion = body }
    }

    /// How the server calls its files from now on: by nil for no strong name, else verbatim as If-Range says it.
    package func name(by validator: @escaping @Sendable ([UInt8]) -> String?) {
        state.withLockedValue { $0.validator = validator }
    }

    /// Which compressed form there is of each file from now on; asked for or not.
    package func compress(_ form: @escaping @Sendable (_ path: String) -> CompressionFormat?) {
        state.withLockedValue { $0.compress = form }
    }

    /// The access log: every path that was asked for, in the order in which they came, and empties it.
    ///
    /// `PATH from 700` where only the rest was asked for, `PATH from 700 of zstd` where the rest of a compressed form was, and
    /// `PATH plain` where no form was taken that there is; `head` behind it where nothing else was.
    package func takeRequests() -> [String] {
        state.withLockedValue { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// Bytes of every answer so far.
    package var bytesSent: Int { state.withLockedValue(\.bytes) }

    package func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        let path = request.path
        let (answer, onRequest, onBytes) = state.withLockedValue { state in
            let form = state.compress(path)
            let range = request.resume.map { resume in
                " from \(resume.offset)" + (resume.coding.map { " of \($0.rawValue)" } ?? "")
            }
            let how = range ?? (request.isPlain && form != nil ? " plain" : "")
            state.requests.append(path + how + (request.isHead ? " head" : ""))
            var asked = request
            if state.withoutRanges.contains(path) { asked.resume = nil }
            var answer = SimulatedAnswer(
                request: asked,
                found: request.question.map { question in
                    (try? DeviceQuestion(question)).flatMap { state.onQuestion?($0) }
                } ?? state.tree.files[path] ?? state.tree.express(request),
                fault: state.faults[path],
                validator: state.tree.expressTag(request).map { tag in { _ in tag } } ?? state.validator,
                coding: form
            )
            answer.fixedPieceSize = state.pieceSize
            return (answer, state.onRequest, state.onBytes)
        }
        await onRequest?(path)
        if Task.isCancelled { throw .cancelled }
        try await answer.send { part throws(FetchError) in
            if case .bytes(let chunk) = part { state.withLockedValue { $0.bytes += chunk.count } }
            try await take(part)
            if case .bytes(let chunk) = part { try onBytes?(path, chunk.count) }
        }
    }
}
