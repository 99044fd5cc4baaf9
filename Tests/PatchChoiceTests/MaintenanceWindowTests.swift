import DeviceTesting
import PatchFormat
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchChoice

@Suite("When what is new may start")
struct MaintenanceWindowTests {
    private func time(_ text: String) throws -> UTCTime { try #require(UTCTime(text)) }

    /// 2026-11-23 is a Monday.
    @Test(
        arguments: [
            (["mon-fri 02:00-04:00"], "UTC", "2026-11-23T01:59:59Z", "2026-11-23T02:00:00Z"),
            (["mon-fri 02:00-04:00"], "UTC", "2026-11-23T02:00:00Z", nil),
            (["mon-fri 02:00-04:00"], "UTC", "2026-11-23T03:59:59Z", nil),
            (["mon-fri 02:00-04:00"], "UTC", "2026-11-23T04:00:00Z", "2026-11-24T02:00:00Z"),
            (["mon-fri 02:00-04:00"], "UTC", "2026-11-27T04:00:00Z", "2026-11-30T02:00:00Z"),
            // An hour east it is two an hour earlier.
            (["mon-fri 02:00-04:00"], "+01:00", "2026-11-23T01:00:00Z", nil),
            (["mon-fri 02:00-04:00"], "-03:30", "2026-11-23T04:00:00Z", "2026-11-23T05:30:00Z"),
            // Past midnight, and past the end of the week.
            (["sun 22:00-06:00"], "UTC", "2026-11-23T05:59:59Z", nil),
            (["sun 22:00-06:00"], "UTC", "2026-11-23T06:00:00Z", "2026-11-29T22:00:00Z"),
            (["fri-mon 00:00-24:00"], "UTC", "2026-11-23T23:59:59Z", nil),
            (["fri-mon 00:00-24:00"], "UTC", "2026-11-24T00:00:00Z", "2026-11-27T00:00:00Z"),
            (["daily 03:00-04:00", "tue,thu 12:00-12:01"], "UTC", "2026-11-24T11:00:00Z", "2026-11-24T12:00:00Z"),
            (["daily 00:00-24:00"], "UTC", "0000-01-01T00:00:00Z", nil), ([], "UTC", "2026-11-23T01:00:00Z", nil),
        ] as [([String], String, String, String?)]
    )
    func `is any of the owner's hours, by the offset of its clock`(
        windows: [String],
        zone: String,
        now: String,
        opens: String?
    ) throws {
        let windows = MaintenanceWindows(
            try windows.map { try #require(MaintenanceWindows.Window($0)) },
            zone: try #require(WindowZone(zone))
        )
        let clock = try #require(windows.zone.fixedRules)
        #expect(windows.opens(after: try time(now), by: clock)?.description == opens)
    }

    @Test(arguments: [
        "", "mon", "mon 2-4", "mon :00-4:00", "02:00", "2:0-4:00", "mon 02:00", "mon 02:00-02:00", "mon 24:00-02:00",
        "mon 02:00-24:01",
        "mon 02:60-03:00",
        "monday 02:00-03:00", "mon- 02:00-03:00", "mon,,tue 02:00-03:00", "mon-tue-wed 02:00-03:00", "mon  02:00-03:00",
        "mon\t02:00-03:00", "mon 002:00-03:00",
    ])
    func `is refused as no hours`(_ text: String) {
        #expect(MaintenanceWindows.Window(text) == nil)
    }

    @Test(arguments: [
        ("Mon-Fri 02:00-04:00", "mon-fri 02:00-04:00"), ("02:00-04:00", "daily 02:00-04:00"),
        ("2:00-4:00", "daily 02:00-04:00"), ("SAT,sun 9:30-24:00", "sat,sun 09:30-24:00"),
    ])
    func `are written in one form, however they are said`(_ text: String, written: String) {
        #expect(MaintenanceWindows.Window(text)?.description == written)
        #expect(MaintenanceWindows.Window(text) == MaintenanceWindows.Window(written))
    }

    @Test(arguments: [
        ("UTC", "UTC"), ("+01:00", "+01:00"), ("-03:30", "-03:30"), ("+14:00", "+14:00"), ("+00:00", "UTC"),
        ("+14:01", nil),
        ("01:00", nil), ("+1:00", nil), ("", nil), ("Europe/Zurich", "Europe/Zurich"), ("local", "local"),
        ("CET", "CET"),
        ("America/Argentina/Ushuaia", "America/Argentina/Ushuaia"), ("Etc/GMT+5", "Etc/GMT+5"),
        ("Europe/../../etc/passwd", nil), ("/etc/localtime", nil), ("Europe/", nil), ("./UTC", nil),
        ("Europe//Berlin", nil),
        ("Europe/Berlin.", nil), ("a/b/c/d", nil), ("Europe/B\u{E9}rlin", nil), ("Europe Berlin", nil),
        (String(repeating: "a", count: 65), nil), ("Europe/Berlin\0", nil), ("-05:00:00", nil),
    ])
    func `is by UTC, a plain offset, the name of a zone or the machine's own`(_ text: String, written: String?) {
        #expect(WindowZone(text)?.description == written)
    }

    @Test func `is held back while the zone of its hours cannot be read, and by no other clock`() throws {
        let zone = try #require(WindowZone("Europe/Berlin"))
        let open = MaintenanceWindows(try [#require(MaintenanceWindows.Window("00:00-24:00"))], zone: zone)
        let machine = SelectionMachine(state: .pending(good: selection(["web 1"]), next: next(["web 2"])))
        let hold = try #require(machine.hold(nil, open, by: nil, at: Self.start))
        #expect(hold == .zoneUnreadable(zone, again: Self.start.adding(.hours(1))) && hold.code == "zoneUnreadable")
        #expect(hold.description == "held back, because the time zone Europe/Berlin of its hours cannot be read here")
        #expect(machine.hold(nil, open, by: .utc, at: Self.start) == nil)
        #expect(machine.hold(nil, MaintenanceWindows(zone: zone), by: nil, at: Self.start) == nil, "there are no hours")
        let mandatory = next(["web 2"], isMandatory: true)
        let forced = SelectionMachine(state: .pending(good: selection(["web 1"]), next: mandatory))
        #expect(forced.hold(nil, open, by: nil, at: Self.start) == nil)
    }

    private static let start = UTCTime(seconds: 1_795_161_600)
    private static let limit = Duration.hours(3)

    private func postponed(
        _ hours: Int,
        after before: Postponement? = nil,
        at minutes: Int = 0,
        isPending: Bool = true,
        limit: Duration = limit
    ) -> Postponement? {
        Postponement(
            .hours(hours),
            after: before,
            isPending: isPending,
            at: Self.start.adding(.minutes(minutes)),
            limit: limit
        )
    }

    @Test func `may be put off in a row for as long as the owner allows`() throws {
        let first = try #require(postponed(1))
        #expect(first == Postponement(since: Self.start, until: Self.start.adding(.hours(1))))
        let second = try #require(postponed(1, after: first, at: 90))
        #expect(second == Postponement(since: Self.start, until: Self.start.adding(.minutes(150))))
        let last = try #require(postponed(2, after: second, at: 149))
        #expect(last.until == Self.start.adding(.hours(3)), "shorter than asked for")
        #expect(postponed(1, after: last, at: 180) == nil, "what waits was put off for three hours")
        #expect(postponed(1, after: last, at: 180, isPending: false)?.since == Self.start.adding(.hours(3)))
        #expect(postponed(1, limit: .zero) == nil)
        var ended = second
        ended.end(at: Self.start.adding(.minutes(100)))
        #expect(ended.until == Self.start.adding(.minutes(100)))
        let again = try #require(postponed(2, after: ended, at: 101))
        #expect(again.until == Self.start.adding(.hours(3)), "who ends it and begins again is in the same row")
    }

    @Test func `is put off no longer than the limit by a clock that ran ahead`() {
        var postponed = Postponement(since: Self.start.adding(.days(400)), until: Self.start.adding(.days(401)))
        postponed.shorten(to: .hours(3), at: Self.start)
        #expect(postponed == Postponement(since: Self.start, until: Self.start.adding(.hours(3))))
    }

    private static let far = Postponement(since: start, until: start.adding(.hours(2)))
    private static let shut = MaintenanceWindows([MaintenanceWindows.Window("sun 03:00-04:00")].compactMap(\.self))

    private func next(_ labels: [String], isMandatory: Bool = false) -> Selection {
        Selection(
            number: 2,
            roleVersion: 2,
            patches: labels.map(installed),
            entryKeys: .none,
            isMandatory: isMandatory
        )
    }

    @Test func `holds back a new selection, and no mandatory one, no withdrawal, and none that is the only one`() {
        let good = selection(["fix 1", "web 1"])
        func hold(_ state: SelectionState, withdrawn: Set<PatchContent> = []) -> ActivationHold? {
            SelectionMachine(state: state, earlier: [], withdrawn: withdrawn).hold(
                Self.far,
                Self.shut,
                by: .utc,
                at: Self.start
            )
        }
        let new = next(["fix 1", "web 2"])
        #expect(hold(.pending(good: good, next: new)) == .postponed(until: Self.far.until))
        let machine = SelectionMachine(state: .pending(good: good, next: new))
        #expect(machine.hold(nil, Self.shut, by: .utc, at: Self.start)?.code == "window")
        #expect(machine.hold(Self.far, MaintenanceWindows(), by: nil, at: Self.far.until) == nil)
        #expect(hold(.pending(good: good, next: next(["fix 1", "web 2"], isMandatory: true))) == nil)
        #expect(hold(.pending(good: good, next: next(["fix 1"]))) == nil, "web is withdrawn")
        #expect(hold(.pending(good: good, next: new), withdrawn: [installed("web 1").content]) == nil)
        #expect(hold(.pending(good: nil, next: new)) == nil)
        #expect(hold(.settled(good)) == nil && hold(.empty) == nil)
    }

    @Test func `lets what ran go on at a launch, and starts what waited once it may`() {
        let (good, new) = (selection(["web 1"]), next(["web 2"]))
        var machine = SelectionMachine(state: .pending(good: good, next: new))
        let token = LaunchToken(random: [UInt8](repeating: 1, count: 16))
        #expect(machine.launch(token: token, at: Self.start, isHeld: true) == .run(good, removed: []))
        #expect(machine.state == .pending(good: good, next: new))
        #expect(machine.launch(token: token, at: Self.start) == .tryOut(new, token))
    }
}

extension TimeZoneRules {
    static let utc = TimeZoneRules(offset: 0)
}
