import HTTPFiles
import NIOHTTP1
import PatchFormat

/// A page's call that waits for the app behind it.
package struct PendingCall: Sendable {
    /// The server's facts when the body of a call has arrived.
    struct Context: Sendable {
        let events: PageEvents
        let served: @Sendable () -> ServedSelections
        /// The time of the monotonic clock.
        let now: @Sendable () -> Duration
        /// A key with which a page regains access after a restart; nil if every program has access.
        let returnKey: String?
    }

    let call: PageAPI.Call
    /// The selection of the calling page, by its Referer.
    let selection: ServedSelection
    let host: any PageHost

    /// - Parameter body: The body of the request.
    func answer(_ context: Context, to body: [UInt8]) async -> FileAnswer {
        switch call {
        case .shown: await answer(toShown: body, context)
        case .scriptFailed: await answer(toReport: body, context)
        case .pageError: await answer(toError: body, context)
        case .confirm(let speaker): await confirm(speaker, body, context)
        case .switchToPending: PageAPI.answer(await host.switchToPending())
        case .check: PageAPI.json(.accepted, "result", await host.checkForUpdates().rawValue)
        case .parameters: await host.parameters().answer
        case .report: PageAPI.json(.ok, await host.debugReport())
        case .status(let speaker): await status(of: speaker, context)
        case .script, .pageScript, .page, .scripts, .patch, .language, .events, .enter: .notFound
        }
    }

    private func answer(toShown body: [UInt8], _ context: Context) async -> FileAnswer {
        let document: ShownDocument
        do throws(FormatError) { document = try ShownDocument(body) } catch { return Self.refused(error) }
        let arrived = context.now()
        var served = context.served()
        if document.page == served.current.stamp, served.current.awaitsPage, let launch = served.current.launch {
            await host.pageShown(launch)
            // A launch that cannot be counted ends at once, and another version is served.
            served = context.served()
        }
        let verdict = served.verdict(on: document, at: arrived)
        if verdict == .stale, document.reloads >= Self.reloadsInVain {
            await host.pageStaysStale(served.version(of: document.page) ?? document.version)
        }
        return PageAPI.json(
            .ok,
            .fields([
                ("result", .text(verdict.rawValue)), ("release", served.current.stamp.map { .text($0.text) } ?? .null),
                ("key", context.returnKey.map { .text($0) }),
            ])
        )
    }

    /// A stale page reloads once, and once more without its workers.
    ///
    /// After that it stops.
    private static let reloadsInVain = 2

    private func confirm(_ speaker: CallingPage, _ body: [UInt8], _ context: Context) async -> FileAnswer {
        var speaker = speaker
        if speaker == .unnamed {
            do throws(FormatError) { speaker = try CallingPage(body: body) } catch { return Self.refused(error) }
        }
        let served = context.served()
        switch speaker {
        case .launch(let token): return PageAPI.answer(await host.confirm(token))
        case .unnamed where !served.hasUnstampedPage: return PageAPI.noStamp
        case .page(let stamp) where stamp != served.current.stamp:
            let page = served.version(of: stamp) ?? "another release (\(stamp))"
            return PageAPI.otherRelease(page, served: served.current.version)
        case .page, .unnamed:
            guard let launch = served.current.launch else { return PageAPI.answer(.alreadyConfirmed) }
            return PageAPI.answer(await host.confirm(launch))
        }
    }

    private func status(of speaker: CallingPage, _ context: Context) async -> FileAnswer {
        var (running, isOnTrial) = (selection.version, selection.launch != nil)
        if case .page(let stamp) = speaker {
            let served = context.served()
            let selection = served.selection(of: stamp, at: context.now())
            running = selection?.version ?? served.version(of: stamp)
            isOnTrial = selection.map { $0.launch != nil } ?? false
        }
        let status = await host.status()
        return PageAPI.json(.ok, status.json(running: running, onTrial: isOnTrial, sync: context.events.sync))
    }

    /// Returns the same response for a known error, because no decision of the page depends on it.
    private func answer(toError body: [UInt8], _ context: Context) async -> FileAnswer {
        do throws(FormatError) {
            let json = try JSON.document(body, named: "report", limit: PageError.limit)
            let fields = try Fields(json, of: "report")
            let launch: String?
            switch try CallingPage(fields) {
            case .unnamed: throw fields.broken("page", ReleaseStamp.rule)
            case .page(let stamp):
                let current = context.served().current
                guard stamp == current.stamp else { return PageAPI.answer(.otherLaunch) }
                launch = current.launch
            case .launch(let token):
                // A page belongs to the launch that served it.
                guard token == selection.launch else { return PageAPI.answer(.otherLaunch) }
                launch = token
            }
            let reported = try PageError(reported: fields)
            if let launch { await host.pageFailed(reported, in: launch) }
            return PageAPI.json(.ok, "result", "told")
        } catch { return Self.refused(error) }
    }

    private func answer(toReport body: [UInt8], _ context: Context) async -> FileAnswer {
        let failure: ScriptFailure
        let selection: ServedSelection
        do throws(FormatError) {
            let json = try JSON.document(body, named: "report", limit: ScriptFailure.limit)
            let fields = try Fields(json, of: "report")
            let reported = try ScriptFailure(reported: fields)
            switch try CallingPage(fields) {
            case .page(let stamp):
                guard let named = context.served().selection(of: stamp, at: context.now()) else {
                    return PageAPI.answer(.unknown)
                }
                (selection, failure) = (named, reported.inLaunch(named.launch))
            case .launch(let token): (selection, failure) = (self.selection, reported.inLaunch(token))
            case .unnamed: (selection, failure) = (self.selection, reported)
            }
        } catch { return Self.refused(error) }
        guard let script = selection.scripts[failure.patchID], script.version == failure.version,
            script.place.isInPages
        else { return PageAPI.answer(.unknown) }
        return PageAPI.answer(await host.scriptFailed(failure, script.sha256))
    }

    private static func refused(_ error: FormatError) -> FileAnswer {
        PageAPI.json(.badRequest, "error", error.description)
    }
}
