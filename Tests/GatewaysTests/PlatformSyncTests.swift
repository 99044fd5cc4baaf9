import Gateways
import PatchFormat
import Testing

extension LoaderVersion {
    static func tests(_ number: Int) throws -> LoaderVersion { try #require(LoaderVersion(number)) }
}

@Suite("A platform's sync file")
struct PlatformSyncFileTests {
    private static func read(_ text: String) throws(FormatError) -> PlatformSyncFile {
        try PlatformSyncFile(Array(text.utf8))
    }

    @Test func `is read as the platform writes it`() throws {
        #expect(try Self.read(#"{"v":3}"#) == PlatformSyncFile(version: .tests(3)))
        let shared = try Self.read(#"{"v":4,"g":2}"#)
        #expect(try shared.version == .tests(4) && shared.share == PlatformShare(2) && !shared.isDeleted)
        let ruled = try Self.read(#"{"v":5,"c":"ios&gt;9.0&amp;&amp;ismale==1","cv":3}"#)
        #expect(try ruled.condition == "ios&gt;9.0&amp;&amp;ismale==1" && ruled.otherwise == .tests(3))
        let held = try Self.read(#" { "v" : 6, "p" : true, "r" : true } "#)
        #expect(held.isPaused && held.runsLater)
        for deleted in ["1", "0", "false", "null", "\"\"", "{}"] {
            let file = try Self.read("{\"e\":\(deleted)}")
            #expect(file.isDeleted && file.version == nil, "\(deleted)")
        }
    }

    @Test func `says nothing where it leaves out, has 0, or has what nobody knows`() throws {
        for text in ["{}", #"{"v":0}"#, #"{"v":0,"cv":0,"p":false,"r":0}"#, #"{"x":{"v":3},"V":3,"":1}"#] {
            #expect(try Self.read(text) == PlatformSyncFile(version: nil), "\(text)")
        }
        let numbers = try Self.read(#"{"v":1,"p":1,"r":1,"g":0,"c":""}"#)
        #expect(numbers.isPaused && numbers.runsLater && numbers.share == PlatformShare(0) && numbers.condition == "")
    }

    @Test func `is refused where a field is doubled, of another type or huge`() {
        let version = "must be an integer from 0 to 999999999"
        for (text, field, rule) in [
            ("", "", "is not JSON (byte 0)"), ("[]", "", "must be an object"), ("3", "", "must be an object"),
            ("null", "", "must be an object"), (#"{"v":3"#, "", "is not JSON (byte 6)"),
            (#"{"v":3,"v":4}"#, "", "has a key twice in one object (byte 7)"),
            (#"{"v":"3"}"#, "v", version), (#"{"v":true}"#, "v", version), (#"{"v":null}"#, "v", version),
            (#"{"v":-1}"#, "v", version),
            (#"{"v":1000000000}"#, "v", version),
            (#"{"v":3.0}"#, "", "has a number with a fraction or an exponent (byte 5)"),
            (#"{"v":99999999999999999999}"#, "", "has an integer beyond ±(2^53 − 1) (byte 5)"),
            (#"{"v":3,"cv":"2"}"#, "cv", version),
            (#"{"v":3,"cv":-2}"#, "cv", version), (#"{"p":"yes"}"#, "p", "must be true or false"),
            (#"{"p":2}"#, "p", "must be true or false"), (#"{"p":null}"#, "p", "must be true or false"),
            (#"{"r":[]}"#, "r", "must be true or false"), (#"{"r":-1}"#, "r", "must be true or false"),
            (#"{"g":11}"#, "g", "must be an integer from 0 to 10"),
            (#"{"g":-1}"#, "g", "must be an integer from 0 to 10"),
            (#"{"g":true}"#, "g", "must be an integer from 0 to 10"),
            (#"{"g":"2"}"#, "g", "must be an integer from 0 to 10"),
            (#"{"c":1}"#, "c", "must be a string"), (#"{"c":null}"#, "c", "must be a string"),
            ("{\"c\":\"\(String(repeating: "x", count: 16_384))\"}", "", "is over 16384 bytes"),
        ] {
            #expect(throws: FormatError("sync file", field: field, rule: rule), "\(text.prefix(40))") {
                try Self.read(text)
            }
        }
    }

    @Test func `is written without what it does not say`() throws {
        #expect(PlatformSyncFile(version: nil).bytes == Array("{}".utf8))
        var file = PlatformSyncFile(version: try .tests(5))
        #expect(file.bytes == Array(#"{"v":5}"#.utf8))
        (file.isPaused, file.runsLater, file.share) = (true, true, PlatformShare(2))
        (file.condition, file.otherwise, file.isDeleted) = ("ios>9.0&&a==\"b\"\n", try .tests(3), true)
        let text = #"{"c":"ios>9.0&&a==\"b\"\n","cv":3,"e":1,"g":2,"p":true,"r":true,"v":5}"#
        #expect(String(decoding: file.bytes, as: UTF8.self) == text)
        #expect(try PlatformSyncFile(file.bytes) == file)
    }

    @Test func `lies where the platform's clients ask for it`() throws {
        let (key, app) = (try #require(PlatformAppKey("0a1b2c3D")), try #require(AppVersion("2.1")))
        let place = PlatformPlace(key, app)
        #expect(
            place.syncPath(for: .everyone) == "0a1b2c3D/2.1" && place.syncPath(for: .developers) == "dev/0a1b2c3D/2.1"
        )
        #expect(place.packagePath(try .tests(3)) == "0a1b2c3D/2.1/file3")
        #expect(place != PlatformPlace(key, try #require(AppVersion("2.1.0"))))
        for text in ["", "a/b", "..", "a.b", "a b", "ä", String(repeating: "a", count: 65)] {
            #expect(PlatformAppKey(text) == nil, "\(text)")
        }
    }
}

@Suite("What a client of JSPatch's platform does")
struct PlatformDecisionTests {
    private static func decision(
        _ text: String?,
        installed: Int? = nil,
        highest: Int? = nil,
        draw: Int = 5,
        facts: [String: String] = [:],
        lower: PlatformDecision.Lower = .refused
    ) throws -> PlatformDecision {
        var state = PlatformInstalled.nothing
        if let highest { state = state.installing(try .tests(highest)).deleting }
        if let installed { state = state.installing(try .tests(installed)) }
        var known: [ConditionKey: ConditionValue] = [:]
        for (key, value) in facts { known[try #require(ConditionKey(key))] = ConditionValue(value) }
        return PlatformDecision(
            try text.map { try PlatformSyncFile(Array($0.utf8)) },
            on: PlatformDecision.Device(
                installed: state,
                draw: try #require(PlatformDraw(draw)),
                facts: known,
                lower: lower
            )
        )
    }

    @Test func `is nothing where no version is named, or the one that is there`() throws {
        for text in [nil, "{}", #"{"v":0}"#, #"{"v":0,"p":true,"g":10,"c":"a==1"}"#] {
            for installed in [nil, 3] {
                #expect(try Self.decision(text, installed: installed) == .keep(.nothingPublished))
            }
        }
        #expect(try Self.decision(#"{"v":3,"g":0}"#, installed: 3) == .keep(.alreadyInstalled(.tests(3))))
    }

    @Test func `is to delete what is there, and the second time nothing`() throws {
        for text in [#"{"e":1}"#, #"{"v":0,"e":1,"p":true}"#, #"{"v":3,"e":1}"#] {
            #expect(try Self.decision(text, installed: 3) == .delete)
        }
        #expect(try Self.decision(#"{"e":1}"#) == .keep(.nothingPublished))
        // With another version beside it, that one comes.
        #expect(try Self.decision(#"{"v":4,"e":1}"#, installed: 3) == .install(.tests(4), run: .now))
    }

    @Test func `is to install another version, and to run it now unless it is told to wait`() throws {
        #expect(try Self.decision(#"{"v":3}"#) == .install(.tests(3), run: .now))
        #expect(try Self.decision(#"{"v":4,"r":true}"#, installed: 3) == .install(.tests(4), run: .atNextLaunch))
        #expect(try Self.decision(#"{"v":4,"p":true,"r":true,"g":10}"#, installed: 3) == .keep(.paused))
    }

    @Test func `goes by its own draw, and then by no condition`() throws {
        for draw in 1...10 {
            for share in 0...10 {
                let found = try Self.decision(#"{"v":4,"g":\#(share),"c":"a==1","cv":2}"#, draw: draw)
                let missed = PlatformDecision.keep(
                    .notInShare(try #require(PlatformShare(share)), try #require(PlatformDraw(draw)))
                )
                #expect(try found == (share >= draw ? .install(.tests(4), run: .now) : missed))
            }
        }
    }

    @Test func `goes by the condition, and by the other version where it is missed`() throws {
        let rule = #"{"v":5,"c":"ios&gt;9.0&amp;&amp;isMale==1","cv":3}"#
        let facts = ["iOS": "10.2", "ismale": "1"]
        #expect(try Self.decision(rule, facts: facts) == .install(.tests(5), run: .now))
        #expect(try Self.decision(rule, facts: ["ios": "9.0", "ismale": "1"]) == .install(.tests(3), run: .now))
        #expect(try Self.decision(rule, installed: 3) == .keep(.conditionMissed))
        for text in [
            #"{"v":5,"c":"a==1"}"#, #"{"v":5,"c":"a==1","cv":0}"#, #"{"v":5,"c":"a=1"}"#, #"{"v":5,"c":"(a==1"}"#,
            #"{"v":5,"c":"a!=1"}"#,
        ] {
            #expect(try Self.decision(text) == .keep(.conditionMissed), "\(text)")
        }
        #expect(try Self.decision(#"{"v":5,"c":""}"#) == .install(.tests(5), run: .now))
    }

    @Test func `moves nobody down, unless it is told to follow`() throws {
        let lower = PlatformDecision.keep(.lower(try .tests(2), than: try .tests(3)))
        for text in [#"{"v":2}"#, #"{"v":2,"g":10}"#, #"{"v":5,"c":"a==1","cv":2}"#] {
            #expect(try Self.decision(text, installed: 3) == lower)
            #expect(try Self.decision(text, highest: 3) == lower)
            #expect(try Self.decision(text, installed: 3, lower: .followed) == .install(.tests(2), run: .now))
        }
        // What was deleted may come back itself.
        #expect(try Self.decision(#"{"v":3}"#, highest: 3) == .install(.tests(3), run: .now))
        #expect(try Self.decision(#"{"v":3}"#, installed: 2, highest: 4) == .keep(.lower(.tests(3), than: .tests(4))))
    }

    @Test func `is remembered, with the highest version that ever was`() throws {
        let state = PlatformInstalled.nothing.installing(try .tests(5)).installing(try .tests(3))
        #expect(try state.version == .tests(3) && state.highest == (try .tests(5)))
        #expect(String(decoding: state.bytes, as: UTF8.self) == #"{"highest":5,"version":3}"#)
        #expect(String(decoding: state.deleting.bytes, as: UTF8.self) == #"{"highest":5}"#)
        for kept in [state, state.deleting] { #expect(try PlatformInstalled(kept.bytes) == kept) }
        let name = "state of the platform's client"
        for (text, field, rule) in [
            ("{}", "highest", "must be an integer from 1 to 999999999"),
            (#"{"version":3}"#, "highest", "must be an integer from 1 to 999999999"),
            (#"{"highest":3,"version":4}"#, "highest", "must not be below version"),
            (#"{"highest":3,"version":0}"#, "version", "must be an integer from 1 to 999999999"),
            (#"{"highest":3,"x":4}"#, "", "must hold highest and version alone, as canonical JSON"),
            (#"{"highest": 3}"#, "", "must hold highest and version alone, as canonical JSON"),
        ] {
            #expect(throws: FormatError(name, field: field, rule: rule)) { try PlatformInstalled(Array(text.utf8)) }
        }
    }
}

@Suite("What a client of JSPatch's platform reports")
struct PlatformStatisticTests {
    @Test func `is a form of key, app version, version and device, with a code where it failed`() throws {
        let (key, device) = (try #require(PlatformAppKey("0a1b")), try #require(PlatformDeviceID("A 1&k=ü+")))
        let good = PlatformStatistic(try LoaderPlace("2.1", 3), .succeeded)
        #expect(good.path == "succ.php")
        #expect(
            String(decoding: good.form(of: key, on: device), as: UTF8.self)
                == "k=0a1b&av=2.1&pv=3&d=A%201%26k%3D%C3%BC%2B"
        )
        let bad = PlatformStatistic(try LoaderPlace("2.1", 3), .failed(.otherMD5))
        #expect(bad.path == "err.php")
        #expect(
            String(decoding: bad.form(of: key, on: device), as: UTF8.self).hasSuffix(
                "&d=A%201%26k%3D%C3%BC%2B&code=5003"
            )
        )
        for text in ["", "a\n", String(repeating: "a", count: 129)] { #expect(PlatformDeviceID(text) == nil) }
        #expect(PlatformDeviceID.rule == "must be 1 to 128 bytes without control characters")
    }

    @Test func `counts by an answer that says so, and by no other`() {
        for text in [#"{"succ":1}"#, #"{"succ":true}"#, #"{"succ":"1","x":0}"#] {
            #expect(PlatformStatistic.isAcknowledged(by: Array(text.utf8)), "\(text)")
        }
        for text in [
            "", "succ", "1", "[]", #"["succ"]"#, "{}", #"{"succ":0}"#, #"{"succ":false}"#, #"{"succ":null}"#,
            #"{"succ":1,"succ":1}"#,
        ] {
            #expect(!PlatformStatistic.isAcknowledged(by: Array(text.utf8)), "\(text)")
        }
        let huge = #"{"succ":1}"# + String(repeating: " ", count: 4_096)
        #expect(!PlatformStatistic.isAcknowledged(by: Array(huge.utf8)))
    }

    @Test func `is once what succeeded and once what failed, of each version, until it is acknowledged`() throws {
        let (two, three) = (try LoaderPlace("2.1", 2), try LoaderPlace("2.1", 3))
        var reports = PlatformReports()
        for _ in 1...2 {
            reports.note(PlatformStatistic(two, .failed(.untar)))
            reports.note(PlatformStatistic(two, .failed(.otherMD5)))
            reports.note(PlatformStatistic(two, .succeeded))
            reports.note(PlatformStatistic(three, .succeeded))
        }
        let all = [
            PlatformStatistic(two, .failed(.untar)), PlatformStatistic(two, .succeeded),
            PlatformStatistic(three, .succeeded),
        ]
        #expect(reports.unsent == all)
        reports.acknowledge(all[1])
        reports.note(all[1])
        #expect(reports.unsent == [all[0], all[2]])
        reports.acknowledge(PlatformStatistic(try LoaderPlace("2.2", 2), .succeeded))
        #expect(reports.unsent == [all[0], all[2]])
    }

    @Test func `is bounded: the oldest that was acknowledged goes first`() throws {
        var reports = PlatformReports()
        func note(_ number: Int) throws { reports.note(PlatformStatistic(try LoaderPlace("2.1", number), .succeeded)) }
        for number in 1...Limits.platformReports { try note(number) }
        reports.acknowledge(PlatformStatistic(try LoaderPlace("2.1", 2), .succeeded))
        try note(2_000)
        #expect(reports.reports.count == 1_000 && reports.unsent.count == 1_000)
        #expect(reports.unsent.map(\.place.version.number).prefix(2) == [1, 3])
        try note(2_001)
        #expect(reports.unsent.count == 1_000 && reports.unsent.first?.place.version.number == 3)
    }

    @Test func `is kept with the device's draw`() throws {
        let place = try LoaderPlace("2.1", 3)
        var device = PlatformDevice(draw: try #require(PlatformDraw(7)))
        #expect(String(decoding: device.bytes, as: UTF8.self) == #"{"draw":7,"reports":[]}"#)
        device.reports.note(PlatformStatistic(place, .failed(.otherMD5)))
        device.reports.note(PlatformStatistic(place, .succeeded))
        device.reports.acknowledge(PlatformStatistic(place, .succeeded))
        let text =
            #"{"draw":7,"reports":[{"acknowledged":false,"appVersion":"2.1","code":5003,"version":3},"#
            + #"{"acknowledged":true,"appVersion":"2.1","version":3}]}"#
        #expect(String(decoding: device.bytes, as: UTF8.self) == text)
        #expect(try PlatformDevice(device.bytes) == device)
        let name = "record of the platform's client"
        for (text, field, rule) in [
            ("{}", "draw", "must be an integer from 1 to 10"),
            (#"{"draw":0,"reports":[]}"#, "draw", "must be an integer from 1 to 10"),
            (#"{"draw":1}"#, "reports", "must be an array"),
            (#"{"draw":1,"reports":[1]}"#, "reports[0]", "must be an object"),
            (#"{"draw":1,"reports":[{"appVersion":"x"}]}"#, "reports[0].appVersion", AppVersion.rule),
            (
                #"{"draw":1,"reports":[{"appVersion":"2","version":0}]}"#, "reports[0].version",
                "must be an integer from 1 to 999999999"
            ),
            (
                #"{"draw":1,"reports":[{"appVersion":"2","version":1,"code":5008}]}"#, "reports[0].code",
                "must be an integer from 5001 to 5007"
            ),
            (
                #"{"draw":1,"reports":[{"appVersion":"2","version":1}]}"#, "reports[0].acknowledged",
                "must be true or false"
            ),
        ] {
            #expect(throws: FormatError(name, field: field, rule: rule)) { try PlatformDevice(Array(text.utf8)) }
        }
    }
}
