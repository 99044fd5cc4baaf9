import DeviceTesting
import PatchFormat
import PatchTesting
import PatchTrust
import Testing

@testable import PatchSync

/// The cases of `test_updater_delegation_graphs.py` of theupdateframework/tuf-conformance.
@Suite("A TUF client and delegations")
struct TUFClientDelegationTests {
    /// `A`, `C from B`, `C from A *.py`, `C from A terminating`; paths are `*` where none stand.
    static func delegate(_ edges: [String], in repository: inout SimulatedTUF) {
        for edge in edges {
            let words = edge.split(separator: " ").map(String.init)
            let delegator = words.count > 2 && words[1] == "from" ? words[2] : "targets"
            let rest = words.dropFirst(delegator == "targets" && !words.contains("from") ? 1 : 3)
            let paths = rest.filter { $0 != "terminating" }
            repository.delegate(
                .init(words[0], .paths(paths.isEmpty ? ["*"] : paths), terminating: rest.contains("terminating")),
                from: delegator
            )
        }
        let names = Set(edges.map { String($0.prefix { $0 != " " }) })
        for name in names.sorted() { repository.publish(name) }
    }

    static let graphs: [(String, [String], String)] = [
        ("basic delegation", ["A"], "A"),
        ("single-level delegations", ["A", "B"], "A B"),
        ("two-level delegations", ["A", "B", "C from B"], "A B C"),
        ("two-level, depth-first order", ["A", "B", "C from A", "D from A"], "A C D B"),
        ("three-level, depth-first order", ["A", "B", "C from A", "D from C"], "A C D B"),
        (
            "two-level, terminating ignores all but the role's descendants",
            ["A", "B", "C from A terminating", "D from A"], "A C"
        ),
        (
            "three-level, terminating ignores all but the role's descendants",
            ["A", "B", "C from A terminating", "D from C"], "A C D"
        ),
        ("two-level, ignores all branches not matching paths", ["A *.py", "B", "C from A"], "B"),
        ("three-level, ignores all branches not matching paths", ["A", "B", "C from A *.py", "D from C"], "A B"),
        ("cyclic graph", ["A", "B", "C from B", "D from C", "B from D"], "A B C D"),
        ("two roles delegating to a third", ["A", "B", "C from B", "C from A"], "A C B"),
        ("two roles delegating to a third, different paths", ["A", "B", "C from B", "C from A *.py"], "A B C"),
        // Not in the suite.
        ("a role that delegates to itself", ["A", "A from A", "B"], "A B"),
        ("terminating, and does not match", ["A *.py terminating", "B"], "B"),
        ("terminating after one that is not", ["A", "B terminating", "C"], "A B"),
        (
            "a branch under the first is finished before a terminating sibling", ["A", "B terminating", "C from A"],
            "A C B"
        ),
        ("a diamond", ["A", "B", "C from A", "C from B", "D from C"], "A C D B"),
    ]

    @Test(arguments: graphs)
    func `graph traversal`(what: String, edges: [String], visited: String) async throws {
        let world = try TUFWorld { Self.delegate(edges, in: &$0) }
        let roles = visited.split(separator: " ")
        try await world.download(
            "missingpath",
            failing: .trust(.targetNotFound("missingpath")),
            requests: "2.root timestamp 1.snapshot 1.targets " + roles.map { "1.\($0)" }.joined(separator: " "),
            leaves: [:]
        )
        #expect(
            try world.stored()
                == (roles.map { "\($0) 1" }.sorted() + ["root 1", "snapshot 1", "targets 1", "timestamp 1"]).joined(
                    separator: ", "
                )
        )
    }

    /// Of the tree below; each names what it must not as well.
    private static func searched() throws -> TUFWorld {
        try TUFWorld { repository in
            let edges = [
                "A *.doc *.md foo-?.tgz", "B releases/*/*", "C from B releases/x/*", "D from B releases/y/*.zip",
            ]
            for (path, role) in [
                ("targetfile", "targets"), ("README.md", "A"), ("releases/README.md", "A"), ("foo-1.tgz", "A"),
                ("foo-alpha.tgz", "A"), ("releases/x/x_v1", "C"), ("releases/y/y_v1.zip", "D"),
                ("releases/z/z_v1.zip", "D"),
            ] {
                repository.addTarget(path, "\(path) by \(role)", to: role)
            }
            delegate(edges, in: &repository)
        }
    }

    @Test(arguments: [
        ("no delegations", "targetfile", "targets", ""), ("matches wildcard", "README.md", "A", "A"),
        ("with separators x", "releases/x/x_v1", "C", "B C"),
        ("with separators y", "releases/y/y_v1.zip", "D", "B D"),
        ("is not delegated by all roles in the chain", "releases/z/z_v1.zip", nil, "B"),
        ("wildcard does not match path separator", "releases/README.md", nil, ""),
        ("matches question mark wildcard", "foo-1.tgz", "A", "A"),
        ("does not match question mark wildcard", "foo-alpha.tgz", nil, ""),
        ("matching is case sensitive", "README.MD", nil, ""),
    ])
    func `targetfile search`(what: String, target: String, by role: String?, visited: String) async throws {
        let world = try Self.searched()
        try await world.download(
            target,
            failing: role == nil ? .trust(.targetNotFound(target)) : nil,
            leaves: role.map { [URLLayout.percentEncoded(target): "\(target) by \($0)"] } ?? [:]
        )
        let roles = visited.split(separator: " ").map { "\($0) 1" }
        #expect(
            try world.stored()
                == (roles + ["root 1", "snapshot 1", "targets 1", "timestamp 1"]).joined(separator: ", ")
        )
    }

    @Test func `cached role is verified against current delegator`() async throws {
        let world = try TUFWorld { repository in
            for team in ["a", "b"] {
                let paths = SimulatedTUF.Delegation.Scope.paths(["team-\(team)/*"])
                repository.delegate(.init("parent-\(team)", paths))
                repository.delegate(
                    .init("release", paths, keys: .init([SimulatedSigner("release of \(team)")])),
                    from: "parent-\(team)"
                )
                repository.addTarget("team-\(team)/file", "by \(team)", to: "release")
            }
            repository["release"].signers = [SimulatedSigner("release of a")]
            repository.publish("release", "parent-a", "parent-b")
        }
        let refused = SyncError.trust(.threshold(role: "release", valid: 0, needed: 1))
        let stored = "parent-a 1, parent-b 1, release 1, root 1, snapshot 1, targets 1, timestamp 1"
        try await world.download("team-a/file", "team-b/file", failing: refused, leaves: ["team-a%2Ffile": "by a"])
        #expect(try world.stored() == stored)
        // Nor when it comes from the disk.
        try await world.download("team-b/file", failing: refused, leaves: ["team-a%2Ffile": "by a"])
        #expect(try world.stored() == stored)
        try await world.download(
            "team-b/file",
            "team-a/file",
            failing: refused,
            requests: "2.root timestamp 1.release",
            leaves: ["team-a%2Ffile": "by a"]
        )
    }

    @Test func `delegation not in snapshot`() async throws {
        let world = try TUFWorld { repository in
            Self.delegate(["delegated delegatedpath/*"], in: &repository)
            repository.meta["delegated"] = nil
        }
        try await world.refresh(leaves: "root 1, snapshot 1, targets 1, timestamp 1")
        try await world.download(
            "delegatedpath/foo",
            failing: .trust(.notInSnapshot(role: "delegated")),
            requests: "2.root timestamp",
            leaves: [:]
        )
        #expect(try world.stored() == "root 1, snapshot 1, targets 1, timestamp 1")
    }

    // MARK: Not in the suite

    @Test(arguments: ["root", "targets", "snapshot", "timestamp", ""])
    func `a delegation to the name of a top role refuses the delegating role`(name: String) async throws {
        let world = try TUFWorld()
        world.server.edit { repository in
            repository["targets"].delegations = [.init(name)]
            repository.publish("targets", "snapshot", "timestamp")
        }
        let rule = "must not be empty or the name of a top role"
        try await world.refresh(
            failing: .trust(.malformed(FormatError("targets", field: "delegations.roles[0].name", rule: rule))),
            leaves: "root 1, snapshot 2, timestamp 2"
        )
    }

    @Test func `a role that was refused stops the search, however many come after it`() async throws {
        let world = try TUFWorld { repository in
            Self.delegate(["A", "B"], in: &repository)
            repository.addTarget("file", "content", to: "B")
            repository["A"].signers = []
            repository.publish("A", "B")
        }
        try await world.download(
            "file",
            failing: .trust(.threshold(role: "A", valid: 0, needed: 1)),
            requests: "2.root timestamp 1.snapshot 1.targets 2.A",
            leaves: [:]
        )
        #expect(try world.stored() == "root 1, snapshot 1, targets 1, timestamp 1")
    }

    @Test func `an expired role stops the search`() async throws {
        let past = ManualClock.start.adding(.days(-1))
        let world = try TUFWorld { repository in
            repository["A"].expires = past
            Self.delegate(["A", "B"], in: &repository)
        }
        try await world.download(
            "file",
            failing: .trust(.clockAheadOrStale(role: "A", expires: past, clock: ManualClock.start)),
            leaves: [:]
        )
        #expect(try world.stored() == "root 1, snapshot 1, targets 1, timestamp 1")
    }

    @Test(arguments: [(32, true), (33, false)])
    func `a search goes through 32 roles and no further`(count: Int, isWhole: Bool) async throws {
        let names = (1...count).map { "R\($0)" }
        let world = try TUFWorld { repository in
            Self.delegate(names, in: &repository)
            repository.addTarget("last", "content", to: names[count - 1])
            repository.publish(names[count - 1])
        }
        let limit = SyncError.trust(.tooManyDelegations(target: "last", limit: 32))
        try await world.download("last", failing: isWhole ? nil : limit, leaves: isWhole ? ["last": "content"] : [:])
        #expect(try world.stored().contains("R32 ") && !world.stored().contains("R33 "))
        // Which is no target in all of them, and not said of one when there are more.
        try await world.download(
            "missing",
            failing: .trust(isWhole ? .targetNotFound("missing") : .tooManyDelegations(target: "missing", limit: 32)),
            leaves: isWhole ? ["last": "content"] : [:]
        )
    }
}
