import HTTPFiles
import NIOHTTP1
import PatchFormat
import Testing

@testable import ReleaseClient

@Suite("A proposal that a release service swaps", .timeLimit(.minutes(10)))
struct SwappedProposalTests {
    @Test(arguments: [
        (#"{"action":"rollback","to":7}"#, #"{"action":"rollback","to":3}"#, "change.to must be 7 and is 3"),
        (
            #"{"action":"rollback","to":7}"#, #"{"action":"promote","from":"beta"}"#,
            "change.action must be rollback and is promote"
        ),
        (
            #"{"action":"promote","from":"beta"}"#, #"{"action":"promote","from":"alpha"}"#,
            "change.from must be beta and is alpha"
        ),
        (
            #"{"action":"promote","from":"beta","rollouts":{"web":1000}}"#,
            #"{"action":"promote","from":"beta","rollouts":{"web":10000}}"#,
            "change.rollouts.web must be 10% and is 100%"
        ),
        (
            #"{"action":"promote","from":"beta","rollouts":{"web":1000}}"#, #"{"action":"promote","from":"beta"}"#,
            "change.rollouts.web must be 10% and is left out"
        ),
        (
            #"{"action":"withdraw","patchId":"web","version":"2.0.0"}"#, #"{"action":"withdraw","patchId":"web"}"#,
            "change.version must be 2.0.0 and is left out"
        ),
        (
            #"{"action":"withdraw","patchId":"web"}"#, #"{"action":"withdraw","patchId":"web","version":"2.0.0"}"#,
            "change.version must be left out and is 2.0.0"
        ),
        (
            #"{"action":"rules","patchId":"web","version":"1","rollout":1}"#,
            #"{"action":"rules","patchId":"web","version":"1","rollout":1,"condition":null}"#,
            "change.condition must be left out and is null"
        ),
    ])
    func `after it took it is refused with the field in which it is another one`(
        _ asked: String,
        _ offered: String,
        _ words: String
    ) async throws {
        let service = SwappingService(try JSON.document(Array(offered.utf8), named: "offered", limit: 1_000))
        let (mine, theirs) = (try change(asked), try change(offered))
        let error = await #expect(throws: ServiceError.self) { try await service.proposal(mine, asked: mine) }
        #expect(error == .otherChange(asked: mine, offered: theirs))
        #expect(
            error?.description == "the server's proposal is not the requested change: \(words)"
        )
        // Its own change, and where nobody asked for one, any.
        #expect(try await service.proposal(mine, asked: theirs).change == theirs)
        #expect(try await service.proposal(mine, asked: nil).change == theirs)
    }

    private func change(_ text: String) throws -> ProposedChange {
        try ProposedChange(Fields(JSON.document(Array(text.utf8), named: "change", limit: 1_000), of: "change"))
    }
}

/// A service that takes each proposal as it is, and from then on says that it holds this change.
private struct SwappingService: FileSource {
    private let offered: JSON

    let acceptsBodies = true

    init(_ offered: JSON) {
        self.offered = offered
    }

    /// Proposes a change and fetches the proposal.
    func proposal(_ change: ProposedChange, asked: ProposedChange?) async throws -> ServiceProposal {
        let (app, channel) = (try #require(AppID("com.example.shop")), try #require(ChannelName("production")))
        return try await self.asked { client throws(ServiceError) in
            let made = try await client.propose(change, note: nil, of: channel, in: app)
            return try await client.proposal(made.id, asked: asked, of: channel, in: app)
        }
    }

    func decide(_ request: FileRequest) -> FileDecision { .later(.whole, answer) }

    private func answer(_ request: FileRequest) -> FileAnswer {
        let isNew = request.method == .POST
        let change = isNew ? try? JSON.document(request.body, named: "body", limit: 1_000) : offered
        let json = JSON.fields([
            ("id", .text("5e5e5e5e5e5e5e5e")), ("change", change), ("difference", .array([])),
            ("proposer", .text("CI")), ("state", .text("open")),
        ])
        return .bytes(
            ServedBytes(status: isNew ? .created : .ok, bytes: json.fileBytes, contentType: "application/json")
        )
    }
}
