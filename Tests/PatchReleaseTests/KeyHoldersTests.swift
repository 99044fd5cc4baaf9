import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTesting
import PatchTrust
import SystemPackage
import Testing

@Suite("The holders of root and targets")
struct KeyHoldersTests {
    private func plan(_ holders: KeyHolders) throws -> RootOfTrustPlan {
        try RootOfTrustPlan(
            app: Workbench.app,
            channels: ["production"],
            holders: holders.holders,
            thresholds: holders.thresholds,
            recovery: holders.hasRecoveryKey
        )
    }

    private func words(_ plan: RootOfTrustPlan, _ role: String) -> String {
        "\(plan.threshold(of: role)) of \(plan.keys(of: role).joined(separator: " "))"
    }

    @Test func `lose no app with one key`() throws {
        let one = try plan(.one(recovery: true))
        #expect(words(one, "root") == "1 of root root-recovery" && words(one, "targets") == "1 of targets")
        let alone = try plan(.one(recovery: false))
        #expect(words(alone, "root") == "1 of root")
        let two = try plan(try #require(KeyHolders(["ann", "ben"])))
        #expect(words(two, "root") == "2 of root-ann root-ben root-recovery")
        #expect(words(two, "targets") == "1 of targets-ann targets-ben")
        let three = try plan(try #require(KeyHolders(["ann", "ben", "cy"])))
        #expect(words(three, "root") == "2 of root-ann root-ben root-cy")
        #expect(words(three, "targets") == "2 of targets-ann targets-ben targets-cy")
        let four = try plan(try #require(KeyHolders(["a", "b", "c", "d"])))
        #expect(words(four, "root") == "3 of root-a root-b root-c root-d")
    }

    @Test(arguments: [[], ["ann"], ["ann", "ann"], ["ann", "Ben"], ["ann", "recovery"], ["ann", ""]])
    func `are two or more, with different names`(_ names: [String]) {
        #expect(KeyHolders(names) == nil)
    }
}

@Suite("Which keys are here")
struct KeyPresenceTests {
    @Test func `is told for each role, by name or by id`() throws {
        let bench = try Workbench()
        func put(_ name: String, _ key: TestKey, isAvailable: Bool) throws {
            try bench.write(try key.key.publicKey.pem, to: "Keys/\(name).pub")
            if isAvailable { try bench.write("encrypted", to: "Keys/\(name).key") }
        }
        try put("root", .root, isAvailable: false)
        try put("targets", .targets, isAvailable: true)
        try put("production-alice", .production, isAvailable: true)
        try put("online", .online, isAvailable: false)
        try bench.write("command: [x]\npublic: online.pub\n", to: "Keys/online.signer")
        let presence = try KeyPresence(try bench.trust, files: bench.files)
        func id(_ key: TestKey) throws -> String { "\(KeyID(TUFKey(try key.key.publicKey).id))" }
        #expect(
            presence.rows == [
                KeyPresence.Row(role: "root", needed: 1, here: [], missing: ["root"]),
                KeyPresence.Row(role: "targets", needed: 1, here: ["targets"], missing: []),
                KeyPresence.Row(role: "beta", needed: 1, here: [], missing: [try id(.beta)]),
                KeyPresence.Row(role: "production", needed: 1, here: ["production-alice"], missing: [try id(.second)]),
                KeyPresence.Row(role: "online", needed: 1, here: ["online"], missing: []),
            ]
        )
        #expect(presence[.root]?.missingOnlyKey == "root" && presence[.targets]?.missingOnlyKey == nil)
        #expect(presence[.root]?.hasNoSpare == true && presence[.channel(named("production"))]?.hasNoSpare == false)
    }
}
