import HTTPFiles
import NIOHTTP1
import PatchFormat

/// A page's call that waits for the app behind it.
package struct PendingCall: Sendable {
    let call: PageAPI.Call
    /// What the page that calls came from.
    let selection: ServedSelection
    let host: any PageHost

    /// - Parameter body: of the request.
    func answer(_ events: PageEvents, to body: [UInt8]) async -> FileAnswer {
        switch call {
        case .scriptFailed: await answer(toReport: body)
        case .pageError: await answer(toError: body)
        case .confirm(let launch): PageAPI.answer(await host.confirm(launch))
        case .switchToPending: PageAPI.answer(await host.switchToPending())
        case .check: PageAPI.json(.accepted, "result", await host.checkForUpdates().rawValue)
        case .parameters: await host.parameters().answer
        case .report: PageAPI.json(.ok, await host.debugReport())
        case .status:
            PageAPI.json(
                .ok,
                await host.status().json(
                    running: selection.version,
                    onTrial: selection.launch != nil,
                    sync: events.sync
                )
            )
        case .script, .pageScript, .page, .scripts, .patch, .language, .events: .notFound
        }
    }

    /// The answer is the same for a known error: a page has nothing to decide by it.
    private func answer(toError body: [UInt8]) async -> FileAnswer {
        do throws(FormatError) {
            let json = try JSON.document(body, named: "report", limit: PageError.limit)
            let fields = try Fields(json, of: "report")
            let launch = try fields.string("launch")
            // The page belongs to the launch that it was served by.
            guard launch == selection.launch else { return PageAPI.answer(.otherLaunch) }
            let reported = try PageError(reported: fields)
            await host.pageFailed(reported, in: launch)
            return PageAPI.json(.ok, "result", "told")
        } catch { return PageAPI.json(.badRequest, "error", error.description) }
    }

    private func answer(toReport body: [UInt8]) async -> FileAnswer {
        let failure: ScriptFailure
        do throws(FormatError) { failure = try ScriptFailure(body) } catch {
            return PageAPI.json(.badRequest, "error", error.description)
        }
        guard let script = selection.scripts[failure.patchID], script.version == failure.version,
            script.place.isInPages
        else { return PageAPI.answer(.unknown) }
        return PageAPI.answer(await host.scriptFailed(failure, script.sha256))
    }
}
