import HTTPAPI
import NIOHTTP1
import PatchFormat
import PatchServer
import ReleaseService
import ServerRecords

extension APIWork {
    private static let path = "/apps/{app}/channels/{channel}/proposals"

    private static let change = APISchema.object(
        [("action", .one(of: ["promote", "rollback", "withdraw", "rules"]))],
        optional: [
            ("from", .channel), ("rollouts", APISchema.map(of: .integer(0...10_000))), ("to", .positive),
            ("patchId", .patchID), ("version", .version),
            ("rollout", APISchema.integer(0...10_000).orNull()), ("appVersion", APISchema.text().orNull()),
            ("dial", APISchema.one(of: ["optional", "required"]).orNull()), ("condition", APISchema.text().orNull()),
            ("mandatory", APISchema.bool.orNull()), ("runAtNextLaunch", APISchema.bool.orNull()),
            ("users", APISchema.array(.sha256).orNull()), ("note", .line(upTo: Proposal.noteLimit)),
        ]
    )

    var aboutProposals: [OperatorRoute] {
        [
            OperatorRoute(
                method: .POST,
                path: Self.path,
                name: "propose",
                about: """
                    Proposes a change of a channel: promote (from a channel; rollouts of its patches, in devices \
                    of 10,000, in place of its own), rollback (to a release), withdraw (a patch, or a version of \
                    it), or rules (of a version; null takes one away). Nothing changes before a key holder has \
                    signed the release that patchsign pull --proposal makes.
                    """,
                access: .app(.publisher),
                body: .json(Self.change, limit: Proposal.bodyLimit),
                answers: [.init(status: 201, about: "The proposal and its changes.", schema: .document)],
                problems: [409, 422, 507],
                work: propose
            ),
            OperatorRoute(
                method: .GET,
                path: Self.path,
                name: "listProposals",
                about: "The proposals of a channel, the oldest first, including completed ones.",
                access: .app(.viewer),
                query: [
                    .init(name: "after", about: "Only proposals after this one.", schema: .proposal),
                    .init(
                        name: "limit",
                        about: "The maximum number; 50 by default.",
                        schema: .integer(1...100)
                    ),
                ],
                answers: [
                    .init(
                        status: 200,
                        about: "A page of a megabyte at most; `next` is the `after` of the next page.",
                        schema: .object([("proposals", .array(.document))], optional: [("next", .proposal)])
                    )
                ],
                work: list
            ),
            OperatorRoute(
                method: .GET,
                path: Self.path + "/{proposal}",
                name: "showProposal",
                about: "One proposal.",
                access: .app(.viewer),
                answers: [.init(status: 200, about: "The proposal.", schema: .document)],
                work: { call in
                    .json(
                        try await Proposals(operations).proposal(
                            call.name("proposal"),
                            of: call.channel(),
                            in: call.app()
                        ).json
                    )
                }
            ),
            OperatorRoute(
                method: .DELETE,
                path: Self.path + "/{proposal}",
                name: "removeProposal",
                about: "Deletes a proposal that was not published.",
                access: .app(.publisher),
                answers: [.init(status: 204, about: "Gone.", schema: nil)],
                problems: [409, 507],
                work: { call in
                    try await Proposals(operations).remove(
                        call.name("proposal"),
                        of: call.channel(),
                        in: call.app(),
                        by: call.actor
                    )
                    return .nothing
                }
            ),
        ]
    }

    @Sendable private func list(_ call: APICall) async throws -> APIAnswer {
        let (app, channel) = (try call.app(), try call.channel())
        _ = try await operations.looking(app) { (repository) in repository.app }
        let (proposals, next) = try await Proposals(operations).page(
            of: channel,
            in: app,
            after: try call.query("after"),
            limit: try call.query("limit", in: 1...100) ?? 50
        )
        return .json(
            .fields([("proposals", .array(proposals.map(\.json))), ("next", next.map { .text($0.text) })])
        )
    }

    @Sendable private func propose(_ call: APICall) async throws -> APIAnswer {
        let (app, channel) = (try call.app(), try call.channel())
        let fields = try await call.fields()
        let (change, note): (ProposedChange, String?)
        do throws(FormatError) {
            (change, note) = (try ProposedChange(fields), try Proposal.note(fields))
        } catch { throw APIProblem.malformed(error) }
        let proposal = try await Proposals(operations).propose(
            change,
            note: note,
            for: channel,
            in: app,
            by: call.actor
        )
        return .json(proposal.json, status: 201)
    }
}
