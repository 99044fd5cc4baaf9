import DeviceTesting
import NIOConcurrencyHelpers
import PatchChoice
import PatchCompression
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// A world whose device asks for all metadata in one answer, and what it says of answers that are of no use.
private struct ExpressWorld {
    var world: World
    private let ignored = NIOLockedValueBox<[SyncError]>([])
    static let path = "metadata/express/production"
    static let second = "banner 1, fix-cart-total 2, web 2.0.0"

    init(_ world: World) {
        self.world = world
        self.world.device.express = true
        self.world.device.report = { [ignored] event in
            if case .expressIgnored(SimulatedDevice.server.text, let error) = event {
                ignored.withLockedValue { $0.append(error) }
            }
        }
    }

    /// With the first release confirmed, and nothing new.
    static func running() async throws -> ExpressWorld {
        let express = ExpressWorld(try await World.running())
        try await express.world.device.sync()
        _ = express.requests()
        return express
    }

    var repository: SimulatedRepository { world.repository }

    /// Of metadata, and not of what it leads to.
    func requests() -> [String] {
        repository.takeRequests().filter {
            $0.hasPrefix("metadata/") || $0.hasPrefix("targets/dial/") || $0.contains(".patchlist.json")
        }
    }

    func whole() throws -> Express { try #require(repository.tree.express(of: SimulatedRepository.production)) }

    /// What the device names.
    func held() throws -> [Express.Part] { try HeldMetadata(in: world.store, of: SimulatedRepository.production).parts }

    /// Puts another answer in the server's place.
    func replace(_ change: (Express) throws -> Express) throws {
        repository.fail(Self.path, with: .replaced(try change(try whole()).fileBytes))
    }

    /// The release arrives, and what was said of the answer meanwhile is this.
    func expectSecond(saying expected: [SyncError], location: SourceLocation = #_sourceLocation) async throws {
        let report = try await world.device.sync()
        #expect(report.isComplete && report.staging == .staged, sourceLocation: location)
        #expect(report.staleMirror == nil && report.mirrors == [], sourceLocation: location)
        #expect(try await world.device.launchAndConfirm()?.labels == Self.second, sourceLocation: location)
        #expect(takeIgnored() == expected, sourceLocation: location)
    }

    func takeIgnored() -> [SyncError] {
        ignored.withLockedValue { ignored in
            defer { ignored = [] }
            return ignored
        }
    }
}

extension Express {
    fileprivate func replacing(_ change: (Part) -> Part?) -> Express {
        Express(of: channel, newestRoot: newestRoot, parts: parts.compactMap(change))
    }

    fileprivate func bytes(of file: File) -> [UInt8]? { parts.first { $0.file == file }?.bytes }
}

@Suite("Metadata in one answer")
struct ExpressTests {
    private let ordinary = ["metadata/2.root.json", "metadata/timestamp.json"]

    @Test func `is all that a first sync asks for, and all that a release costs`() async throws {
        let first = ExpressWorld(try World())
        #expect(try await first.world.device.sync().staging == .staged)
        #expect(first.requests() == [ExpressWorld.path])

        let express = try await ExpressWorld.running()
        express.repository.setDial([])
        express.repository.publish(SampleApp.second)
        let before = express.repository.bytesSent
        try await express.expectSecond(saying: [])
        #expect(express.requests() == [ExpressWorld.path])
        // What is here did not come again: targets, the dial's document.
        let whole = try express.whole().fileBytes.count
        #expect(express.repository.bytesSent - before < whole + 4_000)
    }

    @Test func `says in no byte that nothing is new`() async throws {
        let express = try await ExpressWorld.running()
        let before = express.repository.bytesSent
        for _ in 0..<2 {
            #expect(try await express.world.device.sync().staging == .unchanged)
            #expect(express.requests() == [ExpressWorld.path])
        }
        #expect(express.repository.bytesSent == before)
    }

    @Test func `brings only a timestamp and a snapshot where these were signed again`() async throws {
        let express = try await ExpressWorld.running()
        express.repository.edit { $0.publishSnapshot() }
        let before = express.repository.bytesSent
        #expect(try await express.world.device.sync().staging == .unchanged)
        #expect(express.requests() == [ExpressWorld.path])
        let files = try express.whole().parts.filter { [.timestamp, .role("snapshot", version: 3)].contains($0.file) }
        let size = Express(of: SimulatedRepository.production, newestRoot: 1, parts: files).fileBytes.count
        #expect(files.count == 2 && express.repository.bytesSent - before == size)
    }

    @Test func `brings the roots that the device lacks`() async throws {
        let express = try await ExpressWorld.running()
        express.repository.rotateRoot()
        express.repository.rotateRoot(online: .other)
        express.repository.publish(SampleApp.second)
        try await express.expectSecond(saying: [])
        #expect(express.requests() == [ExpressWorld.path])
        #expect(try express.world.disk.list("/store/trust/root_history") == ["2.root.json", "3.root.json"])
    }

    @Test func `that does not change any more ends when the timestamp does`() async throws {
        let express = try await ExpressWorld.running()
        express.world.clock.advance(by: .days(7))
        let expired = SyncError.trust(
            .clockAheadOrStale(
                role: "timestamp",
                expires: ManualClock.start.adding(.days(7)),
                clock: express.world.clock.now()
            )
        )
        await #expect(throws: expired) { try await express.world.device.sync() }
        #expect(express.requests() == [ExpressWorld.path] + ordinary)
        #expect(express.takeIgnored() == [expired])
    }

    @Test func `is not asked for where there is none, for a day, and never where the setting says so`() async throws {
        var express = ExpressWorld(try await World.running())
        express.repository.fail(ExpressWorld.path, with: .notFound)
        try await express.world.device.sync()
        #expect(express.requests() == [ExpressWorld.path] + ordinary)
        for _ in 0..<2 {
            try await express.world.device.sync()
            #expect(express.requests() == ordinary)
        }
        express.world.clock.advance(by: .days(1) - .seconds(1))
        try await express.world.device.sync()
        #expect(express.requests() == ordinary)
        express.world.clock.advance(by: .seconds(1))
        express.repository.repair(ExpressWorld.path)
        try await express.world.device.sync()
        #expect(express.requests() == [ExpressWorld.path] && express.takeIgnored() == [])

        express.world.device.express = false
        try await express.world.device.sync()
        #expect(express.requests() == ordinary)
        var configuration = express.world.device.device.configuration
        #expect(configuration.express && !configuration.json.fileBytes.contains(subsequence: "express"))
        configuration.express = false
        #expect(try !DeviceConfiguration(configuration.json.fileBytes, named: "config.json").express)
    }

    @Test func `does without where its record is damaged, or of a clock that was put back`() async throws {
        let express = try await ExpressWorld.running()
        try express.world.disk.replace("express.json", in: "/store/channels/production", with: Array("{".utf8))
        try await express.world.device.sync()
        #expect(express.requests() == [ExpressWorld.path])
        var record = ExpressRecord()
        record.set(
            .absent(until: ManualClock.start.adding(.days(2))),
            of: SimulatedDevice.server,
            among: [SimulatedDevice.server]
        )
        #expect(!record.isPaused(SimulatedDevice.server, at: ManualClock.start))
        #expect(record.isPaused(SimulatedDevice.server, at: ManualClock.start.adding(.days(1))))
        #expect(try ExpressRecord(record.json.fileBytes) == record)
    }

    // MARK: Differences

    /// With the first release confirmed and a second one there, before a server that makes differences to what devices have.
    private func differing(_ isDifference: Bool = true) async throws -> ExpressWorld {
        let express = try await ExpressWorld.running()
        express.repository.edit { $0.makesDifferences = isDifference }
        express.repository.setDial([])
        express.repository.publish(SampleApp.second)
        return express
    }

    @Test func `is the difference to what the device has, where the server makes one`() async throws {
        var sizes: [Int] = []
        for isDifference in [false, true] {
            let express = try await differing(isDifference)
            let before = express.repository.bytesSent
            try await express.expectSecond(saying: [])
            #expect(express.requests() == [ExpressWorld.path])
            sizes.append(express.repository.bytesSent - before)
            try await express.world.device.sync()
            #expect(express.requests() == [ExpressWorld.path] && express.takeIgnored() == [])
        }
        #expect(sizes[1] + 5_000 < sizes[0], "\(sizes)")
    }

    @Test func `that is another device's difference, or a damaged one, is ignored`() async throws {
        let prefix = "express must be a difference to the named files: "
        for (change, rule) in [
            (
                { _, express in ExpressDifference.body(of: express, from: Array(express.parts.prefix(1))) ?? [] },
                "not zstd: "
            ),
            ({ body, _ in body.dropLast(200) + body.suffix(199) }, "not zstd: "),
            ({ body, _ in body.dropLast() }, "not zstd: "), ({ body, _ in Array(body.prefix(4)) }, "not zstd: "),
            (
                { _, _ in [0x28, 0xB5, 0x2F, 0xFD, 0xA4, 1, 0, 0, 1] },
                "the zstd stream expands to more than 16777216 bytes"
            ),
        ] as [(([UInt8], Express) -> [UInt8], String)] {
            let express = try await differing()
            let held = try express.held()
            let whole = try express.whole()
            let body = try #require(ExpressDifference.body(of: whole, from: held))
            express.repository.fail(ExpressWorld.path, with: .replaced(change(body, whole)))
            let report = try await express.world.device.sync()
            #expect(report.isComplete && report.staging == .staged)
            #expect(try await express.world.device.launchAndConfirm()?.labels == ExpressWorld.second)
            let ignored = express.takeIgnored().map(\.description)
            #expect(ignored.count == 1 && ignored[0].hasPrefix(prefix + rule), "\(ignored)")
            #expect(Array(express.requests().prefix(3)) == [ExpressWorld.path] + ordinary)
        }
    }

    @Test func `becomes a plain one, and is refused by its rules`() async throws {
        for (change, rule) in [
            (
                { parts in parts + [Express.Part(.role("beta", version: 1), Array("{}".utf8))] },
                "express must contain only metadata files of production, each after its path and length"
            ), ({ $0 + $0.prefix(1) }, "express: metadata/timestamp.json must occur once"),
        ] as [(([Express.Part]) -> [Express.Part], String)] {
            let express = try await differing()
            let whole = try express.whole()
            let answer = Express(of: whole.channel, newestRoot: 1, parts: change(whole.parts))
            let body = try #require(ExpressDifference.body(of: answer, from: try express.held()))
            express.repository.fail(ExpressWorld.path, with: .replaced(body))
            try await express.world.device.sync()
            #expect(express.takeIgnored().map(\.description) == [rule])
        }
    }

    @Test func `is not named by a device that did not get as far as its snapshot`() async throws {
        var express = try await differing()
        // Interrupted behind the snapshot, by the ordinary way.
        express.world.device.express = false
        express.repository.fail("metadata/2.production.json", with: .status(500))
        await #expect(throws: SyncError.self) { try await express.world.device.sync() }
        express.repository.repair("metadata/2.production.json")
        _ = express.requests()
        express.world.device.express = true
        try await express.expectSecond(saying: [])
        #expect(express.requests() == [ExpressWorld.path])
    }

    // MARK: Attacks

    @Test func `with an older timestamp takes nobody back`() async throws {
        let express = try await ExpressWorld.running()
        let old = try express.whole()
        express.repository.edit { $0.publishSnapshot() }
        try await express.world.device.sync()
        express.repository.publish(SampleApp.second)
        try express.replace { _ in old }
        try await express.expectSecond(saying: [.trust(.rolledBack(role: "timestamp", offered: 2, trusted: 3))])
    }

    @Test func `of another channel, with another app's files, or with files that no refresh asks for is refused`()
        async throws
    {
        let digest = SHA256Digest(of: [])
        for path in [
            "metadata/1.beta.json", "../com.example.other/metadata/timestamp.json", URLLayout.object(digest),
            "metadata/express/production", "trust/root.json",
        ] {
            let express = try await ExpressWorld.running()
            express.repository.publish(SampleApp.second)
            let bytes = try express.whole().fileBytes + Array("\(path) 1\nx\n".utf8)
            express.repository.fail(ExpressWorld.path, with: .replaced(bytes))
            let rule = "must contain only metadata files of production, each after its path and length"
            try await express.expectSecond(saying: [.format(FormatError("express", rule: rule))])
            _ = express.requests()
            try await express.world.device.sync()
            #expect(express.requests() == ordinary, "it is broken tomorrow too")
        }
    }

    @Test func `with another app's metadata under its own paths is judged like that metadata`() async throws {
        let express = try await ExpressWorld.running()
        let other = SimulatedRepository(clock: express.world.clock)
        other.edit { tree in
            tree.app = name("com.example.other")
            for role in ["root", "targets", "production", "dial", "snapshot", "timestamp"] {
                tree.keys[role] = [.other]
                tree.versions[role] = 4
            }
            tree.publishRoot()
            tree.publishTargets()
        }
        other.publish(SampleApp.first)
        express.repository.publish(SampleApp.second)
        let theirs = try #require(other.tree.express(of: SimulatedRepository.production))
        try express.replace { _ in theirs }
        try await express.expectSecond(saying: [.trust(.threshold(role: "timestamp", valid: 0, needed: 1))])
    }

    @Test func `with wrong bytes of any file has that file fetched`() async throws {
        let sample = try await ExpressWorld.running()
        sample.repository.setDial([])
        sample.repository.setParameters(["a": .bool(true)])
        sample.repository.publish(SampleApp.second)
        let files = try sample.whole().parts.map(\.file)
        #expect(files.count == 8)
        // The device has these two already, or an older one of them is a rollback.
        for file in files where ![.timestamp, .role("targets", version: 1)].contains(file) {
            let express = try await ExpressWorld.running()
            let old = try express.whole()
            express.repository.setDial([])
            express.repository.setParameters(["a": .bool(true)])
            express.repository.publish(SampleApp.second)
            try express.replace { whole in
                whole.replacing { part in
                    guard part.file == file else { return part }
                    return Express.Part(file, old.parts.first { file.isSameRole(as: $0.file) }?.bytes ?? [])
                }
            }
            try await express.expectSecond(saying: [])
            #expect(express.requests() == [ExpressWorld.path, file.path])
            let parameters = try express.world.store.parameters(of: SimulatedRepository.production)
            #expect(parameters == express.repository[files[7].path])
        }
    }

    @Test func `with a file left out or too long has that file fetched`() async throws {
        for isLong in [false, true] {
            let express = try await ExpressWorld.running()
            express.repository.publish(SampleApp.second)
            try express.replace { whole in
                whole.replacing { part in
                    guard case .role("production", _) = part.file else { return part }
                    return isLong ? Express.Part(part.file, part.bytes + [0x20]) : nil
                }
            }
            try await express.expectSecond(saying: [])
            #expect(express.requests() == [ExpressWorld.path, "metadata/2.production.json"])
        }
    }

    @Test func `that is cut off, no answer at all, or too long is ignored`() async throws {
        let path = ExpressWorld.path
        let length = FormatError(
            "express",
            field: URLLayout.timestamp,
            rule: "must have its length, and end with a newline"
        )
        let page = FormatError("express", rule: "must begin with patchline-express-v1")
        for (fault, error) in [
            (.shortened(to: 300), .format(length)),
            (.replaced(Array("<html>\n</html>".utf8)), .format(page)),
            (.breaksOff(after: 900), .fetch(.short(path))), (.status(500), .fetch(.status(path, code: 500))),
            (.endless, .fetch(.tooLarge(path, limit: Limits.express))), (.stalls, .fetch(.stalled(path))),
            (.timesOut, .fetch(.timedOut(path))),
        ] as [(SimulatedRepository.Fault, SyncError)] {
            let express = try await ExpressWorld.running()
            express.repository.publish(SampleApp.second)
            express.repository.fail(path, with: fault)
            try await express.expectSecond(saying: [error])
            let requests = express.requests()
            #expect(requests.first == path && requests.filter { $0 == path }.count == 1, "\(fault)")
        }
    }

    @Test func `that becomes too long when it is unpacked is asked for as it is`() async throws {
        let express = try await ExpressWorld.running()
        express.repository.publish(SampleApp.second)
        express.repository.compress { $0 == ExpressWorld.path ? .zstandard : nil }
        let bomb = try CompressionFormat.zstandard.compressed(
            [UInt8](repeating: 0x20, count: Limits.express + 1),
            effort: .quick
        )
        express.repository.fail(ExpressWorld.path, with: .ofForm(.replaced(bomb)))
        try await express.expectSecond(saying: [])
        #expect(express.requests() == [ExpressWorld.path, "\(ExpressWorld.path) plain"])
    }

    @Test func `that mixes two publishes ends with the newer one`() async throws {
        let express = try await ExpressWorld.running()
        let old = try express.whole()
        express.repository.publish(SampleApp.second)
        let new = try express.whole()
        // The newer timestamp, and everything else from before.
        try express.replace { _ in
            old.replacing { $0.file == .timestamp ? Express.Part(.timestamp, new.bytes(of: .timestamp) ?? []) : $0 }
        }
        try await express.expectSecond(saying: [])
        #expect(
            express.requests().filter { $0.hasPrefix("metadata/") } == [
                ExpressWorld.path, "metadata/3.snapshot.json", "metadata/2.production.json",
            ]
        )
    }

    @Test func `hides a newer root no longer than a 404 does`() async throws {
        let express = try await ExpressWorld.running()
        express.repository.rotateRoot()
        express.repository.publish(SampleApp.second)
        // Nothing else changed with it: what is signed by the same keys holds.
        try express.replace { whole in
            Express(
                of: whole.channel,
                newestRoot: 1,
                parts: whole.parts.filter { if case .root = $0.file { false } else { true } }
            )
        }
        try await express.expectSecond(saying: [])
        #expect(express.requests() == [ExpressWorld.path])

        // As soon as it matters, the ordinary way finds it.
        let other = try await ExpressWorld.running()
        other.repository.rotateRoot(online: .other)
        other.repository.publish(SampleApp.second)
        try other.replace { Express(of: $0.channel, newestRoot: 1, parts: $0.parts) }
        try await other.expectSecond(saying: [.trust(.threshold(role: "timestamp", valid: 0, needed: 1))])
        #expect(try other.world.disk.list("/store/trust/root_history") == ["2.root.json"])
    }

    @Test func `is not waited for twice where there is no way to the server`() async throws {
        for fault in [.connection, .busy(5)] as [SimulatedRepository.Fault] {
            let express = try await ExpressWorld.running()
            express.repository.fail(ExpressWorld.path, with: fault)
            await #expect(throws: SyncError.self) { try await express.world.device.sync() }
            #expect(express.requests() == [ExpressWorld.path] && express.takeIgnored() == [])
        }
    }
}

extension Express.File {
    fileprivate func isSameRole(as other: Express.File) -> Bool {
        switch (self, other) {
        case (.role(let name, _), .role(let known, _)): name == known
        case (.target(let path, _), .target(let known, _)): path == known
        default: self == other
        }
    }
}

extension [UInt8] {
    fileprivate func contains(subsequence text: String) -> Bool { String(decoding: self, as: UTF8.self).contains(text) }
}
