import DeviceTesting
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

/// A bundle `web` of files `00.js`, `01.js`, …, and no page else.
private func bundle(_ version: String, _ texts: [String], id: String = "web") -> SimulatedPatch {
    var files = Dictionary(uniqueKeysWithValues: texts.enumerated().map { (fileName($0), $1) })
    files["index.html"] = "<p>\(version)</p>"
    return .bundle(id, version, files)
}

private func fileName(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number).js" }

/// A hundred bytes that say which they are.
private func text(_ number: Int, _ version: Int = 1) -> String {
    let name = "file \(number) of \(version);"
    return name + String(repeating: ".", count: 100 - name.utf8.count)
}

private let texts = (0..<20).map { text($0) }

extension World {
    /// Of the newest version of `web`.
    fileprivate func pack() throws -> String {
        let version = try #require(repository.tree.offers[SimulatedRepository.production]?.first?.version)
        let prefix = "targets/production/web/\(version)/"
        let manifest = try #require(
            repository.tree.files.keys.first { $0.hasPrefix(prefix) && $0.hasSuffix(".manifest.json") }
        )
        let digest = try #require(SHA256Digest(hex: String(manifest.dropFirst(prefix.count).prefix(64))))
        return URLLayout.fullPack(of: digest)
    }

    /// What was asked for but documents, in order; of a pack from a base: `delta`.
    fileprivate func transfers() throws -> [String] {
        let pack = try pack()
        return repository.takeRequests().compactMap { request in
            if request.contains("/from-") { return "delta" }
            if request.hasSuffix("/index.json") { return "index" }
            if request.hasPrefix(pack) { return "pack\(request.dropFirst(pack.count))" }
            return request.hasPrefix("objects/") || request.hasPrefix("packs/") ? request : nil
        }
    }

    fileprivate static func settled(_ patches: [SimulatedPatch]) async throws -> World {
        let world = try World(patches)
        #expect(try await world.device.sync().isComplete)
        try await world.device.launchAndConfirm()
        _ = world.repository.takeRequests()
        return world
    }
}

/// Bytes that compress to half of themselves, and to no less.
func noise(_ count: Int, seed: UInt64 = 1) -> String {
    var state = seed
    return String(
        decoding: (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(ascii: "a") + UInt8(truncatingIfNeeded: state >> 60)
        },
        as: UTF8.self
    )
}

/// As a test's argument: nil for a server that has no compressed forms.
let forms: [CompressionFormat?] = [nil, .zstandard, .gzip]

@Suite("A pack")
struct PackTests {
    private let page = object("<p>1</p>")

    @Test(arguments: forms)
    func `brings a bundle in one request, and each object is compared with its entry`(
        form: CompressionFormat?
    ) async throws {
        let world = try World([bundle("1", texts)])
        world.repository.compress { _ in form }
        let report = try await world.device.sync()
        #expect(report.isComplete && report.failures == [] && report.mirrors == [])
        #expect(try world.transfers() == ["pack"])
        #expect(report.filesReceived == 23)
        let files = world.repository.tree.files.filter { $0.key.contains("/web/1/") || $0.key == (try? world.pack()) }
        #expect(report.bytesReceived == files.reduce(0) { $0 + $1.value.count })
        let travelled = try files.reduce(0) { sum, file in
            sum + min(file.value.count, try form?.compressed(file.value, effort: .quick).count ?? .max)
        }
        #expect(report.bytesTransferred == travelled)
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
        #expect(try world.parts == [])
    }

    @Test(arguments: forms)
    func `is taken where much is missing, and what is here is passed over; a few come by themselves`(
        form: CompressionFormat?
    ) async throws {
        let world = try await World.settled([bundle("1", texts)])
        world.repository.compress { _ in form }
        let changed = (0..<20).map { [2, 3].contains($0) || (8..<18).contains($0) ? text($0, 2) : text($0) }
        world.repository.publish([bundle("2", changed)])
        let report = try await world.device.sync()
        #expect(report.isComplete && report.filesReceived == 15)
        #expect(try world.transfers() == ["delta", "delta", "index", "pack"])
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 2")
        let few = changed.enumerated().map { $0 < 3 ? text($0, 3) : $1 }
        world.repository.publish([bundle("3", few)])
        #expect(try await world.device.sync().isComplete)
        #expect(
            Set(try world.transfers())
                == Set((0..<3).map { object(text($0, 3)) } + [object("<p>3</p>"), "delta", "index"])
        )
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 3")
    }

    @Test func `is asked for once where a server has none, and its objects come one by one`() async throws {
        let world = try World([bundle("1", texts)])
        world.repository.fail(try world.pack(), with: .notFound)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        let transfers = try world.transfers()
        #expect(transfers.first == "pack" && transfers.count == 22)
        #expect(Set(transfers.dropFirst()) == Set(texts.map { object($0) } + [page]))
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `that has another byte gives all but that object, and its server is named with the entry`() async throws
    {
        let world = try World([bundle("1", texts)])
        // In file 10.
        world.repository.fail(try world.pack(), with: .bitFlipped(at: 0.5))
        let report = try await world.device.sync()
        #expect(report.isComplete)
        let wrong = MirrorFault.Wrong.lied(.object(entry: "web 1 10.js", field: "md5"))
        #expect(report.mirrors == [MirrorFault(server: SimulatedDevice.server.text, wrong: wrong)])
        #expect(try world.transfers() == ["pack", object(texts[10])])
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test(arguments: forms)
    func `that is another in all its bytes gives nothing, and what it should have brought comes one by one`(
        form: CompressionFormat?
    ) async throws {
        let world = try World([bundle("1", texts)])
        world.repository.compress { _ in form }
        let size = world.repository[try world.pack()].count
        world.repository.fail(try world.pack(), with: .replaced([UInt8](repeating: 0x20, count: size)))
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors.map(\.server) == [SimulatedDevice.server.text])
        let transfers = try world.transfers()
        #expect(transfers.first == "pack" && transfers.count == 22)
        #expect(Set(transfers.dropFirst()) == Set(texts.map { object($0) } + [page]))
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test(
        arguments: [CompressionFormat.zstandard, .gzip],
        [
            SimulatedRepository.Fault.ofForm(.bitFlipped(at: 0.7)), .ofForm(.shortened(to: 150_000)),
            .breaksOff(after: 150_000),
        ]
    )
    func `in a compressed form that is damaged or ends early gives what it can, and nothing of that is asked for again`(
        form: CompressionFormat,
        fault: SimulatedRepository.Fault
    ) async throws {
        let texts = (0..<20).map { noise(20_000, seed: UInt64($0)) }
        let world = try World([bundle("1", texts)])
        world.repository.compress { $0.hasPrefix("packs/") ? form : nil }
        world.repository.fail(try world.pack(), with: fault)
        let report = try await world.device.sync()
        #expect(report.isComplete)
        // What is wrong with the form is a lie; a line that breaks is none.
        let isLine = if case .breaksOff = fault { true } else { false }
        let isShort = if case .ofForm(.shortened) = fault { true } else { false }
        #expect(report.mirrors.count == (isLine || isShort ? 0 : 1), "\(report.mirrors)")
        let transfers = try world.transfers()
        #expect(transfers.first == "pack" && Set(transfers).count == transfers.count)
        #expect((1...15).contains(transfers.count - 1), "\(transfers.count)")
        // A form that broke off continues at its byte.
        let rest = "pack from 150000 of \(form.rawValue)"
        #expect(transfers.dropFirst().allSatisfy { $0.hasPrefix("objects/") || $0 == rest })
        if isLine { #expect(transfers == ["pack", rest]) }
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
        #expect(try world.parts == [])
    }

    @Test func `in a form that is larger than itself is passed over, and its server is not named`() async throws {
        let world = try World([bundle("1", texts)])
        world.repository.compress { $0.hasPrefix("packs/") ? .gzip : nil }
        let grown = Array(noise(world.repository[try world.pack()].count + 1).utf8)
        world.repository.fail(try world.pack(), with: .ofForm(.replaced(grown)))
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        let transfers = try world.transfers()
        #expect(transfers.first == "pack" && transfers.count == 22)
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `with nine wrong objects is given up, and no more of it is read`() async throws {
        let texts = (0..<100).map { noise(20_000, seed: UInt64($0)) }
        let world = try World([bundle("1", texts)])
        let size = world.repository[try world.pack()].count
        world.repository.fail(try world.pack(), with: .replaced([UInt8](repeating: 0x20, count: size)))
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors.count == 1)
        // It comes in twenty pieces of five objects each; two of them are judged, and some are on their way then.
        let travelled = report.bytesTransferred - report.bytesReceived
        #expect((size / 10...size * 7 / 10).contains(travelled), "\(travelled) of \(size)")
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `that breaks off goes on at the byte with the object, and then one by one`() async throws {
        let world = try World([bundle("1", texts)])
        world.repository.fail(try world.pack(), with: .breaksOff(after: 730))
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        let rest = (8..<20).map { object(texts[$0]) } + [page]
        #expect(try world.transfers().sorted() == (["pack", "\(object(texts[7])) from 30"] + rest).sorted())
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
        #expect(try world.parts == [])
    }

    @Test(arguments: [
        SimulatedRepository.Fault.connection, .stalls, .timesOut, .status(500), .status(403), .busy(1),
        .shortened(to: 0),
        .breaksOff(after: 0),
    ])
    func `that brings nothing is not asked for again in the same sync`(fault: SimulatedRepository.Fault) async throws {
        let world = try World([bundle("1", texts)])
        world.repository.fail(try world.pack(), with: fault)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        #expect(try world.transfers().filter { $0.hasPrefix("pack") }.count == 1)
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `that has no end ends with what was asked for`() async throws {
        let world = try World([bundle("1", texts)])
        world.repository.fail(try world.pack(), with: .endless)
        let report = try await world.device.sync()
        #expect(report.isComplete)
        #expect(report.mirrors.map(\.server) == [SimulatedDevice.server.text])
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `comes from the mirror where the server breaks off`() async throws {
        var world = try World([bundle("1", texts)])
        let mirror = world.mirror()
        world.repository.fail(try world.pack(), with: .breaksOff(after: 730))
        let report = try await world.device.sync()
        #expect(report.isComplete)
        #expect(try world.transfers() == ["pack"])
        // At the same time.
        #expect(Set(mirror.takeRequests()) == ["\(object(texts[7])) from 30", try world.pack()])
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `leaves an object alone that came in part, which goes on at the byte`() async throws {
        let world = try World([bundle("1", texts)])
        world.repository.fail(try world.pack(), with: .notFound)
        world.repository.fail(object(texts[9]), with: .breaksOff(after: 40))
        #expect(try await !world.device.sync().isComplete)
        for number in 0..<20 where number != 9 {
            try world.disk.remove(world.store.objects.path(of: digest(texts[number])))
        }
        world.repository.repair(try world.pack())
        world.repository.repair(object(texts[9]))
        _ = try world.transfers()
        #expect(try await world.device.sync().isComplete)
        #expect(Set(try world.transfers()) == ["pack", "\(object(texts[9])) from 40"])
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `is read to the last object that is missing, and no further`() async throws {
        // The page comes after the scripts, and is the same in both.
        let files = { (versions: Range<Int>) in
            Dictionary(uniqueKeysWithValues: (0..<20).map { (fileName($0), text($0, versions.contains($0) ? 2 : 1)) })
                .merging(["index.html": "<p>1</p>", "z.bin": noise(100_000)]) { $1 }
        }
        let world = try await World.settled([.bundle("web", "1", files(0..<0))])
        world.repository.publish([.bundle("web", "2", files(0..<12))])
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        #expect(try world.transfers() == ["delta", "delta", "index", "pack"])
        // It comes in pieces of a twentieth.
        let documents = world.repository.tree.files.filter { $0.key.contains("/web/2/") }
        let piece = world.repository[try world.pack()].count / 20
        #expect(report.bytesTransferred == piece + documents.reduce(0) { $0 + $1.value.count })
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 2")
    }

    @Test func `leaves to another patch what that one brings`() async throws {
        let docs = bundle("1", (0..<20).map { $0 < 10 ? text($0) : text($0, 7) }, id: "docs")
        let world = try World([docs, bundle("1", texts)])
        let report = try await world.device.sync()
        #expect(report.isComplete)
        // Twenty of the one, ten of the other, the page of both, and two documents of each.
        #expect(report.filesReceived == 20 + 10 + 1 + 4)
        let requests = world.repository.takeRequests()
        #expect(requests.count { $0.hasPrefix("packs/") } == 2 && !requests.contains { $0.hasPrefix("objects/") })
        try await world.device.launchAndConfirm()
        try world.expectWhole("docs 1, web 1")
    }

    @Test func `keeps what came of it when the sync is cancelled`() async throws {
        var world = try World([bundle("1", texts)])
        let device = world.device
        world.repository.fail(try world.pack(), with: .hangs(after: 1_250))
        let (twelve, isTwelfth) = AsyncStream.makeStream(of: Void.self)
        let count = NIOLockedValueBox(0)
        world.device.report = { event in
            guard case .fileDone(let entry) = event, entry.hasSuffix(".js") else { return }
            let number = count.withLockedValue { count in
                count += 1
                return count
            }
            if number == 12 { isTwelfth.yield() }
        }
        let cancelled = world.device
        let task = Task { _ = try await cancelled.sync() }
        for await _ in twelve { break }
        task.cancel()
        await #expect(throws: SyncError.fetch(.cancelled)) { try await task.value }
        _ = try world.transfers()
        world.repository.repair(try world.pack())
        #expect(try await device.sync().isComplete)
        #expect(Set(try world.transfers()) == ["pack", "\(object(texts[12])) from 50"])
        try await device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `on a full disk ends the sync, and is gone on with when there is room`() async throws {
        let world = try World([bundle("1", texts)])
        let rehearsal = world.disk.reopened()
        _ = try await world.device.reopened(on: rehearsal).sync()
        let half = world.disk.reopened(failingAtChange: rehearsal.changes / 2)
        await #expect(throws: SyncError.self) { try await world.device.reopened(on: half).sync() }
        let disk = half.crashed(.keep)
        let device = try world.device.reopened(on: disk)
        #expect(try await device.sync().isComplete)
        try await device.launchAndConfirm()
        try expectNoFaults(device, "after the disk had room again")
    }
}

private func digest(_ text: String) -> SHA256Digest { SHA256Digest(of: Array(text.utf8)) }
