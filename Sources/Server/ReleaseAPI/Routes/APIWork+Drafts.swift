import HTTPAPI
import NIOHTTP1
import PatchCrypto
import PatchFormat
import PatchServer
import PatchTrust
import ReleaseFolder
import ReleaseService
import ServerRecords

extension APIWork {
    var aboutDrafts: [OperatorRoute] {
        [
            OperatorRoute(
                method: .GET,
                path: "/apps/{app}/channels/{channel}/drafts/{version}",
                name: "showDraft",
                about: "A release that waits for signatures: its release.json and role.json, for another key holder.",
                access: .app(.viewer),
                answers: [
                    .init(
                        status: 200,
                        about: "The documents; its targets are fetched one by one.",
                        schema: .object([("release", .document), ("role", .document)])
                    )
                ],
                work: { call in
                    let draft = try await draft(call)
                    return .json(.fields([("release", draft.release.header.json), ("role", draft.release.role.json)]))
                }
            ),
            OperatorRoute(
                method: .GET,
                path: "/apps/{app}/channels/{channel}/drafts/{version}/targets/{sha256}",
                name: "fetchDraftTarget",
                about: "The bytes of a list, manifest or signature column of a draft.",
                access: .app(.viewer),
                answers: [.init(status: 200, about: "The bytes.", schema: nil)],
                work: { call in
                    let digest = try call.digest("sha256")
                    let draft = try await draft(call)
                    guard let bytes = draft.release.targets.values.first(where: { SHA256Digest(of: $0) == digest })
                    else {
                        throw APIProblem.notFound("the draft has no such target")
                    }
                    return .bytes(bytes)
                }
            ),
            OperatorRoute(
                method: .DELETE,
                path: "/apps/{app}/channels/{channel}/drafts/{version}",
                name: "removeDraft",
                about: "Deletes a draft.",
                access: .app(.operate),
                answers: [.init(status: 204, about: "Gone.", schema: nil)],
                problems: [409],
                work: { call in
                    let (app, channel) = (try call.app(), try call.channel())
                    let version = try call.number("version", in: 1...(1 << 53 - 1))
                    guard
                        try await RemoveDraft(of: channel, version: version, in: app, by: call.actor, operations).run()
                    else {
                        throw APIProblem.notFound("no such draft")
                    }
                    return .nothing
                }
            ),
        ]
    }

    private func draft(_ call: APICall) async throws -> Draft {
        let (app, channel) = (try call.app(), try call.channel())
        let version = try call.number("version", in: 1...(1 << 53 - 1))
        let found = try await operations.looking(app) { (repository) throws(ServerError) in
            try repository.tree.draft(of: channel, version: version)
        }
        guard let found else { throw APIProblem.notFound("no such draft") }
        return found
    }
}
