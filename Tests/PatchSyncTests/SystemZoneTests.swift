import DeviceTesting
import FoundationEssentials
import PatchFormat
import PatchStore
import PatchTesting
import Subprocess
import SystemPackage
import Testing

@testable import PatchChoice
@testable import PatchSync

@Suite("The time zones of a machine")
struct SystemZoneTests {
    private static func zone(_ text: String) throws -> WindowZone { try #require(WindowZone(text)) }

    /// Python's zoneinfo reads the same files: of each zone at moments of four centuries, and at each side of each change.
    @Test func `show what Python's do`() async throws {
        let zones = try await Self.python("import zoneinfo\nprint(*sorted(zoneinfo.available_timezones()), sep='\\n')")
            .split(separator: "\n").map(String.init)
        #expect(zones.count > 300)
        var random = SeededGenerator(state: 34)
        var (asked, offsets): ([String], [[Int]]) = ([], [])
        for name in zones {
            let rules = try SystemZones().rules(of: Self.zone(name))
            var moments = (0..<40).map { _ in Int.random(in: -3_000_000_000...8_000_000_000, using: &random) }
            for begin in [-1_600_000_000, 0, 1_780_000_000, 3_900_000_000] {
                var time = UTCTime(seconds: begin)
                for _ in 0..<6 {
                    guard let change = rules.nextChange(after: time) else { break }
                    moments += [change.seconds - 1, change.seconds]
                    time = change
                }
            }
            asked.append("\(name) " + moments.map(String.init).joined(separator: " "))
            offsets.append(moments.map { rules.offset(at: UTCTime(seconds: $0)) })
        }
        let judged = try await Self.python(
            """
            import sys, zoneinfo
            from datetime import datetime, timedelta, timezone
            begin = datetime(1970, 1, 1, tzinfo=timezone.utc)
            for line in sys.stdin:
                name, *moments = line.split()
                zone = zoneinfo.ZoneInfo(name)
                found = [(begin + timedelta(seconds=int(at))).astimezone(zone).utcoffset() for at in moments]
                print(*[offset.days * 86400 + offset.seconds for offset in found])
            """,
            input: asked.joined(separator: "\n") + "\n"
        ).split(separator: "\n").map { line in line.split(separator: " ").compactMap { Int($0) } }
        #expect(judged.count == zones.count)
        let wrong = zip(zones, zip(offsets, judged)).filter { $1.0 != $1.1 }.map(\.0)
        #expect(wrong == [])
    }

    private static func python(_ program: String, input: String = "") async throws -> String {
        let result = try await Subprocess.run(
            .name("python3"),
            arguments: ["-c", program],
            input: .string(input),
            output: .string(limit: 10_000_000),
            error: .string(limit: 20_000)
        )
        try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
        return result.standardOutput
    }

    /// A machine's folder of zones, and its own zone.
    private static func withMachine(_ body: (FilePath, SystemZones) throws -> Void) throws {
        let folder = FilePath(FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID().uuidString)").path)
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder.string) }
        try body(folder, SystemZones(folder: folder.appending("zoneinfo"), local: folder.appending("localtime")))
    }

    @Test func `are named in an error, with what to do, and no other clock is taken`() throws {
        try Self.withMachine { folder, zones in
            let (berlin, database) = (try Self.zone("Europe/Berlin"), folder.appending("zoneinfo"))
            #expect(throws: ZoneFault.noDatabase(database)) { try zones.rules(of: berlin) }
            #expect(throws: ZoneFault.noLocalZone(folder.appending("localtime"))) { try zones.rules(of: .local) }
            #expect(
                ZoneFault.noDatabase(database).hint == "install the package tzdata, or name an offset such as +01:00"
            )
            #expect("\(ZoneFault.noDatabase(database))" == "this machine has no time zones: \(database) does not exist")
            #expect(try zones.rules(of: .utc) == TimeZoneRules(offset: 0), "an offset needs no file")
            let files = FileManager.default
            try files.createDirectory(atPath: database.appending("Europe").string, withIntermediateDirectories: true)
            #expect(throws: ZoneFault.unknown(berlin, database)) { try zones.rules(of: berlin) }
            #expect("\(ZoneFault.unknown(berlin, database))" == "there is no time zone Europe/Berlin in \(database)")
            #expect(throws: ZoneFault.self) { try zones.rules(of: Self.zone("Europe")) }
            let path = database.appending("Europe").appending("Berlin")
            try Data("TZif".utf8).write(to: URL(filePath: path.string))
            #expect(throws: ZoneFault.unreadable(berlin, "\(path) ends early")) { try zones.rules(of: berlin) }
            #expect(
                "\(ZoneFault.unreadable(berlin, "x"))" == "the time zone Europe/Berlin cannot be read: x"
            )
        }
    }

    @Test func `may be symbolic links, as the machine's own is, and are bounded`() throws {
        try Self.withMachine { folder, zones in
            let (files, file) = (FileManager.default, folder.appending("a"))
            try files.copyItem(atPath: "/usr/share/zoneinfo/Europe/Berlin", toPath: file.string)
            try files.createSymbolicLink(atPath: folder.appending("localtime").string, withDestinationPath: "a")
            #expect(try zones.rules(of: .local) == SystemZones().rules(of: Self.zone("Europe/Berlin")))
            try Data(repeating: 0, count: TimeZoneRules.longestFile + 1).write(to: URL(filePath: file.string))
            #expect(throws: ZoneFault.self) { try zones.rules(of: .local) }
        }
    }

    @Test func `that go later hold new versions back, which a person may start, and come back`() async throws {
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        let device = try SimulatedDevice(of: repository, clock: clock, on: FaultyFiles())
        repository.publish([.bundle("web", "1", ["index.html": "1"])])
        try await device.sync()
        try await device.launchAndConfirm()
        repository.publish([.bundle("web", "2", ["index.html": "2"])])
        try await device.sync()
        var present = device.device
        _ = try await present.store.changingConfiguration { configuration throws(SyncError) in
            configuration.policy.windows.windows = ["00:00-24:00"].compactMap { MaintenanceWindows.Window($0) }
            configuration.policy.windows.zone = WindowZone("Europe/Berlin") ?? .utc
        }
        present = try present.reopened()
        #expect(try present.activationHold() == nil && present.zoneFault == nil)
        try await Self.withoutZones(present) { lost in
            #expect(try lost.activationHold()?.code == "zoneUnreadable" && lost.zoneFault != nil)
            #expect(try lost.status().zoneFault == lost.zoneFault)
            await #expect(throws: SyncError.self) { try await lost.switchToPending() }
            guard case .pending = try lost.state().machine.state else {
                Issue.record("it was started")
                return
            }
            _ = try await lost.switchToPending(isRequested: true)
        }
    }

    private static func withoutZones(_ device: Device, _ body: (Device) async throws -> Void) async throws {
        var lost = device
        lost.zones = SystemZones(folder: "/nowhere/zoneinfo", local: "/nowhere/localtime")
        try await body(lost)
    }
}
