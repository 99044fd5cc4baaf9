import DeviceOutput
import HTTPAPI
import NIOHTTP1
import PatchChoice
import PatchFetch
import PatchFormat
import PatchSync
import Patchline

extension ControlWork {
    var aboutSyncs: [ControlRoute] {
        [
            ControlRoute(
                method: .POST,
                path: "\(Self.store)/sync",
                name: "sync",
                about:
                    "As `patchsync sync --json`; the response is sent when it is over. With `dry-run` in the query it is the "
                    + "cost alone.",
                query: [
                    .init(name: "dry-run", about: "Return only the cost, and download only metadata.", schema: .text())
                ],
                headers: [.init(name: "Prefer", about: "`respond-async`: do not wait for its end.", schema: .text())],
                body: .members(optional: [("metered", .bool), ("retryFailed", .bool)]),
                answers: [
                    .init(
                        status: 200,
                        about: "The result, or the cost.",
                        schema: .either([.named("Sync"), .named("Cost")])
                    ),
                    .init(status: 202, about: "The sync begins; an event reports its result."),
                ]
            ) { call in try await sync(call) },
            ControlRoute(
                method: .GET,
                path: "\(Self.store)/cost",
                name: "cost",
                about: "As `patchsync sync --dry-run --json`: the versions that a sync would download, and their cost.",
                answers: [.init(status: 200, about: "The cost.", schema: .named("Cost"))]
            ) { call in .json(try await cost(call, SyncRequest())) },
        ]
    }

    private func sync(_ call: ControlCall) async throws(APIProblem) -> APIAnswer {
        let (host, wish) = (try host(call), try wish(call))
        if call.query("dry-run") != nil { return .json(try await cost(call, wish)) }
        guard !call.prefersAsynchronous else {
            // The result is an event, including a failure.
            later { _ = try? await host.sync(wish) }
            let headers: HTTPHeaders = [
                "Preference-Applied": "respond-async", "Location": "/v1/stores/\(host.name)/events",
            ]
            return .json(.fields([]), status: 202, headers: headers)
        }
        return try await Self.mappingErrors { () async throws(SyncError) in
            let report = try await host.sync(wish)
            // The sync is over. A script that cannot be read now does not change its result.
            return .json(report.json((try? host.device().scripts()) ?? []))
        }
    }

    private func wish(_ call: ControlCall) throws(APIProblem) -> SyncRequest {
        let fields = try call.fields()
        var wish = SyncRequest()
        do throws(FormatError) {
            if fields.has("metered") { wish.isMetered = try fields.bool("metered") }
            wish.retriesFailed = try fields.bool("retryFailed", default: false)
        } catch { throw .invalid(error) }
        return wish
    }

    private func cost(_ call: ControlCall, _ wish: SyncRequest) async throws(APIProblem) -> JSON {
        let device = try device(call)
        return try await Self.mappingErrors { () async throws(SyncError) in
            // No server is contacted during a trial, because a response that ends the process would count against it.
            if case .trying = try device.state().machine.state { throw .waitsForTrial }
            var network = device.configuration.network
            if let isMetered = wish.isMetered { network.isMetered = isMetered }
            return try await device.forecast(deadlines, retryFailed: wish.retriesFailed, network: network).json
        }
    }
}
