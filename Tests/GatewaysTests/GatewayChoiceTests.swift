import Gateways
import PatchFormat
import PatchCrypto
import Testing

@Suite("A wire that asks every device the same")
struct GatewayChoiceTests {
    private func entry(
        _ version: String,
        on gateways: [Gateway] = [.meteor],
        requires: [PatchID: [SHA256Digest]] = [:],
        _ change: (inout PatchRules) -> Void = { _ in }
    ) throws -> PatchEntry {
        var rules = PatchRules.everyone
        change(&rules)
        let fingerprint = Fingerprint(of: Array(version.utf8))
        return PatchEntry(
            patchID: try #require(PatchID("web")),
            kind: .bundle,
            version: try #require(VersionLabel(version)),
            url: "",
            fingerprint: fingerprint,
            signature: EntrySignature(keyID: fingerprint.sha256, bytes: []),
            salt: [],
            requires: requires,
            rules: rules,
            gateways: gateways
        )
    }

    /// - Parameter row: of the first entry.
    private func chosen(
        _ entries: [PatchEntry],
        _ row: (rollout: Int, paused: Bool, headcount: Int?)? = nil
    ) throws -> String? {
        let rows = row.map {
            [
                Dial.Row(
                    patchID: entries[0].patchID,
                    sha256: entries[0].fingerprint.sha256,
                    rollout: $0.rollout,
                    paused: $0.paused,
                    reason: nil,
                    headcount: $0.headcount
                )
            ]
        }
        let dial = Dial(app: try #require(AppID("app")), channel: try #require(ChannelName("beta")), rows: rows ?? [])
        return GatewayChoice.entry(for: .meteor, among: entries, dial: dial)?.version.text
    }

    @Test func `carries the newest version that is switched on for it`() throws {
        #expect(try chosen([try entry("3", on: []), try entry("2"), try entry("1")]) == "2")
        #expect(try chosen([try entry("3", on: []), try entry("2", on: [])]) == nil)
        #expect(try chosen([]) == nil)
    }

    @Test func `carries nothing that a rule keeps from any device`() throws {
        let digest = Fingerprint(of: []).sha256
        let closed = [
            try entry("2") { $0.rollout = 9_999 },
            try entry("2") { $0.condition = "region==eu" },
            try entry("2") { $0.appVersion = AppVersionRange(">=2") },
            try entry("2") { $0.users = [] },
            try entry("2") { $0.unknown = ["moon"] },
            try entry("2", requires: [try #require(PatchID("fix")): [digest]]),
        ]
        for entry in closed { #expect(try chosen([entry, try self.entry("1")]) == "1", "\(entry.rules)") }
        #expect(try chosen([closed[0]]) == nil)
        #expect(try chosen([try entry("2") { $0.mandatory = true }]) == "2", "when it starts is another matter")
        #expect(try chosen([try entry("2") { $0.dial = .required }]) == "2", "there is a dial")
    }

    @Test func `carries nothing that the dial holds back`() throws {
        let entries = [try entry("2"), try entry("1")]
        #expect(try chosen(entries, (10_000, false, nil)) == "2")
        #expect(try chosen(entries, (9_999, false, nil)) == "1")
        #expect(try chosen(entries, (10_000, true, nil)) == "1")
        #expect(try chosen(entries, (10_000, false, 500)) == "1")
    }
}
