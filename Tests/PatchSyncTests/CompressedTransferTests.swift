import DeviceTesting
import Linux
import NIOConcurrencyHelpers
import PatchCompression
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// Some 170 kB in either form.
private let large = noise(300_000)
private let digest = SHA256Digest(of: Array(large.utf8))
private let script = SimulatedPatch.script("large", "1", large)

extension CompressionFormat {
    /// As the simulated server has it.
    fileprivate func form(_ text: String) throws -> [UInt8] { try compressed(Array(text.utf8), effort: .quick) }

    fileprivate var keptFiles: [String] { ["\(digest).part", "\(digest)\(suffix)", "\(digest)\(suffix).tag"].sorted() }
}

extension World {
    /// A server that has this form of everything.
    fileprivate init(_ patches: [SimulatedPatch], in form: CompressionFormat) throws {
        try self.init(patches)
        repository.compress { _ in form }
    }

    /// With this much of the form of ``large``.
    fileprivate static func brokenOff(_ form: CompressionFormat, after count: Int = 70_000) async throws -> World {
        let world = try World([script], in: form)
        world.repository.fail(object(large), with: .ofForm(.breaksOff(after: count)))
        let report = try await world.device.sync()
        #expect(report.failures.map(\.error) == [.fetch(.short(object(large)))])
        #expect(world.objectRequests() == [object(large)])
        world.repository.repair(object(large))
        return world
    }

    /// The next sync brings everything, and leaves nothing beside it.
    fileprivate func expectComplete(
        _ requests: [String],
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let report = try await device.sync()
        #expect(report.isComplete && report.mirrors == [], sourceLocation: location)
        #expect(objectRequests() == requests, sourceLocation: location)
        #expect(try parts == [], sourceLocation: location)
        try await device.launchAndConfirm()
        try expectWhole("large 1", location: location)
    }
}

@Suite("A compressed transfer")
struct CompressedTransferTests {
    private static let formats = CompressionFormat.allCases

    @Test(arguments: formats)
    func `of an object counts the bytes of the file, and those that travelled besides`(
        form: CompressionFormat
    ) async throws {
        var world = try World([script], in: form)
        let received = NIOLockedValueBox(0)
        world.device.report = { if case .received(let bytes) = $0 { received.withLockedValue { $0 += bytes } } }
        let report = try await world.device.sync()
        #expect(report.isComplete && report.filesReceived == 1)
        #expect(report.bytesReceived == 300_000 && received.withLockedValue(\.self) == 300_000)
        #expect(try report.bytesTransferred == form.form(large).count)
        #expect(world.objectRequests() == [object(large)])
        #expect(try world.parts == [])
        // Nothing new: nothing travels.
        #expect(try await world.device.sync().bytesTransferred == 0)
    }

    @Test(arguments: formats)
    func `of every document is decoded, and what is no smaller comes as it is`(form: CompressionFormat) async throws {
        let world = try World(SampleApp.first, in: form)
        world.repository.setParameters(["text": .text(ExactString(noise(400)))])
        world.repository.setDial([])
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [] && report.parameters == .changed)
        #expect(report.bytesTransferred < report.bytesReceived)
        #expect(!world.repository.takeRequests().contains { $0.hasSuffix(" plain") })
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
    }

    /// What may be wrong with a form, beside a file that is right.
    private static let faults: [SimulatedRepository.Fault] = [
        .ofForm(.bitFlipped(at: 0.5)), .ofForm(.bitFlipped(at: 0)), .ofForm(.shortened(to: 20)),
        .ofForm(.shortened(to: 0)), .ofForm(.replaced(Array("<html>".utf8))), .ofForm(.endless),
    ]

    @Test(arguments: formats, faults)
    func `of a document that is wrong is repeated with the file itself`(
        form: CompressionFormat,
        fault: SimulatedRepository.Fault
    ) async throws {
        let world = try World(SampleApp.first, in: form)
        world.repository.setParameters(["text": .text(ExactString(String(repeating: "text ", count: 100)))])
        world.repository.setDial([])
        for path in world.repository.tree.files.keys { world.repository.fail(path, with: fault) }
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [] && report.parameters == .changed, "\(report.mirrors)")
        let requests = world.repository.takeRequests()
        let isTwice = { (ending: String) in
            requests.count { $0.hasSuffix(ending) } == 1 && requests.count { $0.hasSuffix(ending + " plain") } == 1
        }
        for ending in [
            ".snapshot.json", "metadata/1.targets.json", "metadata/1.production.json", ".patchlist.json",
            "metadata/2.dial.json", ".parameters.json", ".manifest.json",
        ] {
            #expect(isTwice(ending), "\(ending) in \(requests)")
        }
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
    }

    @Test(arguments: formats)
    func `of an older document that lies beside a newer one is repeated with the file itself`(
        form: CompressionFormat
    ) async throws {
        let world = try World(SampleApp.first, in: form)
        world.repository.setParameters(["text": .text(ExactString(String(repeating: "text ", count: 100)))])
        world.repository.setDial([])
        let older = try form.form(String(repeating: "{\"signed\": 1}", count: 5))
        for path in world.repository.tree.files.keys { world.repository.fail(path, with: .ofForm(.replaced(older))) }
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [] && report.parameters == .changed, "\(report.mirrors)")
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
    }

    @Test(arguments: formats)
    func `of an object that is wrong is repeated once with the object itself, of the same server`(
        form: CompressionFormat
    ) async throws {
        let bomb = try form.compressed([UInt8](repeating: 0, count: 5_000_000))
        let other = try form.form(noise(300_000, seed: 2))
        let faults: [SimulatedRepository.Fault] =
            Self.faults
            + [bomb, other, try form.form(noise(299_999)), Array(noise(300_001).utf8)].map {
                .ofForm(.replaced($0))
            }
        for fault in faults {
            var world = try World([script], in: form)
            let mirror = world.mirror()
            let events = NIOLockedValueBox<[SyncEvent]>([])
            world.device.report = { event in
                if case .plainRequested = event { events.withLockedValue { $0.append(event) } }
            }
            world.repository.fail(object(large), with: fault)
            try await world.expectComplete([object(large), object(large) + " plain"])
            #expect(mirror.takeRequests() == [])
            #expect(
                events.withLockedValue { events in
                    events.count == 1
                        && events.allSatisfy { if case .plainRequested("large 1", _) = $0 { true } else { false } }
                },
                "\(fault)"
            )
        }
    }

    @Test(arguments: formats)
    func `that is whole counts, whatever length was announced`(form: CompressionFormat) async throws {
        let world = try World([script], in: form)
        world.repository.fail(object(large), with: .ofForm(.announcesMore))
        try await world.expectComplete([object(large)])
    }

    @Test(arguments: formats)
    func `of an object that is wrong as it is too is refused, and its server named`(
        form: CompressionFormat
    ) async throws {
        var world = try World([script], in: form)
        let mirror = world.mirror()
        let other = Array(noise(300_000, seed: 2).utf8)
        world.repository.fail(object(large), with: .replaced(other))
        let report = try await world.device.sync()
        #expect(report.isComplete)
        #expect(world.objectRequests() == [object(large), object(large) + " plain"])
        #expect(mirror.takeRequests() == [object(large)])
        let wrong = MirrorFault.Wrong.lied(.object(entry: "large 1", field: "md5"))
        #expect(report.mirrors == [MirrorFault(server: SimulatedDevice.server.text, wrong: wrong)])
        #expect(try world.parts == [])
    }
}

@Suite("A compressed transfer that broke off")
struct CompressedResumeTests {
    private static let formats = CompressionFormat.allCases

    @Test(arguments: formats)
    func `goes on at its own byte in the next sync, also of another process`(form: CompressionFormat) async throws {
        for isOther in [false, true] {
            var world = try await World.brokenOff(form)
            #expect(try world.parts == form.keptFiles)
            if isOther { world = try world.continued(on: world.disk.reopened()) }
            let report = try await world.device.sync()
            #expect(report.isComplete && report.mirrors == [])
            #expect(world.objectRequests() == ["\(object(large)) from 70000 of \(form.rawValue)"])
            #expect(try report.bytesTransferred == form.form(large).count - 70_000)
            #expect(try world.parts == [])
            try await world.device.launchAndConfirm()
            try world.expectWhole("large 1")
        }
    }

    @Test(arguments: formats)
    func `goes on at its own byte within the same sync, and starts the count of tries anew`(
        form: CompressionFormat
    ) async throws {
        var world = try World([script], in: form)
        let waits = world.retries()
        let received = NIOLockedValueBox(0)
        world.device.report = { if case .received(let bytes) = $0 { received.withLockedValue { $0 += bytes } } }
        world.repository.fail(object(large), with: .breaksOff(after: 70_000))
        let report = try await world.device.sync()
        #expect(try report.isComplete && report.bytesTransferred == form.form(large).count)
        let offsets = [70_000, 140_000].map { "\(object(large)) from \($0) of \(form.rawValue)" }
        #expect(world.objectRequests() == [object(large)] + offsets)
        #expect(waits.withLockedValue(\.self) == Array(repeating: .milliseconds(100), count: 2))
        #expect(received.withLockedValue(\.self) == 300_000)
        #expect(try world.parts == [])
    }

    @Test(arguments: formats)
    func `before 64 KiB came begins anew, and leaves nothing`(form: CompressionFormat) async throws {
        let world = try await World.brokenOff(form, after: 65_536)
        #expect(try world.parts == [])
        try await world.expectComplete([object(large)])
        #expect(try await World.brokenOff(form, after: 65_537).parts == form.keptFiles)
    }

    @Test(arguments: formats)
    func `of a server that has no strong name for it begins anew`(form: CompressionFormat) async throws {
        let world = try World([script], in: form)
        world.repository.name { _ in "Thu, 19 Nov 2026 08:00:00 GMT" }
        world.repository.fail(object(large), with: .ofForm(.breaksOff(after: 70_000)))
        _ = try await world.device.sync()
        #expect(try world.parts == [])
        world.repository.repair(object(large))
        #expect(world.objectRequests() == [object(large)])
        try await world.expectComplete([object(large)])
    }

    /// What a server may have in place of what it had.
    enum Change: CaseIterable { case plain, otherForm, otherTag }

    @Test(arguments: formats, Change.allCases)
    func `begins anew where the server has another form by now`(form: CompressionFormat, change: Change) async throws {
        let world = try await World.brokenOff(form)
        let other: CompressionFormat = form == .gzip ? .zstandard : .gzip
        switch change {
        case .plain: world.repository.compress { _ in nil }
        case .otherForm: world.repository.compress { _ in other }
        case .otherTag: world.repository.name { _ in "\"other\"" }
        }
        try await world.expectComplete(["\(object(large)) from 70000 of \(form.rawValue)"])
    }

    @Test(arguments: formats)
    func `whose beginning was damaged here is fetched once more from its first byte`(
        form: CompressionFormat
    ) async throws {
        for place in [0, 35_000, 69_999] {
            let world = try await World.brokenOff(form)
            let file = world.store.root.appending("PartialDownload").appending("\(digest)\(form.suffix)")
            var bytes = try world.disk.read(file, limit: 70_000)
            bytes[place] ^= 0x11
            try world.disk.overwrite(file, with: bytes)
            let report = try await world.device.sync()
            #expect(report.isComplete && report.mirrors == [])
            // It may show at once, or only when all of it is here.
            let requests = world.objectRequests()
            let resumed = "\(object(large)) from 70000 of \(form.rawValue)"
            #expect([[object(large)], [resumed, object(large)]].contains(requests), "\(place): \(requests)")
            #expect(try world.parts == [])
        }
    }

    @Test(arguments: formats)
    func `without its name, or with no bytes, begins anew`(form: CompressionFormat) async throws {
        let folder = FilePath("PartialDownload")
        for ending in ["\(form.suffix).tag", form.suffix] {
            let world = try await World.brokenOff(form)
            let file = world.store.root.appending(folder.components).appending("\(digest)\(ending)")
            try world.disk.remove(file)
            if ending == form.suffix { try world.disk.write([], to: file) }
            // The bytes of the file itself stay, and go on as it is.
            let before = try #require(try world.partSize(large))
            try await world.expectComplete(["\(object(large)) from \(before)"])
        }
    }

    @Test(arguments: formats)
    func `with all its bytes asks for nothing`(form: CompressionFormat) async throws {
        let world = try await World.brokenOff(form)
        let file = world.store.root.appending("PartialDownload").appending("\(digest)\(form.suffix)")
        try world.disk.append(to: file).append(Array(try form.form(large).dropFirst(70_000)))
        try await world.expectComplete([])
    }

    @Test(arguments: formats)
    func `is removed when nobody wants it any more`(form: CompressionFormat) async throws {
        let world = try await World.brokenOff(form)
        world.repository.publish([.script("tip", "1", "tip;")])
        #expect(try await world.device.sync().isComplete)
        #expect(try world.parts == [])
    }

    @Test(arguments: formats, [FaultyFiles.Survival.lose, .keepNames, .keep])
    func `is gone on with or begun anew wherever the power goes`(
        form: CompressionFormat,
        survival: FaultyFiles.Survival
    ) async throws {
        // Of what breaks off, and of what goes on.
        for isSecond in [false, true] {
            let world = isSecond ? try await World.brokenOff(form) : try World([script], in: form)
            if !isSecond { world.repository.fail(object(large), with: .ofForm(.breaksOff(after: 70_000))) }
            let rehearsal = world.disk.reopened()
            _ = try await world.device.reopened(on: rehearsal).sync()
            let stride = Sweep.isFull ? 1 : max(1, rehearsal.changes / 8)
            for change in Swift.stride(from: 1, through: rehearsal.changes, by: stride) {
                let disk = world.disk.reopened(failingAtChange: change)
                _ = try? await world.device.reopened(on: disk).sync()
                let device = try world.device.reopened(on: disk.crashed(survival))
                world.repository.repair(object(large))
                let report = try await device.sync()
                #expect(report.isComplete && report.mirrors == [], "change \(change)")
                try await device.launchAndConfirm()
                try expectNoFaults(device, "change \(change)")
                #expect(try device.store.files.list(device.store.objects.incoming) == [], "change \(change)")
                if !isSecond { world.repository.fail(object(large), with: .ofForm(.breaksOff(after: 70_000))) }
            }
        }
    }
}
