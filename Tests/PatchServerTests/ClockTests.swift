import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import ServerTesting
import SystemPackage
import Testing

@Suite("A server whose clock is wrong")
struct WrongClockTests {
    private static let start = TestingServer.start
    private static let in1970 = UTCTime(seconds: 60)

    private func behind(_ clock: UTCTime, _ signedAt: UTCTime) throws -> ServerError {
        .clockBehind(try #require(ClockBehind(clock: clock, signedAt: signedAt, build: UTCTime(seconds: 0))))
    }

    private func published() throws -> TestingServer {
        let server = try TestingServer()
        try server.publish(try server.factory.release(on: server.repository))
        return server
    }

    @Test(arguments: [-86_400 * 365, -61]) func `signs nothing by a clock that is behind its newest signature`(
        _ seconds: Int
    ) throws {
        let server = try published()
        let next = try server.factory.release(
            .init(web: ("1.0.1", ["index.html": "<p>two</p>"])),
            on: server.repository
        )
        let before = try server.everything()
        let clock = UTCTime(seconds: Self.start.seconds + seconds)
        let error = try behind(clock, Self.start)
        let (repository, key) = (server.repository, server.key)
        #expect(throws: error) { try RefreshRoles(of: repository, signing: key, at: clock).run() }
        #expect(throws: error) { try PublishRelease(next, in: repository, signing: key, at: clock).run() }
        #expect(throws: error) { try SignExport(of: repository, holding: .days(1), signing: key, at: clock).run() }
        let pause = DialChange(.pause, of: named("web"))
        #expect(throws: error) {
            try TurnDial([pause], in: ReleaseFactory.production, of: repository, signing: key, at: clock).run()
        }
        #expect(throws: error) {
            try SetParameters(
                .set([named("colour"): .text("red")]),
                in: ReleaseFactory.production,
                of: repository,
                signing: key,
                at: clock
            ).run()
        }
        #expect(try server.everything() == before)
    }

    @Test func `signs in 1970 neither again nor for a new app`() throws {
        let server = try published()
        let before = try server.everything()
        #expect(throws: try behind(Self.in1970, Self.start)) {
            try server.refresh(at: Self.in1970)
        }
        #expect(try server.everything() == before)

        let files = FaultyFiles()
        let factory = ReleaseFactory(files: files, folder: "/pipeline", now: Self.start)
        let trust = try RootOfTrust(
            root: try factory.root().fileBytes,
            targets: try factory.targets().fileBytes,
            at: Self.in1970
        )
        let built = ServerFolder("/srv", build: Self.start)
        let error = ClockBehind(clock: Self.in1970, signedAt: nil, build: Self.start)
        #expect(error?.evidence == .build)
        #expect(throws: ServerError.clockBehind(try #require(error))) {
            _ = try CreateApp(trust, onlineKey: server.key, in: built, files: files, allowsTestingKeys: true).run(
                at: Self.in1970
            )
        }
        #expect(throws: FileError.self) { try files.list("/srv") }
    }

    @Test func `goes on after a clock that was set back by seconds, and never dates a signature before the newest`()
        throws
    {
        let server = try published()
        let clock = Self.start.adding(.seconds(-60))
        let done = try server.refresh(at: clock)
        let state = try PublishedState(of: server.repository)
        #expect(state.timestamp.signedAt == Self.start)
        #expect(done.expires == Self.start.adding(.days(7)) && state.timestamp.header.expires == done.expires)
    }

    @Test func `continues by a word after its clock was ahead, and devices take its new timestamp`() throws {
        let server = try published()
        let ahead = Self.start.adding(.days(200))
        try server.refresh(at: ahead)
        let clock = Self.start.adding(.hours(1))
        #expect(throws: try behind(clock, ahead)) {
            try server.refresh(at: clock)
        }

        let wrong = try PublishedState(of: server.repository)
        try RefreshRoles(of: server.repository, signing: server.key, at: clock, acceptingClock: true).run()
        let right = try PublishedState(of: server.repository)
        #expect(right.timestamp.signedAt == clock && right.timestamp.header.version == 4)
        let ends = [right.timestamp.header, right.snapshot.header].map(\.expires)
        #expect(ends == Array(repeating: clock.adding(.days(7)), count: 2))
        // Its own expiry was from the wrong clock too.
        #expect(right.dial.header.expires == clock.adding(.days(14)))
        #expect(right.dial.targets == wrong.dial.targets)

        // A device that saw the wrong timestamp, and one that did not.
        for known in [wrong.timestampBytes, nil] {
            let root = try TrustedRoot(anchor: try server.factory.root().fileBytes)
            let time = ReferenceTime(clock: clock)
            let current = try CurrentRoot(
                root,
                knowing: try known.map { try root.knownTimestamp($0) },
                .everyRole(time)
            )
            let taken = try current.timestamp(right.timestampBytes)
            #expect(taken.isNew && taken.role.header.version == 4)
        }
        try server.refresh(at: clock.adding(.hours(6)))
    }

    @Test func `accepts no clock that is behind the build of the program`() throws {
        let server = try published()
        let folder = ServerFolder(server.folder.root, build: Self.start)
        let repository = try AppRepository(
            ReleaseFactory.app,
            in: folder,
            files: server.files,
            allowsTestingKeys: true
        )
        let before = try server.everything()
        let error = ClockBehind(clock: Self.in1970, signedAt: nil, build: Self.start)
        #expect(throws: ServerError.clockBehind(try #require(error))) {
            try RefreshRoles(of: repository, signing: server.key, at: Self.in1970, acceptingClock: true).run()
        }
        #expect(try server.everything() == before)
    }

    @Test func `is not ready, and says why, until the clock is right`() async throws {
        let server = try published()
        let time = ManualClock(Self.in1970)
        let check = ReadinessCheck(server.folder, files: server.files, within: .days(30), now: { time.now() })
        let page = await OperatorPage.ready(check)
        #expect(page.status == 503)
        #expect(
            String(decoding: page.bytes, as: UTF8.self)
                == #"{"apps":[{"app":"com.example.storefront","due":[],"error":"the clock is behind: it shows "#
                + #"1970-01-01T00:01:00Z, and the newest timestamp was signed at \#(Self.start)","status":"clock-behind"}],"#
                + #""status":"clock-behind"}"# + "\n"
        )
        time.set(to: Self.start)
        #expect(try await check.answer().status == .ready)
        #expect(await check.verifications <= 2)
    }

    @Test func `is examined by the doctor, who names the command that continues`() {
        let line = Diagnosis.Line.clock(Self.start.adding(.days(-1)), signedAt: Self.start)
        #expect(line.verdict == .fault)
        #expect(line.hint?.contains("patchsrv refresh --accept-clock continues by it") == true)
        let built = Diagnosis.Line.clock(Self.start, signedAt: nil, build: Self.start.adding(.days(1)))
        #expect(built.verdict == .fault && built.hint == "set the clock")
    }
}
