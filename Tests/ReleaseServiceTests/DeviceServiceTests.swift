import PatchFormat
import PatchServer
import PatchCrypto
import PatchTesting
import PatchTrust
import ReleaseService
import ServerRecords
import ServerTesting
import Testing

/// Rows J6 and E8 on the server: a fix of two versions and a bundle, and devices that ask for them.
private struct AskedService {
    static let app = ReleaseFactory.app
    static let production = ReleaseFactory.production
    let fixture: TestingOperations
    let devices: DeviceService
    let fix: PatchID = named("fix-cart-total")
    let web: PatchID = named("web")

    init() async throws {
        fixture = try TestingOperations()
        devices = DeviceService(fixture.operations)
        try await publish([("fix-cart-total", "1", "1;")])
    }

    private init(_ fixture: TestingOperations) {
        self.fixture = fixture
        devices = DeviceService(fixture.operations)
    }

    /// Another process on the same folder.
    func again() throws -> AskedService { AskedService(try fixture.again()) }

    func publish(_ earlier: [(id: String, version: String, text: String)]) async throws {
        let contents = ReleaseFactory.Contents(scripts: ["fix-cart-total": ("2", "2;")], earlier: earlier)
        let release = try fixture.server.factory.release(
            contents,
            on: fixture.server.repository,
            signedBy: [.production]
        )
        _ = try await OfferRelease(release, notes: ReleaseNotes(), by: fixture.actor, fixture.operations).run()
    }

    static func digest(_ text: String) -> SHA256Digest { SHA256Digest(of: Array(text.utf8)) }

    func open(to count: Int, _ version: String = "2") async throws {
        let change = DialChange(.headcount(count), of: fix, .version(named(version)))
        _ = try await ChangeDial(
            [change],
            in: Self.production,
            of: Self.app,
            expecting: nil,
            by: fixture.actor,
            fixture.operations
        ).run()
    }

    /// Whether device `number` has a place in a version of the fix now.
    func ask(_ number: Int, _ text: String = "2;", user: String? = nil) async throws -> Bool {
        let place = DeviceQuestion.Place(
            patchID: fix,
            sha256: Self.digest(text),
            device: Self.digest("device \(number)")
        )
        let question = DeviceQuestion(user: user.map(Self.hash), places: [place])
        let answer = try await devices.answer(question, in: Self.production, of: Self.app)
        #expect(answer.places.map(\.sha256) == [Self.digest(text)])
        return answer.places.first?.isGiven == true
    }

    func choices(_ user: String?) async throws -> [PatchID: DeviceAnswer.Choice] {
        let question = DeviceQuestion(user: user.map(Self.hash), places: [])
        return try await devices.answer(question, in: Self.production, of: Self.app).choices
    }

    func taken() async throws -> Int? {
        let state = try fixture.server.repository.dial(of: Self.production)
        return try await fixture.operations.counting(state).versions.first?.placesTaken
    }

    func records(_ collection: String) async throws -> Int {
        try await fixture.records.store.records(RecordRange(collection, limit: 1_000)).count
    }

    static func hash(_ user: String) -> SHA256Digest {
        UserID(user).map { $0.answerHash(in: app) } ?? digest("")
    }

    func set(_ target: ServerAnswer.Target, _ wish: Answers.ChosenAnswer, of patch: PatchID? = nil) async throws {
        _ = try await Answers(fixture.operations).choose(
            target,
            with: wish,
            of: patch ?? fix,
            in: Self.production,
            of: Self.app,
            by: fixture.actor
        )
    }
}

@Suite("The places of a head-count", .timeLimit(.minutes(10)))
struct PlacesTests {
    @Test func `are given until there are none, and asked for again answered the same`() async throws {
        let operations = try await AskedService()
        try await operations.open(to: 2)
        var given: [Bool] = []
        for device in [1, 2, 3, 1, 3, 2] { given.append(try await operations.ask(device)) }
        #expect(given == [true, true, false, true, false, true])
        #expect(try await operations.taken() == 2)
        #expect(try await operations.records("place") == 2)
    }

    @Test func `are asked for in no channel that the app has not, and such names are not kept`() async throws {
        let operations = try await AskedService()
        try await operations.open(to: 1)
        for name in ["nobody", "nothing"] {
            let channel: ChannelName = named(name)
            let error = await #expect(throws: OperationError.self) {
                _ = try await operations.devices.answer(
                    DeviceQuestion(user: nil, places: []),
                    in: channel,
                    of: AskedService.app
                )
            }
            guard case .server(.noChannel(AskedService.app, channel, let known))? = error,
                known.contains(AskedService.production)
            else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(try await operations.ask(1))
    }

    @Test func `are more once the head-count is raised, and outlast a restart`() async throws {
        let operations = try await AskedService()
        try await operations.open(to: 1)
        #expect(try await operations.ask(1))
        #expect(try await operations.ask(2) == false)
        let next = try operations.again()
        #expect(try await next.ask(1))
        #expect(try await next.ask(2) == false)
        // A running server sees what another process published.
        try await operations.open(to: 2)
        #expect(try await next.ask(2))
        #expect(try await next.ask(3) == false)
        #expect(try await next.taken() == 2)
    }

    @Test func `go to exactly as many of many who ask at once, in two processes`() async throws {
        let operations = try await AskedService()
        try await operations.open(to: 7)
        let other = try operations.again()
        let given = try await withThrowingTaskGroup(of: Bool.self) { group in
            for device in 0..<24 {
                let asked = device.isMultiple(of: 2) ? operations : other
                group.addTask { try await asked.ask(device) }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(given == 7)
        #expect(try await operations.taken() == 7)
        #expect(try await operations.records("place") == 7)
    }

    @Test func `are one for a device that asks many times at once`() async throws {
        let operations = try await AskedService()
        try await operations.open(to: 5)
        let other = try operations.again()
        let given = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                let asked = number.isMultiple(of: 2) ? operations : other
                group.addTask { try await asked.ask(1) }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(given == 8)
        #expect(try await operations.taken() == 1)
    }

    @Test func `are none in what has no head-count, is not listed, or is not what was chosen`() async throws {
        let operations = try await AskedService()
        try await operations.open(to: 9)
        #expect(try await operations.ask(1, "1;") == false)
        #expect(try await operations.ask(1, "9;") == false)
        try await operations.set(.everyone, .hold)
        #expect(try await operations.ask(1) == false)
        try await operations.set(.user(AskedService.hash("alice")), .version(named("1"), isForced: false))
        #expect(try await operations.ask(1, user: "alice") == false)
        try await operations.set(.user(AskedService.hash("bob")), .version(named("2"), isForced: false))
        #expect(try await operations.ask(1, user: "bob"))
        #expect(try await operations.taken() == 1)
    }

    @Test func `are counted by an operator's dial, and forgotten with what is listed no more`() async throws {
        let operations = try await AskedService()
        try await operations.open(to: 3)
        try await operations.open(to: 3, "1")
        for device in 1...3 { #expect(try await operations.ask(device, "1;")) }
        #expect(try await operations.ask(1))
        #expect(try await operations.fixture.operations.removeUnlistedPlaces(of: AskedService.app, by: .server) == 0)
        try await operations.publish([])
        #expect(
            try await operations.fixture.operations.removeUnlistedPlaces(
                of: AskedService.app,
                dryRun: true,
                by: .server
            )
                == 3
        )
        #expect(try await operations.records("place") == 4)
        #expect(try await operations.fixture.operations.removeUnlistedPlaces(of: AskedService.app, by: .server) == 3)
        #expect(try await operations.records("place") == 1)
        #expect(try await operations.records("places") == 1)
        #expect(try await operations.taken() == 1)
    }

    @Test func `of an app or a channel that nobody knows are not there`() async throws {
        let operations = try await AskedService()
        let question = DeviceQuestion(user: nil, places: [])
        await #expect(throws: OperationError.server(.unknownApp(named("com.example.other")))) {
            try await operations.devices.answer(question, in: AskedService.production, of: named("com.example.other"))
        }
        await #expect(throws: OperationError.server(.dial(.unpublished(ReleaseFactory.beta)))) {
            try await operations.devices.answer(question, in: ReleaseFactory.beta, of: AskedService.app)
        }
    }
}

@Suite("What operators choose for users", .timeLimit(.minutes(10)))
struct ServerAnswerTests {
    @Test func `is told to that user, everyone's to all others, and only while it is listed`() async throws {
        let operations = try await AskedService()
        let alice = ServerAnswer.Target.user(AskedService.hash("alice"))
        try await operations.set(.everyone, .hold)
        try await operations.set(.everyone, .version(named("1.0.0"), isForced: false), of: operations.web)
        try await operations.set(alice, .version(named("1"), isForced: true))
        let web = try #require(
            try operations.fixture.server.repository.dial(of: AskedService.production).versions.first {
                $0.patchID == operations.web
            }
        )
        let others: [PatchID: DeviceAnswer.Choice] = [
            operations.fix: .hold, operations.web: .version(web.sha256, isForced: false),
        ]
        #expect(try await operations.choices("bob") == others)
        #expect(try await operations.choices(nil) == others)
        let hers = DeviceAnswer.Choice.version(AskedService.digest("1;"), isForced: true)
        #expect(try await operations.choices("alice")[operations.fix] == hers)
        try await operations.publish([])
        #expect(try await operations.choices("alice")[operations.fix] == .hold, "1 is not listed any more")
    }

    @Test func `must be listed, and is refused by name otherwise`() async throws {
        let operations = try await AskedService()
        let unlisted = DialRefusal.notListed(AskedService.production, "fix-cart-total@9")
        await #expect(throws: OperationError.server(.dial(unlisted))) {
            try await operations.set(.everyone, .version(named("9"), isForced: false))
        }
        let unknown = DialRefusal.notListed(AskedService.production, "other")
        await #expect(throws: OperationError.server(.dial(unknown))) {
            try await operations.set(.everyone, .hold, of: named("other"))
        }
        #expect(try await operations.records("answer") == 0)
        #expect(try await operations.fixture.actions() == ["release.publish"])
    }

    @Test func `comes a page at a time, each from the place on where the one before ended`() async throws {
        let operations = try await AskedService()
        for user in 1...4 { try await operations.set(.user(AskedService.hash("user \(user)")), .hold) }
        try await operations.set(.everyone, .hold)
        try await operations.set(.everyone, .hold, of: operations.web)
        func page(after place: ServerAnswer.Place? = nil, limit: Int = 4, bytes: Int = .max) async throws -> (
            answers: [ServerAnswer], next: ServerAnswer.Place?
        ) {
            try await Answers(operations.fixture.operations).page(
                of: AskedService.production,
                in: AskedService.app,
                after: place,
                limit: limit,
                bytes: bytes
            )
        }
        let all = try await page(limit: 6)
        #expect(all.answers.count == 6 && all.next == nil)
        let first = try await page()
        #expect(first.answers == Array(all.answers.prefix(4)) && first.next == all.answers[3].place)
        let second = try await page(after: ServerAnswer.Place(all.answers[3].place.text))
        #expect(second.answers == Array(all.answers.suffix(2)) && second.next == nil)
        #expect(try await page(bytes: 1).answers == [all.answers[0]])
        for text in ["", "everyone", "everyone/", "everyone/a b", "nobody/web", "../everyone/web", "everyone/web/x"] {
            #expect(ServerAnswer.Place(text) == nil, "\(text)")
        }
    }

    @Test func `is bounded for one user and for a channel, and what is chosen can still be changed`() async throws {
        let operations = try await AskedService()
        let full = OperationError.answersFull(AskedService.production, limit: Limits.answersInChannel)
        let channel = "\(AskedService.app)/\(AskedService.production)"
        func fill(_ target: String, _ count: Int) async throws {
            let keys = (0..<count).map { RecordKey("answer", "\(channel)/\(target)/p\($0)") }
            try await operations.fixture.records.store.commit(keys.map { .insert($0, .null) })
        }
        let alice = ServerAnswer.Target.user(AskedService.hash("alice"))
        try await fill(alice.text, Limits.answersForOne)
        await #expect(throws: OperationError.tooManyAnswers(limit: Limits.answersForOne)) {
            try await operations.set(alice, .hold)
        }
        try await operations.set(.everyone, .hold)
        try await fill("0", Limits.answersInChannel - Limits.answersForOne - 1)
        await #expect(throws: full) { try await operations.set(.everyone, .hold, of: operations.web) }
        try await operations.set(.everyone, .version(named("2"), isForced: false))
        #expect(try await operations.fixture.records.store.count("answer", prefix: channel) == Limits.answersInChannel)
        // What is chosen in another channel is another's.
        #expect(try await operations.fixture.records.store.count("answer", prefix: "\(AskedService.app)/beta/") == 0)
    }

    @Test func `is written down with who chose it, the user by a hash, and ends when it is removed`() async throws {
        let operations = try await AskedService()
        let alice = ServerAnswer.Target.user(AskedService.hash("alice"))
        try await operations.set(alice, .hold)
        try await operations.set(alice, .version(named("2"), isForced: true))
        let chosen = try await Answers(operations.fixture.operations).page(
            of: AskedService.production,
            in: AskedService.app,
            limit: 9
        ).answers
        #expect(chosen.map(\.choice) == [.version(named("2"), AskedService.digest("2;"), isForced: true)])
        #expect(chosen.map(\.actor) == [operations.fixture.actor])
        func remove() async throws -> ServerAnswer? {
            try await Answers(operations.fixture.operations).remove(
                for: alice,
                of: operations.fix,
                in: AskedService.production,
                of: AskedService.app,
                by: operations.fixture.actor
            )
        }
        #expect(try await remove() == chosen.first)
        #expect(try await remove() == nil)
        #expect(try await operations.choices("alice").isEmpty)
        let expected = ["release.publish", "answer.set", "answer.set", "answer.remove"]
        #expect(try await operations.fixture.actions() == expected)
        let log = try await operations.fixture.records.auditEntries(after: 0)
        #expect(log.map { $0.json["before"]?["hold"] }.dropFirst() == [nil, .bool(true), nil])
        #expect(log.allSatisfy { !String(decoding: $0.json.fileBytes, as: UTF8.self).contains("alice") })
    }
}
