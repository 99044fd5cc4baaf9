import HTTPAPI
import NIOHTTP1
import PatchCrypto
import PatchFormat
import PatchServer
import PatchTrust
import ReleaseService
import ServerRecords

extension APIWork {
    private static let state = APISchema.object([
        ("upload", .sha256), ("app", .app), ("channel", .channel), ("roleVersion", .positive),
        ("needs", .array(.object([("name", .text()), ("sha256", .sha256), ("size", .natural)]))),
        ("codings", .array(.text())),
        ("bases", .array(.object([("manifest", .sha256), ("from", .array(.sha256))]))),
        ("takes", .array(.text())),
    ])

    private static let start = APISchema.object(
        [],
        optional: [("rollout", .integer(0...10_000)), ("paused", .bool), ("ramp", ramp)]
    )

    private static let notes = APISchema.object(
        [],
        optional: [
            ("label", .line(upTo: ReleaseNotes.labelLimit)), ("notes", .text(upTo: ReleaseNotes.notesLimit)),
            ("author", .line(upTo: ReleaseNotes.authorLimit)), ("commit", .text("^[0-9a-f]{7,64}$")),
            ("rollout", .object([], optional: [("all", start), ("patches", .map(of: start))])),
        ]
    )

    var aboutUploads: [OperatorRoute] {
        [
            OperatorRoute(
                method: .POST,
                path: "/apps/{app}/uploads",
                name: "beginUpload",
                about: "Begins or continues the upload of a signed release with its release.json and role.json.",
                access: .release(.publisher),
                body: .json(
                    .object([("release", .document), ("role", .document)]),
                    limit: Limits.targetsRole + Limits.releaseHeader + 1_024
                ),
                answers: [.init(status: 201, about: "The parts that the server needs.", schema: Self.state)],
                problems: [409, 422, 507],
                work: begin
            ),
            OperatorRoute(
                method: .GET,
                path: "/apps/{app}/uploads/{upload}",
                name: "showUpload",
                about: "The parts still to be sent; received lists and manifests name more.",
                access: .release(.publisher),
                answers: [.init(status: 200, about: "Empty needs: it can be published.", schema: Self.state)],
                problems: [409, 422],
                work: { call in
                    let (app, upload) = try await checked(call)
                    return .json(try await uploads.state(upload, of: app).json)
                }
            ),
            OperatorRoute(
                method: .DELETE,
                path: "/apps/{app}/uploads/{upload}",
                name: "cancelUpload",
                about: "Deletes an upload.",
                access: .release(.publisher),
                answers: [.init(status: 204, about: "Gone.", schema: nil)],
                problems: [409, 422],
                work: { call in
                    let (app, upload) = try await checked(call)
                    try await uploads.cancel(upload, of: app)
                    return .nothing
                }
            ),
            OperatorRoute(
                method: .GET,
                path: "/apps/{app}/uploads/{upload}/parts/{sha256}",
                name: "showPart",
                about: "The number of received bytes of a part.",
                access: .release(.publisher),
                answers: [.init(status: 200, about: "Continue from there.", schema: .object([("offset", .natural)]))],
                problems: [409, 422],
                work: { call in
                    let sha256 = try call.digest("sha256")
                    let (app, upload) = try await checked(call)
                    let offset = try await uploads.offset(of: sha256, upload, of: app)
                    return .json(.fields([("offset", .integer(offset))]))
                }
            ),
            OperatorRoute(
                method: .PATCH,
                path: "/apps/{app}/uploads/{upload}/parts/{sha256}",
                name: "sendPart",
                about: """
                    Sends bytes of a part from an offset on; bytes received before an interruption are kept. With \
                    Content-Encoding zstd or gzip the body is a compressed form of these bytes.
                    """,
                access: .release(.publisher),
                headers: [
                    .init(name: "Upload-Offset", about: "Where these bytes begin.", schema: .natural, isRequired: true)
                ],
                body: .bytes,
                answers: [
                    .init(status: 200, about: "The number of received bytes.", schema: .object([("offset", .natural)]))
                ],
                problems: [409, 422, 507],
                work: sendPart
            ),
            OperatorRoute(
                method: .POST,
                path: "/apps/{app}/uploads/{upload}/packs/{manifest}/{base}",
                name: "sendPack",
                about: """
                    Sends a pack that makes one of the needed manifests of a version that the server has \
                    (`bases`), with all contents that are new in it, and behind the pack the signatures that the \
                    base's column lacks: in place of these parts. If it fails, send the parts.
                    """,
                access: .release(.publisher),
                headers: [
                    .init(
                        name: "Pack-Length",
                        about: "Bytes of the pack; signatures follow.",
                        schema: .natural,
                        isRequired: true
                    )
                ],
                body: .bytes,
                answers: [.init(status: 200, about: "The parts still to be sent.", schema: Self.state)],
                problems: [409, 422, 507],
                work: sendPack
            ),
            OperatorRoute(
                method: .POST,
                path: "/apps/{app}/uploads/{upload}/publish",
                name: "publishUpload",
                about:
                    """
                    Verifies the release and makes it the current one, or keeps it as a draft until its quorum is there. `rollout` is \
                    how the versions that it lists newly begin; devices see the release and its dial together.
                    """,
                access: .release(.publisher),
                body: .json(Self.notes, limit: 262_144),
                answers: [
                    .init(status: 200, about: "The same as patchsrv publish --json prints.", schema: .document)
                ],
                problems: [409, 422, 507],
                work: publish
            ),
        ]
    }

    /// The upload of the request, in a channel in which the token may publish.
    private func checked(_ call: APICall) async throws -> (AppID, String) {
        let (app, upload) = (try call.app(), try call.text("upload"))
        try call.check(.publisher, on: app, in: try await uploads.channel(of: upload, in: app))
        return (app, upload)
    }

    @Sendable private func begin(_ call: APICall) async throws -> APIAnswer {
        let app = try call.app()
        let fields = try await call.fields()
        let (header, role): (ReleaseHeader, Envelope)
        do throws(FormatError) {
            header = try ReleaseHeader(try fields.fields("release"))
            role = try Envelope(.object(try fields.fields("role").object), role: header.channel.text)
        } catch { throw APIProblem.malformed(error) }
        try call.check(.publisher, on: app, in: header.channel)
        return .json(try await uploads.begin(header, role, for: app, by: call.actor).json, status: 201)
    }

    @Sendable private func sendPart(_ call: APICall) async throws -> APIAnswer {
        let (sha256, coding) = (try call.digest("sha256"), try call.contentCoding())
        let first = try call.header("Upload-Offset", in: 0...Limits.object)
        let (app, upload) = try await checked(call)
        let offset = try await uploads.receive(
            sha256,
            from: first,
            try call.bytes(),
            as: coding,
            upload,
            of: app
        )
        return .json(.fields([("offset", .integer(offset))]))
    }

    @Sendable private func sendPack(_ call: APICall) async throws -> APIAnswer {
        let pack = BasePack(manifest: try call.digest("manifest"), base: try call.digest("base"))
        let length = try call.header("Pack-Length", in: 0...Limits.object)
        let (app, upload) = try await checked(call)
        let state = try await uploads.receive(
            pack,
            length,
            try call.bytes(),
            upload,
            of: app
        )
        return .json(state.json)
    }

    @Sendable private func publish(_ call: APICall) async throws -> APIAnswer {
        let fields = try await call.fields()
        let notes: ReleaseNotes
        let rollout: StartingRollout?
        do throws(FormatError) {
            notes = try ReleaseNotes(fields)
            rollout = fields.has("rollout") ? try StartingRollout(try fields.fields("rollout")) : nil
        } catch { throw APIProblem.malformed(error) }
        let (app, upload) = try await checked(call)
        let outcome = try await uploads.publish(upload, of: app, notes: notes, starting: rollout, by: call.actor)
        return .json(outcome.json(app: app))
    }
}

extension Uploads.State {
    fileprivate var json: JSON {
        .fields([
            ("upload", .text(id)), ("app", .text(app.text)), ("channel", .text(channel.text)),
            ("roleVersion", .integer(roleVersion)),
            (
                "needs",
                .array(
                    needs.map {
                        .fields([
                            ("name", .text($0.name)), ("sha256", .text($0.sha256.hex)), ("size", .integer($0.size)),
                        ])
                    }
                )
            ),
            (
                "bases",
                .array(
                    bases.sorted { $0.key < $1.key }.map { manifest, from in
                        .fields([
                            ("manifest", .text(manifest.hex)), ("from", .array(from.map { .text($0.hex) })),
                        ])
                    }
                )
            ),
            ("codings", .array(CompressionFormat.allCases.map { .text($0.rawValue) })),
            // Lets clients detect a server without rollouts, which would publish to all devices.
            ("takes", .array([.text("rollout")])),
        ])
    }
}
