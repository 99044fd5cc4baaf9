import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@Suite("A search through delegations")
struct DelegationSearchTests {
    /// Answers every load from the repository; what was loaded for whom, in order, and how it ended.
    private static func search(
        for target: String,
        in repository: SimulatedTUF,
        _ trusted: inout Trusted
    ) throws -> (loads: String, end: String) {
        var search = DelegationSearch(for: target)
        var loads = trusted.loads
        trusted.loads = []
        while true {
            let step: DelegationSearch.Step
            do throws(TrustError) { step = try search.next(in: trusted.repository) } catch {
                return (loads.joined(separator: " "), "\(error)")
            }
            switch step {
            case .found(_, let role): return (loads.joined(separator: " "), "found in \(role)")
            case .load(let role, let delegator):
                loads.append("\(role)<\(delegator)")
                let bytes = try #require(repository.files[URLLayout.metadata(role, version: 1)])
                try trusted.repository.take(bytes, role: role, delegator: delegator)
            }
        }
    }

    /// What is trusted, and which roles were loaded for it that no search has told of.
    private struct Trusted {
        var repository: TrustedRepository
        var loads: [String]
    }

    private static func trusted(_ repository: inout SimulatedTUF) throws -> Trusted {
        repository.publish("root", "targets", "snapshot", "timestamp")
        let root = try TrustedRoot(anchor: try #require(repository.files["metadata/1.root.json"]))
        var walk = MetadataWalk(from: root, .everyRole(ReferenceTime(clock: ManualClock.start)))
        var loads: [String] = []
        while true {
            switch try walk.next() {
            case .done(let trusted): return Trusted(repository: trusted, loads: loads)
            case .recall: try walk.recall(nil)
            case .fetch(.root): walk.absent()
            case .fetch(let request):
                if request.role == "targets" { loads.append("targets<root") }
                _ = try walk.take(try #require(repository.files[request.path]))
            }
        }
    }

    private static func empty() -> SimulatedTUF {
        SimulatedTUF(expires: ManualClock.start.adding(.days(1)))
    }

    /// Roles by delegator, in order, terminating with `!`; who names the target; what is loaded.
    @Test(
        arguments: [
            ("the top role alone", [], "targets", "targets<root", "found in targets"),
            ("nobody", [], nil, "targets<root", "f: no role names it"),
            (
                "the top role comes before those it delegates to", [("targets", "A")], "targets", "targets<root",
                "found in targets"
            ),
            ("in order of appearance", [("targets", "B A")], "A", "targets<root B<targets A<targets", "found in A"),
            (
                "depth first", [("targets", "A B"), ("A", "C D"), ("C", "E")], "B",
                "targets<root A<targets C<A E<C D<A B<targets", "found in B"
            ),
            (
                "and stops where it is found", [("targets", "A B"), ("A", "C D")], "C", "targets<root A<targets C<A",
                "found in C"
            ),
            (
                "terminating drops what waits at every height",
                [("targets", "A B"), ("A", "C D"), ("C", "E! F")], nil, "targets<root A<targets C<A E<C",
                "f: no role names it"
            ),
            (
                "of a cycle, each once", [("targets", "A"), ("A", "B"), ("B", "A C")], "C",
                "targets<root A<targets B<A C<B", "found in C"
            ),
            (
                "of a diamond, by the first that leads there",
                [("targets", "A B"), ("A", "C"), ("B", "C")], nil, "targets<root A<targets C<A B<targets",
                "f: no role names it"
            ),
        ] as [(String, [(String, String)], String?, String, String)]
    )
    func `loads roles in order`(
        what: String,
        edges: [(String, String)],
        holder: String?,
        loads: String,
        end: String
    ) throws {
        var repository = Self.empty()
        for (delegator, names) in edges {
            for name in names.split(separator: " ") {
                let bare = String(name.filter { $0 != "!" })
                repository.delegate(.init(bare, terminating: name.hasSuffix("!")), from: delegator)
            }
        }
        if let holder { repository.addTarget("f", "content", to: holder) }
        for role in repository.roles.keys.map(\.text).sorted() where !SimulatedTUF.topRoles.contains(role) {
            repository.publish(role)
        }
        var trusted = try Self.trusted(&repository)
        let first = try Self.search(for: "f", in: repository, &trusted)
        #expect(first.loads == loads)
        #expect(first.end == end)
        // What is trusted is not loaded again, and the answer is the same.
        let second = try Self.search(for: "f", in: repository, &trusted)
        #expect(second.loads == "")
        #expect(second.end == end)
    }

    @Test(arguments: [32, 33])
    func `goes through 32 delegated roles and no further`(count: Int) throws {
        var repository = Self.empty()
        for number in 1...count {
            repository.delegate(.init("R\(number)"), from: number == 1 ? "targets" : "R\(number - 1)")
        }
        for number in 1...count { repository.publish("R\(number)") }
        var trusted = try Self.trusted(&repository)
        let (loads, end) = try Self.search(for: "f", in: repository, &trusted)
        #expect(loads.split(separator: " ").count == 33)
        #expect(end == (count == 32 ? "f: no role names it" : "f: not found in 32 delegated roles"))
    }

    @Test func `asks again for a role that another delegator has verified`() throws {
        var repository = Self.empty()
        for (name, path) in [("A", "a"), ("B", "b")] {
            repository.delegate(.init(name, .paths([path])))
            repository.delegate(.init("C", .paths([path])), from: name)
        }
        for name in ["A", "B", "C"] { repository.publish(name) }
        var trusted = try Self.trusted(&repository)
        #expect(try Self.search(for: "a", in: repository, &trusted).loads == "targets<root A<targets C<A")
        #expect(try Self.search(for: "b", in: repository, &trusted).loads == "B<targets C<B")
        #expect(trusted.repository.isVerified("C", by: "A") && trusted.repository.isVerified("C", by: "B"))
        #expect(!trusted.repository.isVerified("C", by: "targets"))
    }

    @Test func `trusts no role by the word of one who verified other bytes of it, nor what those delegate`() throws {
        var repository = Self.empty()
        for (name, path) in [("A", "a"), ("B", "b")] {
            let keys = SimulatedTUF.Keys([SimulatedSigner("C for \(name)")])
            repository.delegate(.init(name, .paths([path])))
            repository.delegate(.init("C", .paths([path]), keys: keys), from: name)
        }
        repository.delegate(.init("D"), from: "C")
        for name in ["A", "B", "D"] { repository.publish(name) }
        func publishC(for delegator: String) {
            repository["C"].signers = [SimulatedSigner("C for \(delegator)")]
            repository["C"].version = 0
            repository.publish("C")
        }
        publishC(for: "A")
        var trusted = try Self.trusted(&repository)
        #expect(try Self.search(for: "a", in: repository, &trusted).loads == "targets<root A<targets C<A D<C")
        publishC(for: "B")
        #expect(try Self.search(for: "b", in: repository, &trusted).loads == "B<targets C<B D<C")
        #expect(trusted.repository.isVerified("C", by: "B") && !trusted.repository.isVerified("C", by: "A"))
        #expect(throws: TrustError.threshold(role: "C", valid: 0, needed: 1)) {
            try Self.search(for: "a", in: repository, &trusted)
        }
        // What is refused takes nobody's place.
        #expect(trusted.repository.isVerified("C", by: "B") && trusted.repository.isVerified("D", by: "C"))
    }

    // MARK: A target of one role, as Patchline asks

    private static let list: TargetPath = .patchList(named("production"))

    private static func shadowed(_ prepare: (inout SimulatedTUF) -> Void) throws -> Result<TargetFile, TrustError> {
        var repository = empty()
        repository.addTarget(list.text, "of production", to: "production")
        prepare(&repository)
        let roles = repository.roles.keys.map(\.text).filter { !SimulatedTUF.topRoles.contains($0) }
        for role in roles { repository.publish(role) }
        var trusted = try trusted(&repository)
        for role in roles {
            let bytes = try #require(repository.files["metadata/1.\(role).json"])
            try trusted.repository.take(bytes, role: role, delegator: "targets")
        }
        return Result { () throws(TrustError) in try trusted.repository.target(list, of: "production") }
    }

    private static let delegation = SimulatedTUF.Delegation("production", .paths(["production/*"]), terminating: true)

    @Test func `takes the word of a role where nobody comes before it`() throws {
        let found = try Self.shadowed { repository in
            repository.delegate(.init("early", .paths(["other/*"])))
            repository.delegate(Self.delegation)
            repository.delegate(.init("late", .paths(["*/*"])))
            repository.addTarget(Self.list.text, "of late", to: "late")
        }
        #expect(try found.get() == TargetFile(of: Array("of production".utf8)))
    }

    @Test func `does not take the word of a role that another comes before, which may name the target or not`() throws {
        for names in [true, false] {
            let found = try Self.shadowed { repository in
                repository.delegate(.init("early", .paths(["*/*"])))
                repository.delegate(Self.delegation)
                if names { repository.addTarget(Self.list.text, "of early", to: "early") }
            }
            #expect(
                found == .failure(.shadowed(target: Self.list.text, role: "production", by: "early"))
            )
        }
    }

    @Test func `does not take the word of a role where the top role names the target`() throws {
        let found = try Self.shadowed { repository in
            repository.delegate(Self.delegation)
            repository.addTarget(Self.list.text, "of targets", to: "targets")
        }
        #expect(found == .failure(.shadowed(target: Self.list.text, role: "production", by: "targets")))
    }
}
