import PatchFormat
import PatchTesting
import PatchTrust
import Testing

/// What is certain: the build, and what a verified timestamp says; what is not: the clock.
@Suite("The reference time")
struct ReferenceTimeTests {
    enum Verdict {
        case taken, expired, clockBehind, clockAheadOrStale
    }

    static let expires = time("2026-11-21T00:00:00Z")

    static func day(_ number: Int) -> UTCTime { expires.adding(.days(number)) }

    /// Days from the end of a role; nil for 1970.
    @Test(
        arguments: [
            ("the clock is right", -1, nil, nil, Verdict.taken),
            ("the clock is right, the statement fresh", -1, -10, -2, .taken),
            ("the clock is behind by days", -4, -10, -1, .taken),
            ("the clock stands in 1970", nil, nil, nil, .taken),
            ("the clock stands in 1970, the statement is fresh", nil, -10, -1, .taken),
            ("the clock stands in 1970, built after the end", nil, 1, nil, .clockBehind),
            ("the clock stands in 1970, signed after the end", nil, -10, 1, .clockBehind),
            ("the clock is behind, signed at the end", -1, -10, 0, .clockBehind),
            ("the clock is behind, built at the end", -1, 0, nil, .clockBehind),
            ("the clock is ahead, or nobody signs", 1, -10, -2, .clockAheadOrStale),
            ("the clock is at the end", 0, -10, -2, .clockAheadOrStale),
            ("nothing but the clock is known", 1, nil, nil, .clockAheadOrStale),
            ("the clock is at the end, and so is the statement", 0, -10, 0, .expired),
            ("over for certain: signed", 2, -10, 1, .expired), ("over for certain: built", 2, 1, -3, .expired),
        ] as [(String, Int?, Int?, Int?, Verdict)]
    )
    func `tells what is certain from what the clock says`(
        what: String,
        clock: Int?,
        build: Int?,
        signedAt: Int?,
        verdict: Verdict
    ) throws {
        let epoch = UTCTime(seconds: 0)
        let (clock, build) = (clock.map(Self.day) ?? epoch, build.map(Self.day) ?? epoch)
        var trusted = try StepByStep(
            try World.root(expires: Self.expires).fileBytes,
            at: ReferenceTime(clock: clock, build: build)
        )
        if let signedAt {
            let statement = RoleDocument.timestamp(
                version: 1,
                expires: Self.expires,
                snapshot: RoleFile(version: 1, length: nil, sha256: nil),
                signedAt: Self.day(signedAt)
            )
            _ = try trusted.updateTimestamp(try statement.signed(by: [.online]).fileBytes)
        }
        let past = max(build, signedAt.map(Self.day) ?? epoch)
        #expect(trusted.judgedAt.atLeast == past)
        #expect(trusted.judgedAt.value == max(clock, past))
        let expected: TrustError? =
            switch verdict {
            case .taken: nil
            case .expired: .expired(role: "root", expires: Self.expires, at: max(clock, past))
            case .clockBehind: .clockBehind(role: "root", expires: Self.expires, clock: clock, atLeast: past)
            case .clockAheadOrStale: .clockAheadOrStale(role: "root", expires: Self.expires, clock: clock)
            }
        var found: TrustError?
        do throws(TrustError) { try trusted.checkRootExpiry() } catch { found = error }
        #expect(found == expected)
    }

    @Test func `goes by the newest timestamp alone, also where an older one was dated later`() throws {
        var trusted = try StepByStep(try World.root().fileBytes, at: World.now)
        for (version, signedAt) in [(1, World.now.adding(.days(1))), (2, World.now.adding(.days(-1)))] {
            let statement = RoleDocument.timestamp(
                version: version,
                expires: World.later,
                snapshot: RoleFile(version: 1, length: nil, sha256: nil),
                signedAt: signedAt
            )
            #expect(try trusted.updateTimestamp(try statement.signed(by: [.online]).fileBytes) == .taken)
        }
        #expect(trusted.judgedAt.atLeast == World.now.adding(.days(-1)))
    }

    @Test func `is asked of nobody where a server reads its own tree`() throws {
        let root = try TrustedRoot(anchor: try World.root(expires: UTCTime(seconds: 1)).fileBytes)
        let current = try CurrentRoot(root, knowing: nil, .noRole(because: .signsAgain))
        #expect(try current.timestamp(try World().timestamp).isNew)
    }

    @Test func `is asked of what the server signs where people sign the rest again`() throws {
        let root = try TrustedRoot(anchor: try World.root(expires: UTCTime(seconds: 1)).fileBytes)
        func current(_ time: UTCTime) throws -> CurrentRoot {
            try CurrentRoot(root, knowing: nil, .onlineRoles(at: time))
        }
        #expect(try current(World.now).timestamp(try World().timestamp).isNew)
        #expect(throws: TrustError.expired(role: "timestamp", expires: World.later, at: World.later)) {
            try current(World.later).timestamp(try World().timestamp)
        }
    }

    @Test func `learns nothing from a timestamp that is refused, or not newer`() throws {
        let world = try World()
        var trusted = try world.withTimestamp()
        #expect(trusted.judgedAt.atLeast == World.now)
        func statement(_ version: Int, by key: TestingKey) throws -> [UInt8] {
            try RoleDocument.timestamp(
                version: version,
                expires: World.later,
                snapshot: RoleFile(version: 1, length: nil, sha256: nil),
                signedAt: World.later
            ).signed(by: [key]).fileBytes
        }
        _ = try? trusted.updateTimestamp(try statement(2, by: .other))
        #expect(try trusted.updateTimestamp(try statement(1, by: .online)) == .unchanged)
        #expect(trusted.judgedAt.atLeast == World.now)
    }
}
