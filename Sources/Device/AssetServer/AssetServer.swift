import PatchCrypto
package import HTTPFiles
import NIOConcurrencyHelpers
package import NIOHTTP1
import NIOPosix
package import PatchFormat
package import SystemPackage

/// Serves the active bundle to the app alone: manifest URL, then the app's own folder, then client-side routes (M18).
///
/// The served selection changes in one step, by ``serve(_:)``; an open page keeps the release that it came from
/// (``ServedSelections``).
package final class AssetServer: FileSource {
    /// How files are served, and to which clients.
    package struct Settings: Sendable {
        package var access: Access
        package var types = ContentTypeRules()
        /// A folder of the app itself, consulted after the bundle; its `application/` is never served.
        package var www: FilePath?
        /// The folder of `/local-filesystem/…`; without it there is none.
        package var localFiles: FilePath?
        /// What takes the calls below `/__patchline/uploads/`, for who has the token; without it there are none.
        package var uploads: (any RequestDelegate)?

        package init(access: Access) {
            self.access = access
        }
    }

    package let acceptsBodies = true
    package let events: PageEvents
    private let access: Access
    private let now: @Sendable () -> Duration
    private let state: NIOLockedValueBox<ServingFacts>

    /// - Parameter now: the time of a steady clock.
    package init(
        _ settings: Settings,
        events: PageEvents = PageEvents(start: AccessToken.make().text),
        now: @escaping @Sendable () -> Duration = AssetServer.sinceStart
    ) {
        access = settings.access
        self.events = events
        self.now = now
        state = NIOLockedValueBox(
            ServingFacts(
                access: settings.access,
                types: settings.types,
                www: settings.www.map(FolderFiles.init(root:)),
                localFiles: settings.localFiles.map(FolderFiles.init(root:)),
                uploads: settings.access.token == nil ? nil : settings.uploads
            )
        )
    }

    private static let start = ContinuousClock.now
    package static let sinceStart: @Sendable () -> Duration = { start.duration(to: .now) }

    /// From now on `host` takes pages' calls.
    package func connect(_ host: any PageHost) {
        state.withLockedValue { $0.host = host }
    }

    /// From now on this takes requests that are not the page API's and have no file.
    ///
    /// It comes before client-side routes, and never sees the access token.
    package func delegate(to delegate: any RequestDelegate) {
        (delegate as? any PageDelegate)?.connect(events)
        state.withLockedValue { state in
            state.delegate = delegate
            state.edition += 1
        }
    }

    /// Before each first request: sets the port that a Host must name, and the value of a cookie.
    ///
    /// - Parameter pass: replaces the value that ``Access/pass()`` chooses.
    package func listening(on port: Int, pass: AccessToken? = nil) {
        state.withLockedValue { state in
            state.session = Session(port: port, pass: pass ?? access.pass())
            state.edition += 1
        }
    }

    /// Whether there is anything to serve.
    package var isServing: Bool { state.withLockedValue { $0.served.current.table != nil } }

    /// Whether this is the bundle that new pages get, by its manifest's digest.
    package func isCurrent(_ bundle: SHA256Digest?) -> Bool {
        state.withLockedValue { $0.served.current.table?.bundle == bundle }
    }

    /// Whether pages of the previous selection are still served; releases it when its time is over.
    package func servesPrevious() -> Bool {
        state.withLockedValue { state in
            state.served.forgetPrevious(at: now())
            return state.served.hasPrevious
        }
    }

    /// Whether any page was loaded, which may be open still.
    package var hasPages: Bool { state.withLockedValue { $0.served.hasPages } }

    /// In how much time ``servesPrevious()`` may turn false at the earliest; nil without a previous selection.
    package var previousLasts: Duration? { state.withLockedValue { $0.served.previousLasts(at: now()) } }

    package func serve(_ selection: ServedSelection) {
        state.withLockedValue { state in
            state.served.serve(selection, at: now())
            state.edition += 1
        }
        events.tell(.switched(version: selection.version))
    }

    /// The host knows that a page of this launch is shown.
    package func opened(_ launch: String) {
        state.withLockedValue { state in
            state.served.opened(launch)
            state.edition += 1
        }
    }

    package var edition: Int { state.withLockedValue(\.edition) }

    /// The fields that restrict what a browser shares, and those that an admitted origin needs to read any answer.
    package func everyAnswerFields(to headers: HTTPHeaders?) -> HTTPHeaders {
        var fields = headers.map { Admission.crossOriginFields(for: $0, access) } ?? [:]
        fields.add(missing: access.securityHeaders)
        return fields
    }

    /// The decision on a request, by the present facts.
    package func decision(on request: FileRequest) -> AssetDecision {
        state.withLockedValue(\.self).decide(request, at: now())
    }

    package func passesAsSent(_ request: FileRequest) -> Bool {
        state.withLockedValue(\.delegate)?.passesAsSent(request) ?? false
    }

    package func decide(_ request: FileRequest) -> FileDecision {
        carrying(out: decision(on: request), for: request)
    }

    private func carrying(out decision: AssetDecision, for request: FileRequest) -> FileDecision {
        if decision.showing != nil { return showing(decision) }
        switch decision.action {
        case .answer(let answer):
            // Answered by the task behind the front, as all of the page API is.
            guard request.path.segments.first != PageAPI.prefix else { return later(decision) { _ in answer } }
            return .now(
                PreparedReply(
                    answer.adding(missing: decision.fields),
                    edition: decision.edition,
                    showsRight: decision.showsRight,
                    whenUsed: noting(decision.note)
                )
            )
        case .examine(let file): return later(decision) { _ in await file.examined() }
        case .page(let page): return later(decision) { _ in await page.made().answer }
        case .call(let call): return later(decision) { await call.answer(self.desk, to: $0.body) }
        case .entering: return .later(.whole) { self.entering($0) }
        case .events(let last, let isPoll):
            return later(decision) { _ in isPoll ? self.missedEvents(after: last) : self.eventStream(after: last) }
        case .delegate(let delegate, let shown):
            let delegated = delegate.decide(shown)
            return .later(delegated.intake) { request in
                if decision.showsRight { request.right?.show() }
                // It ends here: the answer holds nothing of the selection.
                _ = decision.note.map(self.noted)
                let request = request.with(query: shown.query).with(headers: shown.headers)
                return await delegated.answer(to: request).adding(missing: decision.fields)
            }
        }
    }

    /// A document that has no stamp cannot say that it is shown: it counts as shown now, before a byte of it is sent, or a page
    /// that ends the process at once would be tried for ever.
    private func showing(_ decision: AssetDecision) -> FileDecision {
        var plain = decision
        plain.showing = nil
        return .later(.whole) { [plain] request in
            guard let showing = decision.showing else { return .notFound }
            let answer: FileAnswer
            var isStamped = false
            switch decision.action {
            case .page(let page):
                let made = await page.made()
                (answer, isStamped) = (made.answer, made.isStamped)
            case .examine(let file): answer = await file.examined()
            case .answer(let known): answer = known
            case .call, .entering, .events, .delegate: return .notFound
            }
            if !isStamped, await !self.shown(showing) {
                // By the selection that is served now.
                let again = self.decision(on: request)
                guard again.showing?.waiting == nil else {
                    return FileAnswer.otherVersionStarts.adding(missing: decision.fields)
                }
                return await self.carrying(out: again, for: request).answer(to: request)
            }
            return await self.later(plain) { _ in answer }.answer(to: request)
        }
    }

    /// - Returns: whether the document's selection is served still.
    private func shown(_ showing: AssetDecision.Showing) async -> Bool {
        state.withLockedValue { $0.served.sendsUnstamped(showing.stamp) }
        guard let waiting = showing.waiting else { return true }
        await waiting.host.pageShown(waiting.launch)
        return state.withLockedValue { $0.served.current.stamp == showing.stamp && !$0.served.current.awaitsPage }
    }

    /// Gives the cookie for the access token or the return key.
    private func entering(_ request: FileRequest) -> FileAnswer {
        do throws(FormatError) {
            guard try Entrance(request.body).opens(access) else { return Entrance.refused }
        } catch { return PageAPI.json(.badRequest, "error", error.description) }
        request.right?.show()
        return Entrance.granted(access.cookieField(in: state.withLockedValue(\.session)))
    }

    private var desk: PendingCall.Desk {
        PendingCall.Desk(
            events: events,
            served: { [state] in state.withLockedValue(\.served) },
            now: now,
            returnKey: access.returnKey?.text
        )
    }

    private func later(
        _ decision: AssetDecision,
        _ answer: @escaping @Sendable (FileRequest) async -> FileAnswer
    ) -> FileDecision {
        .later(.whole) { request in
            if decision.showsRight { request.right?.show() }
            let lease = decision.note.flatMap(self.noted)
            return await answer(request).adding(missing: decision.fields).holding(lease)
        }
    }

    private func noting(_ note: ServedSelections.Note?) -> (@Sendable () -> Lease?)? {
        guard let note else { return nil }
        return { self.noted(note) }
    }

    /// - Returns: a lease that ends with the answer, if that is of the previous selection.
    private func noted(_ note: ServedSelections.Note) -> Lease? {
        guard state.withLockedValue({ $0.served.note(note, at: now()) }) else { return nil }
        return Lease { [state, now] in state.withLockedValue { $0.served.responseEnded(of: note.bundle, at: now()) } }
    }

    private func stamps() -> [ReleaseStamp] { state.withLockedValue { $0.served.stamps(at: now()) } }

    private func eventStream(after last: String?) -> FileAnswer {
        guard let pieces = events.subscribe(after: last, releases: stamps) else {
            return .tooManyPages
        }
        return .stream(
            ServedStream(
                headers: ["Content-Type": Self.eventsType, "Cache-Control": "no-store"],
                isEndless: true,
                pieces: pieces
            )
        )
    }

    private func missedEvents(after last: String?) -> FileAnswer {
        guard let text = events.missed(after: last, releases: stamps) else { return .tooManyPages }
        return .bytes(ServedBytes(bytes: text, contentType: Self.eventsType, cacheControl: "no-store"))
    }

    private static let eventsType = "text/event-stream"
}
