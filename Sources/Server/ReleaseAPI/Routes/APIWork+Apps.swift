import HTTPAPI
import NIOHTTP1
import PatchFormat
import PatchServer
import ReleaseService
import ServerRecords

/// The services that endpoints use.
struct APIWork: Sendable {
    let operations: ReleaseOperations
    let uploads: Uploads

    var records: ServerRecords { operations.records }
}

extension APIWork {
    var aboutApps: [OperatorRoute] {
        [
            OperatorRoute(
                method: .GET,
                path: "/whoami",
                name: "showToken",
                about: "The token and its permissions.",
                access: .anyone,
                answers: [.init(status: 200, about: "The token.", schema: .token)],
                work: { call in .json(call.token?.json(at: try await records.referenceTime()) ?? .null) }
            ),
            OperatorRoute(
                method: .GET,
                path: "/apps",
                name: "listApps",
                about: "The apps that the token may see.",
                access: .anyone,
                answers: [
                    .init(
                        status: 200,
                        about: "By name. `channels` is present if the token is limited to these.",
                        schema: .object([
                            ("apps", .array(.appRight))
                        ])
                    )
                ],
                work: listApps
            ),
            OperatorRoute(
                method: .GET,
                path: "/apps/{app}",
                name: "showApp",
                about:
                    "The current release of each channel of an app, the waiting drafts, and when the app's roles expire.",
                access: .app(.viewer),
                answers: [.init(status: 200, about: "The same as patchsrv list --json prints.", schema: .document)],
                work: { call in
                    let app = try call.app()
                    return .json(
                        try await operations.looking(app) { (repository) throws(ServerError) in
                            try AppListing(of: repository).json
                        }
                    )
                }
            ),
            OperatorRoute(
                method: .GET,
                path: "/apps/{app}/channels/{channel}/history",
                name: "listHistory",
                about: "Releases that were published in a channel, the newest first.",
                access: .app(.viewer),
                query: [
                    .init(name: "below", about: "Only releases below this version.", schema: .positive),
                    .init(
                        name: "limit",
                        about: "The maximum number; 50 by default.",
                        schema: .integer(1...500)
                    ),
                ],
                answers: [
                    .init(
                        status: 200,
                        about: """
                            Labels, notes, author, commit, and the listed versions: a page of a megabyte at most; \
                            `next` is the `below` of the next page.
                            """,
                        schema: .object([("releases", .array(.document))], optional: [("next", .positive)])
                    )
                ],
                work: listHistory
            ),
            OperatorRoute(
                method: .GET,
                path: "/apps/{app}/channels/{channel}/history/{version}",
                name: "showHistory",
                about: "A published release, with its sizes and its difference to the release before.",
                access: .app(.viewer),
                answers: [
                    .init(
                        status: 200,
                        about: """
                            The members of the history, and `previous`, `difference` (`added`, `removed`, `rollout`, \
                            `withdrawn`), and in each of `patches` its `size` and `files`, as long as the server has them.
                            """,
                        schema: .document
                    )
                ],
                work: { call in
                    let (app, channel) = (try call.app(), try call.channel())
                    let version = try call.number("version", in: 1...(1 << 53 - 1))
                    _ = try await operations.looking(app) { (repository) throws(ServerError) in repository.app }
                    return .json(try await History(operations).release(version, of: channel, in: app).json)
                }
            ),
            OperatorRoute(
                method: .PATCH,
                path: "/apps/{app}/channels/{channel}/history/{version}",
                name: "editHistory",
                about:
                    "Changes the label or the notes of a release; null removes one. Nothing that is signed changes.",
                access: .app(.publisher),
                body: .json(
                    .object(
                        [],
                        optional: [
                            ("label", APISchema.line(upTo: ReleaseNotes.labelLimit).orNull()),
                            ("notes", APISchema.text(upTo: ReleaseNotes.notesLimit).orNull()),
                        ]
                    ),
                    limit: 262_144
                ),
                answers: [.init(status: 200, about: "The release's entry as it is now.", schema: .document)],
                problems: [409, 507],
                work: editHistory
            ),
        ]
    }

    @Sendable private func listApps(_ call: APICall) async throws -> APIAnswer {
        let grants = call.token?.grants ?? []
        let rows = try allApps().sorted().compactMap { app in
            grants.role(somewhereIn: app).map { role in
                let channels = grants.onlyChannels(of: app)
                return JSON.fields([
                    ("app", .text(app.text)), ("role", .text(role.rawValue)),
                    ("channels", channels.map { .array($0.map { .text($0.text) }) }),
                ])
            }
        }
        return .json(.fields([("apps", .array(rows))]))
    }

    func allApps() throws(OperationError) -> [AppID] {
        do throws(ServerError) { return try operations.folder.allApps(files: operations.files) } catch {
            throw OperationError.server(error)
        }
    }

    @Sendable private func listHistory(_ call: APICall) async throws -> APIAnswer {
        let (app, channel) = (try call.app(), try call.channel())
        _ = try await operations.looking(app) { (repository) throws(ServerError) in repository.app }
        let (entries, next) = try await History(operations).page(
            of: channel,
            in: app,
            below: try call.query("below", in: 1...(1 << 53 - 1)),
            limit: try call.query("limit", in: 1...500) ?? 50,
            bytes: ServerRecords.pageBytes
        )
        // A channel that was removed still has a history.
        if entries.isEmpty {
            try await operations.looking(app) { (repository) throws(ServerError) in try repository.check(channel) }
        }
        return .json(.fields([("releases", .array(entries.map(\.json))), ("next", next.map { .integer($0) })]))
    }

    @Sendable private func editHistory(_ call: APICall) async throws -> APIAnswer {
        let (app, channel) = (try call.app(), try call.channel())
        let version = try call.number("version", in: 1...(1 << 53 - 1))
        let fields = try await call.fields()
        let edit: NotesEdit
        do throws(FormatError) { edit = try NotesEdit(fields) } catch { throw APIProblem.malformed(error) }
        _ = try await operations.looking(app) { (repository) throws(ServerError) in repository.app }
        return .json(try await History(operations).edit(edit, of: version, in: channel, of: app, by: call.actor).json)
    }
}

extension APISchema {
    fileprivate static let appRight = object(
        [("app", app), ("role", role)],
        optional: [("channels", array(channel))]
    )
    static let role = one(of: AccessRole.allCases.map(\.rawValue))
    static let token = object(
        [
            ("id", text("^[0-9a-f]{16}$")), ("name", text()), ("grants", array(grant)), ("created", time),
            ("createdBy", text()), ("expires", time), ("state", one(of: ["valid", "expired", "revoked"])),
        ],
        optional: [("revoked", time), ("lastUsed", time)]
    )
}
