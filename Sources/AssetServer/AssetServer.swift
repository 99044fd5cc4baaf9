import PatchTrust
package import HTTPFiles
import NIOConcurrencyHelpers
package import NIOHTTP1
import NIOPosix
package import PatchFormat
package import SystemPackage

/// Serves the active bundle to the app alone: manifest URL, then the app's own folder, then client-side routes (M18).
///
/// What is served changes in one step, by ``serve(_:)``; a page that is open keeps the release that it came from
/// (``ServedSelections``).
package final class AssetServer: FileSource {
    /// How files are served, and to whom.
    package struct Settings: Sendable {
        package var access: Access
        package var types = ContentTypeRules()
        /// A folder of the app itself, asked after the bundle; its `application/` is never served.
        package var www: FilePath?
        /// A folder whose files answer `/local-filesystem/…`; nothing does without it.
        package var localFiles: FilePath?

        package init(access: Access) {
            self.access = access
        }
    }

    /// What is done with one request: most of them are answered without waiting for anybody.
    package enum Decision: Sendable {
        case answer(FileAnswer)
        /// The file is not the one that was verified: it is read before it is served.
        case examine(any ExaminedFile, HTTPHeaders)
        /// Another server answers.
        case delegate(any RequestDelegate, FileRequest, HTTPHeaders)
        /// Only the host can say.
        case call(PendingCall)
        /// The first page of this launch: the host hears of it before anything of it is sent.
        case opening(launch: String, any PageHost, HTTPHeaders)
        /// A stream of events, from the one after this on.
        case events(after: String?, HTTPHeaders)
    }

    package let acceptsBodies = true
    package let events: PageEvents
    let settings: Settings
    private let www: FolderFiles?
    private let localFiles: FolderFiles?
    private let now: @Sendable () -> Duration
    private let state: NIOLockedValueBox<State>

    private struct State {
        var served = ServedSelections()
        var session = Session(port: 0)
        var host: (any PageHost)?
        var delegate: (any RequestDelegate)?
        /// Counts what ever decided otherwise than before.
        var edition = 0
    }

    /// - Parameter now: what a steady clock shows.
    package init(
        _ settings: Settings,
        events: PageEvents = PageEvents(start: AccessToken.make().text),
        now: @escaping @Sendable () -> Duration = AssetServer.sinceStart
    ) {
        self.settings = settings
        self.events = events
        self.now = now
        www = settings.www.map(FolderFiles.init(root:))
        localFiles = settings.localFiles.map(FolderFiles.init(root:))
        state = NIOLockedValueBox(State())
    }

    private static let start = ContinuousClock.now
    package static let sinceStart: @Sendable () -> Duration = { start.duration(to: .now) }

    /// From now on pages' calls reach `host`.
    package func connect(_ host: any PageHost) {
        state.withLockedValue { $0.host = host }
    }

    /// From now on requests that it takes go to it, unless they are the page API's or there is a file for them.
    ///
    /// It comes before client-side routes, and never sees the access token.
    package func delegate(to delegate: any RequestDelegate) {
        state.withLockedValue { state in
            state.delegate = delegate
            state.edition += 1
        }
    }

    /// Before each first request: which port a Host must name, and what a cookie holds from now on.
    package func listening(on port: Int, pass: AccessToken = .make()) {
        state.withLockedValue { state in
            state.session = Session(port: port, pass: pass)
            state.edition += 1
        }
    }

    /// Whether there is anything to serve.
    package var isServing: Bool { state.withLockedValue { $0.served.current.table != nil } }

    /// Whether this is the bundle that new pages get, by its manifest's digest.
    package func isCurrent(_ bundle: SHA256Digest?) -> Bool {
        state.withLockedValue { $0.served.current.table?.bundle == bundle }
    }

    /// Whether pages of the selection before are still served; lets it go when its time is over.
    package func servesPrevious() -> Bool {
        state.withLockedValue { state in
            state.served.forgetPrevious(at: now())
            return state.served.hasPrevious
        }
    }

    package func serve(_ selection: ServedSelection) {
        state.withLockedValue { state in
            state.served.serve(selection, at: now())
            state.edition += 1
        }
        events.tell(.switched(version: selection.version))
    }

    /// The host knows that a page of this launch is asked for.
    package func opened(_ launch: String) {
        state.withLockedValue { state in
            state.served.opened(launch)
            state.edition += 1
        }
    }

    package var edition: Int { state.withLockedValue(\.edition) }

    /// The body of what is not let in is not taken as it comes, so that nobody holds a stream who must not.
    package func intake(of request: FileRequest) -> BodyIntake {
        guard case .delegate(let delegate, let request, _) = decide(request) else { return .whole }
        return delegate.intake(of: request)
    }

    /// What a browser is to keep to itself, and what another origin that is let in needs to read any answer.
    package func everyAnswerFields(to headers: HTTPHeaders?) -> HTTPHeaders {
        var fields = headers.map { Admission.crossOriginFields(for: $0, settings.access) } ?? [:]
        fields.add(missing: settings.access.securityHeaders)
        return fields
    }

    /// What one of the app's folders or an open page of the previous release had a word in is asked for again each time,
    /// and so is a page: which one was loaded last has to be known.
    package func prepared(_ request: FileRequest) -> PreparedReply? {
        let (edition, served) = state.withLockedValue { ($0.edition, $0.served) }
        guard request.path.segments.first != PageAPI.prefix, case .answer(let answer) = decide(request) else {
            return nil
        }
        let isOfBundle = www == nil && localFiles == nil || served.current.table?.asset(at: request.path.text) != nil
        let isLasting = isOfBundle && !served.hasPrevious && !PageRequest(request).isPage
        return PreparedReply(answer, edition: isLasting ? edition : nil)
    }

    package func answer(_ request: FileRequest) async -> FileAnswer {
        let decision = decide(request)
        guard case .opening(let launch, let host, _) = decision else { return await carriedOut(decision) }
        await host.pageRequested(launch)
        return await carriedOut(decide(request))
    }

    private func carriedOut(_ decision: Decision) async -> FileAnswer {
        switch decision {
        case .answer(let answer): answer
        case .examine(let file, let fields): await file.examined().adding(missing: fields)
        case .delegate(let delegate, let request, let fields):
            await delegate.answer(request).adding(missing: fields)
        case .call(let call): await call.answer()
        case .events(let last, let fields): eventStream(after: last).adding(missing: fields)
        // Something else is on trial since: its first page is the next one.
        case .opening(_, _, let fields):
            FileAnswer.refused(
                .serviceUnavailable,
                message: "Another version starts just now.",
                headers: ["Retry-After": "1"]
            ).adding(missing: fields)
        }
    }

    /// Looks at files of the app's own folders, and at nothing else outside memory.
    package func decide(_ request: FileRequest) -> Decision {
        let session = state.withLockedValue(\.session)
        switch Admission(request, to: settings.access, in: session) {
        case .answered(let answer): return .answer(answer)
        case .admitted(let query, let fields):
            if settings.access.token != nil { request.standing?.show() }
            switch decideAdmitted(request.with(query: query)) {
            case .answer(let answer): return .answer(answer.adding(missing: fields))
            case .examine(let file, _): return .examine(file, fields)
            case .delegate(let delegate, let request, _):
                return .delegate(delegate, Admission.withoutToken(request, port: session.port), fields)
            case .call(var call):
                call.fields = fields
                return .call(call)
            case .events(let last, _): return .events(after: last, fields)
            case .opening(let launch, let host, _): return .opening(launch: launch, host, fields)
            }
        }
    }

    // MARK: What is let in

    private func decideAdmitted(_ request: FileRequest) -> Decision {
        let page = PageRequest(request)
        let (choice, host, delegate) = state.withLockedValue { state in
            (state.served.choose(page, at: now()), state.host, state.delegate)
        }
        // Ends with the answer, and with the file that it may hold.
        let lease = choice.isPrevious ? lease(on: choice.selection) : nil
        if request.path.segments.first == PageAPI.prefix {
            return opening(choice, host, isPage: PageAPI.isScript(request))
                ?? call(request, choice.selection, host, lease: lease)
        }
        if let delegate, delegate.takes(request), !hasFile(for: request, in: choice.selection.table) {
            return .delegate(delegate, request, [:])
        }
        guard request.method == .GET || request.method == .HEAD else {
            return .answer(.refused(.methodNotAllowed, message: "Only GET and HEAD.", headers: ["Allow": "GET, HEAD"]))
        }
        guard let table = choice.selection.table else { return .answer(nothingYet(page)) }
        switch found(for: request, in: table) {
        case .file(let file): return .answer(.file(file))
        case .nothing: return .answer(.notFound)
        case .row(let row, let isNamed):
            if let opening = opening(choice, host, isPage: request.method == .GET && (page.isPage || row.isPage)) {
                return opening
            }
            let mayBeKept = isNamed && !choice.isForeign
            let types = settings.types
            let asset = AssetAnswer(row, of: table, to: request, types: types, mayBeKept: mayBeKept, lease: lease)
            return asset.recorded.map { .answer($0) } ?? .examine(asset, [:])
        }
    }

    /// Nil where nobody waits for a page of what is asked for.
    private func opening(_ choice: ServedSelections.Choice, _ host: (any PageHost)?, isPage: Bool) -> Decision? {
        let selection = choice.selection
        guard isPage, !choice.isPrevious, selection.awaitsPage, let launch = selection.launch, let host else {
            return nil
        }
        return .opening(launch: launch, host, [:])
    }

    private func hasFile(for request: FileRequest, in table: AssetTable?) -> Bool {
        if request.path.segments.first == "local-filesystem" { return true }
        return table?.asset(at: request.path.text) != nil || file(at: request.path) != nil
    }

    private enum Found {
        /// Whether the manifest names the URL; the index stands for many others.
        case row(BundleIndex.Row, isNamed: Bool)
        case file(ServedFile)
        case nothing
    }

    private func found(for request: FileRequest, in table: AssetTable) -> Found {
        if let row = table.asset(at: request.path.text) { return .row(row, isNamed: true) }
        if let file = file(at: request.path) { return .file(file) }
        return table.route(request.path.segments).map { .row($0, isNamed: false) } ?? .nothing
    }

    private func nothingYet(_ page: PageRequest) -> FileAnswer {
        if page.purpose == .document { return FirstLaunchPage.answer }
        return .refused(.serviceUnavailable, message: "Nothing is installed yet.", headers: ["Retry-After": "5"])
    }

    private func lease(on selection: ServedSelection) -> Lease {
        let bundle = selection.table?.bundle
        return Lease { [state, now] in state.withLockedValue { $0.served.responseEnded(of: bundle, at: now()) } }
    }

    /// A file of the app's own folder, or of the one that `/local-filesystem/` stands for.
    private func file(at path: RequestPath) -> ServedFile? {
        if path.segments.first == "local-filesystem" {
            guard let localFiles, let rest = try? RequestPath(parsing: path.droppingFirst) else { return nil }
            return file(in: localFiles, at: rest)
        }
        guard let www, path.segments.first != "application" else { return nil }
        return file(in: www, at: path)
    }

    private func file(in folder: FolderFiles, at path: RequestPath) -> ServedFile? {
        guard let found = try? folder.lookUp(path) else { return nil }
        return ServedFile(found, contentType: settings.types.type(of: found.path.string), sendsModified: true)
    }
}
