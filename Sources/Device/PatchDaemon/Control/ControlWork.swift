import DeviceOutput
import HTTPAPI
import HTTPFiles
import NIOHTTP1
import PatchChoice
import PatchFetch
import PatchFormat
import PatchSync
import Patchline

/// The routes of the local socket and their work.
struct ControlWork: Sendable {
    let hosts: @Sendable () -> [any StoreHost]
    let log: EventLog
    let deadlines: Deadlines
    let beat: Duration
    /// Runs a task after the response.
    let later: @Sendable (@escaping @Sendable () async -> Void) -> Void

    /// All routes, including the one that describes them.
    var routes: [ControlRoute] {
        let routes = aboutThis + aboutStores + aboutSyncs + aboutLaunches + aboutDecisions + aboutSettings + aboutEvents
        let document = ControlDescription.make(routes)
        return routes + [
            ControlRoute(
                method: .GET,
                path: "/v1/openapi.json",
                name: "describe",
                about: "This description.",
                answers: [.init(status: 200, about: "OpenAPI 3.1.")]
            ) { _ in .json(document) }
        ]
    }

    func host(_ call: ControlCall) throws(APIProblem) -> any StoreHost {
        guard let host = hosts().first(where: { $0.name == call.parameters["store"] }) else {
            throw .noSuchStore
        }
        return host
    }

    func device(_ call: ControlCall) throws(APIProblem) -> Device {
        let host = try host(call)
        return try Self.mappingErrors { () throws(SyncError) in try host.device() }
    }

    /// Runs device work, and converts its errors into problems.
    static func mappingErrors<Result>(_ work: () throws(SyncError) -> Result) throws(APIProblem) -> Result {
        do throws(SyncError) { return try work() } catch { throw APIProblem(error) }
    }

    static func mappingErrors<Result>(_ work: () async throws(SyncError) -> Result) async throws(APIProblem) -> Result {
        do throws(SyncError) { return try await work() } catch { throw APIProblem(error) }
    }

    static let store = "/v1/stores/{store}"

    // MARK: Process and stores

    private var aboutThis: [ControlRoute] {
        [
            ControlRoute(
                method: .GET,
                path: "/v1",
                name: "describeDaemon",
                about: "The program, and the names of its stores.",
                answers: [
                    .init(
                        status: 200,
                        about: "The version of the program, and its stores.",
                        schema: .object([("version", .text()), ("stores", .array(.text()))], more: true)
                    )
                ]
            ) { _ in
                .json(
                    .fields([
                        ("version", .text(Product.version)), ("stores", .array(hosts().map { .text($0.name) })),
                    ])
                )
            },
            ControlRoute(
                method: .GET,
                path: "/v1/stores",
                name: "listStores",
                about: "Each store, as in GET /v1/stores/{store}.",
                answers: [
                    .init(
                        status: 200,
                        about: "The stores.",
                        schema: .object([("stores", .array(Self.overview))], more: true)
                    )
                ]
            ) { _ in
                var stores: [JSON] = []
                for host in hosts() { stores.append(try await Self.overview(of: host)) }
                return .json(.fields([("stores", .array(stores))]))
            },
        ]
    }

    private var aboutStores: [ControlRoute] {
        [
            ControlRoute(
                method: .GET,
                path: Self.store,
                name: "describeStore",
                about: "The URL of its pages, its active versions, and the time of the next request to its server.",
                answers: [.init(status: 200, about: "The store.", schema: Self.overview)]
            ) { call in .json(try await Self.overview(of: try host(call))) },
            ControlRoute(
                method: .GET,
                path: "\(Self.store)/status",
                name: "status",
                about: "As `patchsync status --json`.",
                answers: [.init(status: 200, about: "The state of the device.", schema: .named("Status"))]
            ) { call in
                let device = try device(call)
                return .json(
                    try Self.mappingErrors { () throws(SyncError) in try device.status().json(device.configuration) }
                )
            },
            ControlRoute(
                method: .GET,
                path: "\(Self.store)/explain",
                name: "explain",
                about: "As `patchsync explain --json`: why the device gets or does not get each listed version.",
                query: [
                    .init(name: "patch", about: "Only this patch.", schema: .text()),
                    .init(name: "version", about: "Only this version of the patch.", schema: .text()),
                    .init(name: "at", about: "The time for which to decide: YYYY-MM-DDTHH:MM:SSZ.", schema: .text()),
                ],
                answers: [.init(status: 200, about: "Why.", schema: .named("Explanation"))]
            ) { call in .json(try explain(call)) },
            ControlRoute(
                method: .GET,
                path: "\(Self.store)/log",
                name: "log",
                about: "As `patchsync log --json`: the events of the store, oldest first.",
                query: [
                    .init(name: "since", about: "Only lines from this time on: YYYY-MM-DDTHH:MM:SSZ.", schema: .text())
                ],
                answers: [
                    .init(
                        status: 200,
                        about: "The lines of its log.",
                        schema: .object([("lines", .array(.named("Status.logLine")))], more: true)
                    )
                ]
            ) { call in
                let (log, since) = (StoreLog(try device(call).store.root), try call.time("since"))
                let lines = log.lines().compactMap { LogLine($0) }.filter { line in
                    since.map { $0 <= line.time } ?? true
                }
                return .json(.fields([("lines", .array(lines.map(\.json)))]))
            },
            ControlRoute(
                method: .GET,
                path: "\(Self.store)/parameters",
                name: "parameters",
                about: "As `patchsync parameters --json`: the channel's online parameters.",
                answers: [
                    .init(
                        status: 200,
                        about: "As last fetched and verified.",
                        schema: .object(
                            [("app", .text()), ("channel", .text()), ("parameters", .object([], more: true))],
                            more: true
                        )
                    )
                ]
            ) { call in
                let device = try device(call)
                return .json(try Self.mappingErrors { () throws(SyncError) in try device.parameters().shown })
            },
        ]
    }

    private func explain(_ call: ControlCall) throws(APIProblem) -> JSON {
        let device = try device(call)
        let (patch, version) = (
            try call.name("patch", as: PatchID.self), try call.name("version", as: VersionLabel.self)
        )
        let time = try call.time("at")
        let found = try Self.mappingErrors { () throws(SyncError) in try device.explanation(at: time) }
        guard let found else { throw APIProblem(.noListYet) }
        let explanation = patch.map { found.only($0, version) } ?? found
        if let patch, explanation.versions.isEmpty {
            throw APIProblem(.notListed(version.map { "\(patch)@\($0)" } ?? "\(patch)"))
        }
        return explanation.json(
            device.configuration,
            after: device.store.syncFailure(of: device.configuration.channel)
        )
    }

    // MARK: Overview of a store

    private static let overview = APISchema.object(
        [
            ("name", .text()), ("app", .text()), ("channel", .text()), ("phase", .text()),
            (
                "running",
                .array(.object([("patchId", .text()), ("version", .text())], more: true))
            ),
        ],
        optional: [
            (
                "pages",
                .object([], optional: [("url", .text()), ("origin", .text()), ("port", .integer())], more: true)
            ),
            (
                "next",
                .object([], optional: [("seconds", .integer()), ("reason", .text())], more: true)
            ),
            ("trouble", .text()), ("hint", .text()),
            ("lastFailure", .named("Status.syncFailure")),
        ],
        more: true
    )

    private static func overview(of host: any StoreHost) async throws(APIProblem) -> JSON {
        let device = try mappingErrors { () throws(SyncError) in try host.device() }
        let state = try mappingErrors { () throws(SyncError) in try device.state().machine.state }
        let (pages, next, trouble) = (await host.pages(), await host.nextContact(), await host.trouble())
        return .fields([
            ("name", .text(host.name)), ("app", .text(device.configuration.app.text)),
            ("channel", .text(device.configuration.channel.text)), ("phase", .text(state.phase.rawValue)),
            ("running", state.running?.versionsJSON ?? .array([])),
            (
                "pages",
                pages.map {
                    .fields([
                        ("url", .text($0.url)), ("origin", .text($0.origin)), ("port", .integer($0.port)),
                    ])
                }
            ),
            (
                "next",
                next.map { .fields([("seconds", .integer(Int($0.seconds))), ("reason", .text($0.reason.rawValue))]) }
            ),
            ("lastFailure", device.store.syncFailure(of: device.configuration.channel)?.json),
            ("trouble", trouble.map { .text($0.message) }), ("hint", trouble?.hint.map { .text($0) }),
        ])
    }
}
