import HTTPAPI
import NIOHTTP1
import PatchFormat
import PatchServer
import PatchTrust
import ReleaseService
import ServerRecords

extension APIWork {
    /// The size of a JSON document that is contained in JSON as text.
    private static let bodyLimit = 2 * (Limits.root * 8 + Limits.targetsRole)

    var aboutTrust: [OperatorRoute] {
        [
            OperatorRoute(
                method: .POST,
                path: "/apps",
                name: "createApp",
                about: """
                    Starts an app with its root of trust, as `patchsrv init` does. The online key is PEM, encrypted with the \
                    passphrase that the server was started with.
                    """,
                access: .server(.admin),
                body: .json(
                    .object([("root", .file), ("targets", .file), ("onlineKey", .key)]),
                    limit: Self.bodyLimit
                ),
                answers: [
                    .init(
                        status: 201,
                        about: "The app, which offers nothing yet.",
                        schema: .object([("app", .app), ("root", .positive), ("targets", .positive)])
                    )
                ],
                problems: [409, 422, 507],
                work: createApp
            ),
            OperatorRoute(
                method: .GET,
                path: "/apps/{app}/trust",
                name: "showTrust",
                about: "The root and targets roles of the app.",
                access: .app(.viewer),
                answers: [.init(status: 200, about: "Versions, and the digest of targets.", schema: .document)],
                work: { call in
                    let app = try call.app()
                    return .json(
                        try await operations.looking(app) { (repository) throws(ServerError) in
                            try repository.trustSummary()
                        }
                    )
                }
            ),
            OperatorRoute(
                method: .PUT,
                path: "/apps/{app}/trust",
                name: "updateTrust",
                about: """
                    Installs a newer root of trust, as `patchsrv trust` does. One that needs releases of changed \
                    channels requires that command.
                    """,
                access: .app(.admin),
                body: .json(
                    .object(
                        [("root", .file), ("targets", .file)],
                        optional: [
                            ("earlierRoots", .array(.file, upTo: Limits.rootRotations)), ("onlineKey", .key),
                            ("carryOver", .array(.channel, upTo: 100)),
                        ]
                    ),
                    limit: Self.bodyLimit
                ),
                answers: [
                    .init(status: 200, about: "The same as patchsrv trust --json prints.", schema: .document)
                ],
                problems: [409, 422, 507],
                work: updateTrust
            ),
        ]
    }

    @Sendable private func createApp(_ call: APICall) async throws -> APIAnswer {
        let fields = try await call.fields()
        let (root, targets, key): ([UInt8], [UInt8], [UInt8])
        do throws(FormatError) {
            root = Array(try fields.string("root").utf8)
            targets = Array(try fields.string("targets").utf8)
            key = Array(try fields.string("onlineKey").utf8)
        } catch { throw APIProblem.malformed(error) }
        let trust: RootOfTrust
        do throws(ServerError) {
            trust = try RootOfTrust(root: root, targets: targets, at: records.now())
        } catch { throw OperationError.server(error) }
        try await StartApp(trust, by: call.actor, operations).run(onlineKeyFile: key)
        return .json(
            .fields([
                ("app", .text(trust.app.text)), ("root", .integer(trust.root.header.version)),
                ("targets", .integer(trust.targets.header.version)),
            ]),
            status: 201
        )
    }

    @Sendable private func updateTrust(_ call: APICall) async throws -> APIAnswer {
        let app = try call.app()
        let fields = try await call.fields()
        let (root, targets, key): ([UInt8], [UInt8], [UInt8]?)
        let (earlier, carried): ([[UInt8]], [ChannelName])
        do throws(FormatError) {
            root = Array(try fields.string("root").utf8)
            targets = Array(try fields.string("targets").utf8)
            key = try fields.optionalString("onlineKey").map { Array($0.utf8) }
            earlier =
                try fields.has("earlierRoots")
                ? fields.strings("earlierRoots", limit: Limits.rootRotations).map { Array($0.utf8) } : []
            carried = try fields.has("carryOver") ? fields.channels("carryOver") : []
        } catch { throw APIProblem.malformed(error) }
        let offered: TrustUpload
        do throws(ServerError) {
            offered = try TrustUpload(root: root, earlierRoots: earlier, targets: targets)
        } catch { throw OperationError.server(error) }
        let outcome = try await FollowTrust(
            to: offered,
            of: app,
            carryingOver: Set(carried),
            by: call.actor,
            operations
        ).run(onlineKeyFile: key)
        return .json(outcome.json(app: app))
    }
}

extension Fields {
    fileprivate func channels(_ key: String) throws(FormatError) -> [ChannelName] {
        var channels: [ChannelName] = []
        for text in try strings(key, limit: 100) {
            guard let channel = ChannelName(text) else { throw broken(key, ChannelName.rule) }
            channels.append(channel)
        }
        return channels
    }
}

extension APISchema {
    /// The exact bytes of a signed document, because others compare them.
    fileprivate static let file = text(upTo: Limits.targetsRole)
    fileprivate static let key = text("^[^\\u0000]*$", upTo: Limits.keyFile)
}
