import HTTPFiles
import NIOHTTP1
import PatchFormat

/// A page's call that waits for the app behind it.
package struct PendingCall: Sendable {
    let call: PageAPI.Call
    /// What the page that calls came from.
    let selection: ServedSelection
    let host: any PageHost

    func answer(_ events: PageEvents) async -> FileAnswer {
        switch call {
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
        case .script, .scripts, .patch, .events: .notFound
        }
    }
}
