import PatchFormat
import PatchServer
import PatchCrypto
import PatchTesting
import PatchTrust
import ServerRecords
import Testing

import ServerTesting
@testable import PatchServer
@testable import ReleaseService

@Suite("A proposal that a server keeps")
struct ProposalOperationsTests {
    private let app = ReleaseFactory.app
    private let channel = ReleaseFactory.production

    private func change(_ members: [(String, JSON?)]) throws -> ProposedChange {
        try ProposedChange(Fields(.fields(members), of: "body"))
    }

    private func propose(_ change: ProposedChange, at fixture: TestingOperations) async throws -> Proposal {
        try await Proposals(fixture.operations).propose(change, note: nil, for: channel, in: app, by: fixture.actor)
    }

    @Test func `stands in the audit log as a digest and one line`() async throws {
        let fixture = try TestingOperations()
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        let users = (0..<500).map { JSON.text(SHA256Digest(of: [UInt8($0 & 255), UInt8($0 >> 8)]).hex) }
        let members: [(String, JSON?)] = [
            ("action", .text("rules")), ("patchId", .text("web")), ("version", .text("1.0.0")),
            ("rollout", .integer(2_550)), ("condition", .null), ("users", .array(users)),
        ]
        let proposal = try await propose(try change(members), at: fixture)
        #expect(proposal.difference == ["~ web 1.0.0: rollout 25.5%, no condition, 500 users"])
        try await Proposals(fixture.operations).remove(proposal.id, of: channel, in: app, by: fixture.actor)
        let entries = try await fixture.records.auditEntries(after: 1)
        let reported = JSON.fields([
            ("proposal", .text(proposal.id.text)),
            ("sha256", .text(SHA256Digest(of: JSON.fields(members).canonicalBytes).hex)),
            ("summary", .text("production: rules of web 1.0.0: rollout 25.5%, no condition, 500 users")),
        ]).canonicalBytes
        #expect(entries.first?.json["after"]?.canonicalBytes == reported)
        #expect(entries.last?.json["before"]?.canonicalBytes == reported)
    }

    @Test func `comes on a page, the oldest first`() async throws {
        let fixture = try TestingOperations()
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        var made: [ProposalID] = []
        for _ in 1...5 { made.append(try await propose(.withdraw(named("web"), version: nil), at: fixture).id) }
        let time = UInt32(truncatingIfNeeded: TestingServer.start.seconds)
        #expect(made.allSatisfy { $0.text.hasPrefix(String(time, radix: 16)) })
        var (found, next): ([ProposalID], ProposalID?) = ([], nil)
        for count in [2, 2, 1] {
            let page = try await Proposals(fixture.operations).page(of: channel, in: app, after: next, limit: 2)
            #expect(page.proposals.count == count && (page.next == nil) == (count == 1))
            found += page.proposals.map(\.id)
            next = page.next
        }
        #expect(found == made.sorted())
    }

    @Test func `is one of a hundred that wait, and no more`() async throws {
        let fixture = try TestingOperations()
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        let change = ProposedChange.withdraw(named("web"), version: nil)
        for _ in 1...Proposals.limit { _ = try await propose(change, at: fixture) }
        await #expect(throws: OperationError.proposal(.tooMany(limit: Proposals.limit))) {
            try await propose(change, at: fixture)
        }
    }

    @Test func `is overtaken by a release that lists its version no more`() async throws {
        let fixture = try TestingOperations()
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        let old = try await propose(.withdraw(named("fix-cart-total"), version: named("1")), at: fixture)
        let edit = try RuleEdit(Fields(.fields([("rollout", .integer(5_000))]), of: "body"))
        let rules = try await propose(.rules(named("fix-cart-total"), version: named("1"), edit), at: fixture)
        let other = try await propose(.withdraw(named("web"), version: nil), at: fixture)
        let second = try fixture.release("cart.total = 2;", version: "2")
        _ = try await OfferRelease(second, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        for (id, state) in [
            (old.id, Proposal.State.overtaken(roleVersion: 2, at: TestingServer.start)),
            (rules.id, .overtaken(roleVersion: 2, at: TestingServer.start)), (other.id, .open),
        ] {
            #expect(try await Proposals(fixture.operations).proposal(id, of: channel, in: app).state == state)
        }
    }

    @Test func `withdraws a version that an earlier release listed, and no release overtakes it`() async throws {
        let fixture = try TestingOperations()
        _ = try await OfferRelease(try fixture.release(), notes: ReleaseNotes(), by: fixture.actor, fixture.operations)
            .run()
        let second = try fixture.release("cart.total = 2;", version: "2")
        _ = try await OfferRelease(second, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
        let id: PatchID = named("fix-cart-total")
        let made = try await propose(.withdraw(id, version: named("1")), at: fixture)
        #expect(made.listedIn == 1)
        #expect(made.difference == ["- fix-cart-total 1, which release 1 listed last, is withdrawn for good"])
        #expect(made.overtaken(by: 3, listing: [], at: TestingServer.start) == nil)
        #expect(try await Proposals(fixture.operations).proposal(made.id, of: channel, in: app) == made)
        await #expect(throws: OperationError.proposal(.notListed(id, named("9")))) {
            try await propose(.withdraw(id, version: named("9")), at: fixture)
        }
    }

    @Test func `names the release that listed a version, if the tree does not have it any more`() throws {
        let listing = AppListing(
            app: app,
            roles: [],
            channels: [.init(name: channel, version: 9, published: TestingServer.start, patches: [])],
            drafts: []
        )
        let change = ProposedChange.withdraw(named("web"), version: named("2.1.0"))
        let fault = #expect(throws: ProposalFault.self) {
            try ProposalCheck(
                change,
                of: channel,
                in: listing,
                hasRelease: false,
                earlier: .init(version: 7, isKept: false)
            )
        }
        #expect(
            fault?.description
                == "web 2.1.0 is not listed; release 7 listed it last, and the server has removed that release: "
                + "`patchsign withdraw --previous DIR --listed-by DIR` withdraws it from a copy"
        )
    }

    @Test func `keeps 200 lines of what it changes, and says how many there are`() throws {
        let proposal = Proposal(
            id: named("0123456789abcdef"),
            app: app,
            channel: channel,
            change: .promote(from: ReleaseFactory.beta),
            note: nil,
            created: TestingServer.start,
            actor: .server,
            roleVersion: 1,
            difference: (1...1_000).map { "+ line \($0)" }
        )
        #expect(proposal.difference.count == 201 && proposal.difference.last == "… and 800 more")
    }
}
