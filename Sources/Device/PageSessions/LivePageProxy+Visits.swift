import APIProxy
import AssetServer
import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import PageDiff
import PatchFormat

/// Responses to page visits.
extension LivePageProxy {
    func answer(_ visit: PageVisit) async -> FileAnswer {
        disk.checkIfDue(at: settings.now())
        switch await step(visit) {
        case .pass, .look: return await fetch(visit.request)
        case .join(let run): return await answer(visit, joining: run)
        case .start(let run):
            begin { await self.ask(visit, run, hasVisitor: true) }
            beginPreloads(of: visit)
            if let page = run.shown { return shown(page, run) }
            _ = await run.first.value()
            // There is no such response when the server stops.
            if let answer = run.takeOwn() { return answer }
            return await fetch(visit.request)
        }
    }

    private func step(_ visit: PageVisit) async -> SessionTable.Step {
        let name = nextName()
        func meet(_ found: SessionTable.Found?) -> SessionTable.Step {
            table.withLockedValue { $0.meet(visit.place, found: found, name: name, at: settings.now()) }
        }
        let first = meet(nil)
        guard case .look = first else { return first }
        // Another visit may have started meanwhile.
        return meet(await disk.page(visit.session.id))
    }

    private func answer(_ visit: PageVisit, joining run: PageRun) async -> FileAnswer {
        if let page = run.shown { return shown(page, run) }
        // A response that begins a session belongs to the first visitor.
        guard case .page(let fields, let flow) = await run.first.value(), !fields.contains(name: "Set-Cookie"),
            let reader = flow.reader()
        else { return await fetch(visit.request) }
        return flowing(fields, reader)
    }

    private func flowing(_ fields: HTTPHeaders, _ reader: PageFlow.Reader) -> FileAnswer {
        .stream(ServedStream(headers: fields) { write in try await reader.send(write) })
    }

    /// The page as it was stored.
    private func shown(_ page: KeptPage, _ run: PageRun) -> FileAnswer {
        var fields = page.fields
        fields.remove(name: "Content-Type")
        fields.name(visit: run.name)
        let cookies = table.withLockedValue { $0.takeLate(run.place.session, visit: nil, at: settings.now()) }
        for cookie in cookies { fields.add(name: "Set-Cookie", value: cookie) }
        return .bytes(
            ServedBytes(
                bytes: page.page.page,
                contentType: page.fields.first(name: "Content-Type") ?? "text/html",
                // The back button must ask again, because the stored page is newer by then.
                cacheControl: "no-store",
                headers: fields
            )
        )
    }

    // MARK: Asking

    /// Asks the page's server, stores the page and reports the result.
    ///
    /// - Parameter hasVisitor: Whether a visitor waits for the response.
    func ask(_ visit: PageVisit, _ run: PageRun, hasVisitor: Bool) async {
        if run.shown == nil {
            await loadFirst(visit, run, hasVisitor: hasVisitor)
        } else {
            await revalidate(visit, run)
        }
        // Only the outcome remains, without pages.
        begin { [settings, table, name = run.name] in
            try? await settings.sleep(PageLimits.outcomeTime)
            table.withLockedValue { $0.forget(visit: name) }
        }
    }

    private func loadFirst(_ visit: PageVisit, _ run: PageRun, hasVisitor: Bool) async {
        let answer = await fetch(visit.request.with(headers: visit.request.headers.asking(for: nil)))
        guard case .stream(let stream) = answer else {
            return finish(run, first: .nothing, own: hasVisitor ? answer : nil)
        }
        let reply = PageReply(stream)
        switch FirstLoad(reply, stream.headers, takesUntagged: visit.pages.takesUntagged) {
        case .pass: finish(run, first: .nothing, own: hasVisitor ? answer : nil)
        case .requestPlainly:
            let plain = hasVisitor ? await fetch(visit.request) : nil
            switchOffIfRequested(reply, run)
            finish(run, first: .nothing, own: plain)
        case .collect: await collect(stream, reply, visit, run, hasVisitor: hasVisitor)
        }
    }

    /// Ends a visit whose response is not a page of the protocol.
    private func finish(_ run: PageRun, first: PageRun.First, own: FileAnswer?) {
        table.withLockedValue { $0.finish(run, nil, cookies: [], at: settings.now()) }
        run.begin(first, own: own)
        run.end.set(nil)
    }

    private func switchOffIfRequested(_ reply: PageReply, _ run: PageRun) {
        guard reply.cacheOffline == .switchOff else { return }
        switchOff(run.place.session)
    }

    private func switchOff(_ session: PageSession) {
        let now = settings.now()
        let until = now.adding(PageLimits.switchedOffTime)
        disk.switchOff(session.id, until: until, at: now)
        table.withLockedValue { $0.switchOff(session, until: until) }
    }

    private func collect(
        _ stream: ServedStream,
        _ reply: PageReply,
        _ visit: PageVisit,
        _ run: PageRun,
        hasVisitor: Bool
    ) async {
        let coding = stream.headers.pageCoding(against: nil) ?? .identity
        let flow = PageFlow()
        var fields = stream.headers.ofFirstLoad(decoded: coding != .identity)
        fields.name(visit: run.name)
        run.begin(.page(fields, flow), own: hasVisitor ? flow.reader().map { flowing(fields, $0) } : nil)
        do { try await pull(stream, coding, into: flow, of: run) } catch {
            table.withLockedValue { $0.finish(run, nil, cookies: [], at: settings.now()) }
            flow.finish(whole: false)
            return run.end.set(nil)
        }
        let body = flow.collected
        if let body {
            let takesUntagged = visit.pages.takesUntagged
            let outcome = PageOutcome(of: reply, body: body, kept: nil, takesUntagged: takesUntagged)
            finish(run, outcome, PageAnswered(reply, stream.headers), visit)
        } else {
            table.withLockedValue { $0.finish(run, nil, cookies: [], at: settings.now()) }
            run.end.set(nil)
        }
        flow.finish(whole: true)
    }

    /// Forwards a page's bytes to its readers.
    ///
    /// After ``PageLimits/answerTime`` the page is not stored any more and the visit ends, but its readers receive the rest.
    private func pull(
        _ stream: ServedStream,
        _ coding: PageCoding,
        into flow: PageFlow,
        of run: PageRun
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                guard (try? await self.settings.sleep(PageLimits.answerTime)) != nil else { return }
                flow.stopCollecting()
                self.table.withLockedValue { $0.finish(run, nil, cookies: [], at: self.settings.now()) }
                run.end.set(nil)
            }
            defer { group.cancelAll() }
            try await Self.send(stream, coding, to: flow)
        }
    }

    private static func send(_ stream: ServedStream, _ coding: PageCoding, to flow: PageFlow) async throws {
        let decoder = try PageDecoder(coding)
        try await stream.send { (piece) throws(ClientDisconnected) in
            // A page that is too large is cut off if it has no reader.
            do { try await decoder.append(piece, to: flow) } catch { throw ClientDisconnected() }
        }
        try await decoder.finish(flow)
    }

    private func revalidate(_ visit: PageVisit, _ run: PageRun) async {
        let asked = await within(PageLimits.answerTime) { await self.outcome(visit, run) }
        let (outcome, answered) = asked ?? (.plain, .late)
        finish(run, outcome, answered, visit)
    }

    /// Asks the server for changes of a page that is already shown.
    private func outcome(_ visit: PageVisit, _ run: PageRun) async -> (PageOutcome, PageAnswered) {
        guard let shown = run.shown else { return (.plain, .late) }
        let (first, answered) = await outcome(visit, sending: shown, against: shown.page)
        guard case .inconsistent = first else { return (first, answered) }
        // The stored page is damaged, and therefore so are its tags.
        disk.drop(run.place.session.id)
        let (second, again) = await outcome(visit, sending: nil, against: nil)
        let both = again.adding(cookies: answered.cookies)
        guard case .firstLoad(let page) = second else { return (.inconsistent(.pageTag), both) }
        return (.templateChange(page), both)
    }

    private func outcome(
        _ visit: PageVisit,
        sending kept: KeptPage?,
        against page: SplitPage?
    ) async -> (PageOutcome, PageAnswered) {
        let asked = visit.request.with(headers: visit.request.headers.asking(for: kept))
        let answer = await fetch(asked)
        guard case .stream(let stream) = answer else { return (.plain, .missing(answer)) }
        let reply = PageReply(stream)
        let answered = PageAnswered(reply, stream.headers)
        guard reply.status == 200 else {
            return (PageOutcome(of: reply, body: [], kept: page, takesUntagged: false), answered)
        }
        guard let coding = stream.headers.pageCoding(against: page) else { return (.plain, answered) }
        let limit = reply.templateChanged == false ? PageLimits.update : PageLimits.page
        switch await collected(stream, coding, limit: limit) {
        case .cut: return (.plain, .late)
        case .tooLarge: return (.plain, answered)
        case .whole(let body):
            let takesUntagged =
                visit.pages.takesUntagged && stream.headers.isPage
                && !stream.headers.cacheDirectives.contains("no-store")
            return (PageOutcome(of: reply, body: body, kept: page, takesUntagged: takesUntagged), answered)
        }
    }

    enum Collected: Sendable {
        case whole([UInt8])
        case tooLarge
        case cut
    }

    func collected(_ stream: ServedStream, _ coding: PageCoding, limit: Int) async -> Collected {
        let flow = PageFlow(limit: limit)
        do { try await Self.send(stream, coding, to: flow) } catch { return flow.collected == nil ? .tooLarge : .cut }
        return flow.collected.map { .whole($0) } ?? .tooLarge
    }

    // MARK: Storing and reporting

    private func finish(_ run: PageRun, _ outcome: PageOutcome, _ answered: PageAnswered, _ visit: PageVisit) {
        let (session, now) = (run.place.session, settings.now())
        let changesAccount = visit.pages.changesAccount(answered.fields, from: run.place.account)
        let isSignedOut = !changesAccount && table.withLockedValue { $0.hasEnded(run) }
        let verdict = PageVerdict(
            outcome,
            answered.reply,
            shown: run.shown?.page,
            isOthers: changesAccount || isSignedOut
        )
        var page: KeptPage?
        switch verdict.keeping {
        case .asItIs: page = run.shown
        case .replace(let new):
            let kept = KeptPage(
                new,
                answered.fields,
                fields: answered.isUpdate
                    ? run.shown?.fields.updated(by: answered.fields) ?? [:] : answered.fields.ofKeptPage,
                usesProtocol: answered.reply.usesProtocol,
                at: now
            )
            page = kept
            // Stored before the next visit can start, which reads it.
            disk.keep(kept, as: session.id, of: run.place.account)
        case .drop: disk.drop(session.id)
        case .switchOff: switchOff(session)
        }
        let cookies = run.shown == nil || isSignedOut ? [] : answered.cookies
        // If the account signed out meanwhile, everything stored before is dropped.
        let hasEnded = table.withLockedValue { table in
            if case .overloaded = outcome { table.passesNext(session) }
            let hasEnded = table.hasEnded(run)
            table.finish(run, hasEnded ? nil : page, cookies: cookies, at: now)
            return hasEnded
        }
        if hasEnded { disk.drop(session.id) }
        let savedAt = run.shown?.savedAt ?? page?.savedAt ?? run.startedAt
        run.end.set(PageRun.End(result: verdict.result, savedAt: savedAt))
        if run.shown != nil, [PageResult.dataUpdate, PageResult.templateChange].contains(verdict.result.code) {
            notify(.page(target: run.place.target, visit: run.name, code: verdict.result.code))
        }
        if page != nil { beginLinks(answered.reply.links, of: visit) }
    }

    /// Nil if the time is over first.
    func within<Value: Sendable>(_ time: Duration, _ work: @escaping @Sendable () async -> Value) async -> Value? {
        await withTaskGroup(of: Value?.self) { [settings] group in
            group.addTask { await work() }
            group.addTask {
                try? await settings.sleep(time)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}

extension PageReply {
    /// Treats a page with `no-store` as one that is never stored, even if the protocol's field allows it.
    init(_ stream: ServedStream) {
        self.init(status: Int(stream.status.code)) { name in
            let value = stream.headers.first(name: name)
            let keepsNothing =
                name == PageField.cacheOffline && value != nil && stream.headers.cacheDirectives.contains("no-store")
            return keepsNothing ? CacheOffline.keepNothing.rawValue : value
        }
    }
}
