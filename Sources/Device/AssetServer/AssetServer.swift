package import HTTPCore
import PatchCrypto
package import HTTPFiles
import NIOConcurrencyHelpers
package import NIOHTTP1
import NIOPosix
package import PatchFormat
package import SystemPackage

/// Serves the active bundle to the app alone.
///
/// Looks for manifest URLs first, then in the app's own folder, then for client-side routes (M18).
///
/// ``serve(_:)`` changes the served selection atomically. An open page keeps the release from which it was loaded
/// (``ServedSelections``).
package final class AssetServer: FileSource {
    /// How files are served, and to which clients.
    package struct Settings: Sendable {
        package var access: Access
        package var types = ContentTypeRules()
        /// A folder of the app itself, searched after the bundle.
        ///
        /// Its `application/` is never served.
        package var www: FilePath?
        /// The folder served under `/local-filesystem/…`; nil for none.
        package var localFiles: FilePath?
        /// Handles the calls below `/__patchline/uploads/` for clients with the token; nil for none.
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

    /// - Parameter now: Returns the time of a monotonic clock.
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

    /// Sets the host that handles pages' calls.
    package func connect(_ host: any PageHost) {
        state.withLockedValue { $0.host = host }
    }

    /// Sets the delegate for requests that are not the page API's and match no file.
    ///
    /// It precedes client-side routes, and never receives the access token.
    package func delegate(to delegate: any RequestDelegate) {
        (delegate as? any PageDelegate)?.connect(events)
        state.withLockedValue { state in
            state.delegate = delegate
            state.edition += 1
        }
    }

    /// Sets the port that a Host must name, and the cookie's value.
    ///
    /// Call it before the first request of each run.
    ///
    /// - Parameter pass: Replaces the value that ``Access/pass()`` chooses.
    package func listening(on port: Int, pass: AccessToken? = nil) {
        state.withLockedValue { state in
            state.session = Session(port: port, pass: pass ?? access.pass())
            state.edition += 1
        }
    }

    /// Whether a version is served.
    package var isServing: Bool { state.withLockedValue { $0.served.current.table != nil } }

    /// Whether new pages receive this bundle, identified by its manifest's digest.
    package func isCurrent(_ bundle: SHA256Digest?) -> Bool {
        state.withLockedValue { $0.served.current.table?.bundle == bundle }
    }

    /// Whether pages of the previous selection are still served.
    ///
    /// Releases that selection when its time is over.
    package func servesPrevious() -> Bool {
        state.withLockedValue { state in
            state.served.forgetPrevious(at: now())
            return state.served.hasPrevious
        }
    }

    /// Whether any page was loaded, and may still be open.
    package var hasPages: Bool { state.withLockedValue { $0.served.hasPages } }

    /// The shortest time until ``servesPrevious()`` can become false; nil without a previous selection.
    package var previousLasts: Duration? { state.withLockedValue { $0.served.previousLasts(at: now()) } }

    package func serve(_ selection: ServedSelection) {
        state.withLockedValue { state in
            state.served.serve(selection, at: now())
            state.edition += 1
        }
        events.notify(.switched(version: selection.version))
    }

    /// Records that the host knows of a shown page of this launch.
    package func opened(_ launch: String) {
        state.withLockedValue { state in
            state.served.opened(launch)
            state.edition += 1
        }
    }

    package var edition: Int { state.withLockedValue(\.edition) }

    /// Returns the fields that restrict sharing in browsers, and those that an accepted origin needs to read a response.
    package func everyAnswerFields(to headers: HTTPHeaders?) -> HTTPHeaders {
        var fields = headers.map { Admission.crossOriginFields(for: $0, access) } ?? [:]
        fields.add(missing: access.securityHeaders)
        return fields
    }

    /// Returns the decision on a request, from the present facts.
    package func decision(on request: FileRequest) -> AssetDecision {
        state.withLockedValue(\.self).decide(request, at: now())
    }

    package func passesAsSent(_ request: FileRequest) -> Bool {
        state.withLockedValue(\.self).passesAsSent(request)
    }

    package func decide(_ request: FileRequest) -> FileDecision {
        carrying(out: decision(on: request), for: request)
    }

    private func carrying(out decision: AssetDecision, for request: FileRequest) -> FileDecision {
        if decision.showing != nil { return showing(decision) }
        switch decision.action {
        case .answer(let answer):
            // The task behind the connection's handler answers this, as it does for all of the page API.
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
        case .call(let call): return later(decision) { await call.answer(self.context, to: $0.body) }
        case .entering: return .later(.whole) { self.entering($0) }
        case .events(let last, let isPoll):
            return later(decision) { _ in isPoll ? self.missedEvents(after: last) : self.eventStream(after: last) }
        case .delegate(let delegate, let shown):
            let delegated = delegate.decide(shown)
            return .later(delegated.intake) { request in
                if decision.showsRight { request.right?.show() }
                // The delegate's response contains nothing of the selection, so the request's use of it ends here.
                _ = decision.note.map(self.noted)
                let request = request.with(query: shown.query).with(headers: shown.headers)
                return await delegated.answer(to: request).adding(missing: decision.fields)
            }
        }
    }

    /// A document without a stamp cannot report that it is shown.
    ///
    /// It counts as shown before its first byte is sent. Otherwise a page that ends the process at once would be tried repeatedly.
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
                // Decide again, for the selection that is served now.
                let again = self.decision(on: request)
                guard again.showing?.waiting == nil else {
                    return FileAnswer.otherVersionStarts.adding(missing: decision.fields)
                }
                return await self.carrying(out: again, for: request).answer(to: request)
            }
            return await self.later(plain) { _ in answer }.answer(to: request)
        }
    }

    /// - Returns: Whether the document's selection is still served.
    private func shown(_ showing: AssetDecision.Showing) async -> Bool {
        state.withLockedValue { $0.served.sendsUnstamped(showing.stamp) }
        guard let waiting = showing.waiting else { return true }
        await waiting.host.pageShown(waiting.launch)
        return state.withLockedValue { $0.served.current.stamp == showing.stamp && !$0.served.current.awaitsPage }
    }

    /// Issues the cookie for the access token or the return key.
    private func entering(_ request: FileRequest) -> FileAnswer {
        do throws(FormatError) {
            guard try TokenExchange(request.body).opens(access) else { return TokenExchange.refused }
        } catch { return PageAPI.json(.badRequest, "error", error.description) }
        request.right?.show()
        return TokenExchange.granted(access.cookieField(in: state.withLockedValue(\.session)))
    }

    private var context: PendingCall.Context {
        PendingCall.Context(
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

    /// - Returns: A lease that ends with the response, if the response is of the previous selection.
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
