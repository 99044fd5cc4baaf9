import PatchFormat
import PatchCrypto
import PatchTrust
import Testing

@testable import ReleaseClient

@Suite("A release that a server refuses as stale")
struct StaleReleaseTests {
    private static let draft = ChannelState.Draft(version: 6, identity: digest("6"), signatures: 1, threshold: 2)

    @Test func `adds to an older release`() throws {
        let mine = try offered(base: 5, ["web 2": "two"])
        #expect(StaleRelease(mine, on: try state(8, ["web 1": "one"])) == .behind(current: 8))
        let first = try offered(base: nil, ["web 2": "two"])
        #expect(StaleRelease(first, on: try state(1, ["web 1": "one"])) == .behind(current: 1))
    }

    @Test func `has a base of the current version with other content`() throws {
        let mine = try offered(base: 5, ["web 2": "two"])
        #expect(StaleRelease(mine, on: try state(5, ["web 1": "one"])) == .behind(current: 5))
    }

    @Test func `was published by another pipeline meanwhile`() throws {
        let mine = try offered(base: 5, ["web 2": "two", "tip 1": "tip"])
        #expect(StaleRelease(mine, on: try state(6, ["tip 1": "tip", "web 2": "two"])) == .listed(current: 6))
    }

    @Test func `is not published where only its rules differ`() throws {
        let mine = try offered(base: 5, ["web 2": "two"], rollout: 5_000)
        #expect(StaleRelease(mine, on: try state(6, ["web 2": "two"])) == .behind(current: 6))
    }

    @Test func `has versions that another pipeline published with other content`() throws {
        let mine = try offered(base: 5, ["web 2": "two", "tip 1": "tip", "fix 1": "fix"])
        let theirs = try state(6, ["web 2": "other", "tip 1": "another", "fix 1": "fix"])
        #expect(StaleRelease(mine, on: theirs) == .otherContent([try label("tip 1"), try label("web 2")], current: 6))
    }

    @Test(arguments: ["web 2", "web 9"]) func `lists what was withdrawn since, by its name or its content`(
        _ withdrawn: String
    ) throws {
        let mine = try offered(base: 5, ["web 2": "two"])
        let theirs = try state(7, ["web 1": "one"], withdrawn: [withdrawn: "two"])
        #expect(StaleRelease(mine, on: theirs) == .withdrawn([try label("web 2")], current: 7))
    }

    @Test func `was made from a draft that lacks signatures`() throws {
        let mine = try offered(base: 6, ["web 2": "two"])
        #expect(StaleRelease(mine, on: try state(5, [:], draft: Self.draft)) == .madeFromDraft(Self.draft))
    }

    @Test func `meets a draft of somebody else's in its place`() throws {
        let mine = try offered(base: 5, ["web 2": "two"])
        #expect(StaleRelease(mine, on: try state(5, [:], draft: Self.draft)) == .draftWaits(Self.draft))
        // Made again it would wait behind the draft as well.
        let older = try offered(base: 3, ["web 2": "two"])
        #expect(StaleRelease(older, on: try state(5, [:], draft: Self.draft)) == .draftWaits(Self.draft))
        let damaged = ChannelState.Draft(version: 6, identity: nil, signatures: 0, threshold: 2)
        #expect(StaleRelease(mine, on: try state(5, [:], draft: damaged)) == .draftWaits(damaged))
    }

    @Test func `does not wait behind its own draft`() throws {
        let own = ChannelState.Draft(version: 6, identity: Self.digest("mine"), signatures: 1, threshold: 2)
        let mine = try offered(base: 5, ["web 2": "two"])
        #expect(StaleRelease(mine, on: try state(5, ["web 1": "one"], draft: own)) == .behind(current: 5))
    }

    @Test func `is ahead of a server that was restored or replaced`() throws {
        let mine = try offered(base: 5, ["web 2": "two"])
        #expect(StaleRelease(mine, on: try state(3, ["web 1": "one"])) == .ahead(current: 3))
        #expect(StaleRelease(mine, on: try state(0, [:])) == .ahead(current: 0))
    }

    // MARK: - Samples

    private static func digest(_ text: String) -> SHA256Digest { SHA256Digest(of: Array(text.utf8)) }

    private func label(_ text: String) throws -> Label {
        let parts = text.split(separator: " ").map(String.init)
        return Label(patchID: try #require(PatchID(parts[0])), version: try #require(VersionLabel(parts[1])))
    }

    private func versions(_ texts: [String: String], rollout: Int) throws -> [Label: ChannelState.Version] {
        var found: [Label: ChannelState.Version] = [:]
        for (name, content) in texts {
            let rules = PatchRules(rollout: rollout)
            found[try label(name)] = ChannelState.Version(sha256: Self.digest(content), rules: rules)
        }
        return found
    }

    private func offered(base: Int?, _ listed: [String: String], rollout: Int = 10_000) throws -> OfferedRelease {
        OfferedRelease(
            base: base.map { ReleaseHeader.Base(roleVersion: $0, sha256: Self.digest("\($0)")) },
            identity: Self.digest("mine"),
            listed: try versions(listed, rollout: rollout)
        )
    }

    private func state(
        _ current: Int,
        _ listed: [String: String],
        withdrawn: [String: String] = [:],
        draft: ChannelState.Draft? = nil
    ) throws -> ChannelState {
        var gone: [Label: SHA256Digest] = [:]
        for (name, content) in withdrawn { gone[try label(name)] = Self.digest(content) }
        return ChannelState(
            current: current,
            listed: try versions(listed, rollout: 10_000),
            withdrawn: gone,
            draft: draft
        )
    }
}
