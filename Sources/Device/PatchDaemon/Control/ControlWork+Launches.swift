import DeviceOutput
import HTTPAPI
import NIOHTTP1
import PatchChoice
import PatchFormat
import PatchSync
import PatchCrypto
import Patchline

extension ControlWork {
    var aboutLaunches: [ControlRoute] {
        let result = APISchema.object([("result", .text())], optional: [("launch", .text())], more: true)
        return [
            ControlRoute(
                method: .POST,
                path: "\(Self.store)/switch",
                name: "switch",
                about:
                    "Starts the pending version, as `patchsync switch`; open pages reload. With `channel` or `server` it follows "
                    + "another one.",
                body: .members(optional: [("channel", .text()), ("server", .text())]),
                answers: [
                    .init(
                        status: 200,
                        about: "The result, or the followed channel or server.",
                        schema: .object(
                            [],
                            optional: [
                                ("result", .text()), ("launch", .text()), ("channel", .text()), ("server", .text()),
                                ("running", .text()),
                            ],
                            more: true
                        )
                    )
                ]
            ) { call in .json(try await switchOver(call)) },
            ControlRoute(
                method: .POST,
                path: "\(Self.store)/confirm",
                name: "confirm",
                about: "Confirms the launch on trial; with `launch`, only if it is this one.",
                body: .members(optional: [("launch", .text())]),
                answers: [.init(status: 200, about: "Confirmed, also before.", schema: result)]
            ) { call in .json(try await confirm(call)) },
            ControlRoute(
                method: .POST,
                path: "\(Self.store)/rollback",
                name: "rollBack",
                about: "Returns to the last confirmed version, as `patchsync rollback`.",
                answers: [.init(status: 200, about: "The result, and the launch if it is on trial.", schema: result)]
            ) { call in
                let device = try device(call)
                let activation = try await Self.mappingErrors { () async throws(SyncError) in
                    try await device.rollBack()
                }
                if case .rolledBack(let good, let bad) = activation {
                    log.take(
                        .rolledBack(to: good, from: bad, because: Setback(reason: .person)),
                        from: try host(call).name,
                        keptIn: StoreLog(device.store.root)
                    )
                }
                return .json(activation.json)
            },
            ControlRoute(
                method: .POST,
                path: "\(Self.store)/background",
                name: "background",
                about: "The app is hidden: its startup timer pauses.",
                answers: [.init(status: 204, about: "Noted.")]
            ) { call in
                let host = try host(call)
                try await Self.mappingErrors { () async throws(SyncError) in try await host.background() }
                return .nothing
            },
            ControlRoute(
                method: .POST,
                path: "\(Self.store)/foreground",
                name: "foreground",
                about: "The app is visible again.",
                answers: [.init(status: 204, about: "Noted.")]
            ) { call in
                let host = try host(call)
                try await Self.mappingErrors { () async throws(SyncError) in try await host.foreground() }
                return .nothing
            },
        ]
    }

    private func switchOver(_ call: ControlCall) async throws(APIProblem) -> JSON {
        let (host, fields) = (try host(call), try call.fields())
        let channel: ChannelName?
        let server: ServerURL?
        do throws(FormatError) {
            channel = fields.has("channel") ? try fields.name("channel") : nil
            server = try fields.optionalString("server").map { (text) throws(FormatError) in
                guard let url = ServerURL(text) else { throw fields.broken("server", ServerURL.rule) }
                return url
            }
        } catch { throw .invalid(error) }
        return try await Self.mappingErrors { () async throws(SyncError) in
            guard channel == nil, server == nil else {
                let device = try await host.device().following(channel: channel, server: server)
                return device.configuration.followed(running: try device.state().machine.state.running)
            }
            try await host.switchToPending()
            if case .trying(_, _, let launch) = try host.device().state().machine.state {
                return .fields([("result", .text("trying")), ("launch", .text(launch.token.text))])
            }
            return .fields([("result", .text("run"))])
        }
    }

    private func confirm(_ call: ControlCall) async throws(APIProblem) -> JSON {
        let (device, fields) = (try device(call), try call.fields())
        var token: LaunchToken?
        do throws(FormatError) {
            if let text = try fields.optionalString("launch") {
                token = LaunchToken(text)
                if token == nil { throw fields.broken("launch", "must be 32 lowercase hex digits") }
            }
        } catch { throw .invalid(error) }
        let state = try Self.mappingErrors { () throws(SyncError) in try device.state().machine.state }
        if token == nil, case .trying(_, _, let launch) = state { token = launch.token }
        guard let token else {
            throw APIProblem(state.running.map { .nothingOnTrial($0) } ?? Failure(.nothingInstalled))
        }
        let confirmation = try await Self.mappingErrors { () async throws(SyncError) in try await device.confirm(token)
        }
        do throws(Failure) { return try confirmation.result().json } catch { throw APIProblem(error) }
    }
}
