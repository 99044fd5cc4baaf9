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

/// One large file that is named as compressed, and some hundred small ones behind it.
private let mixed: SimulatedPatch = {
    var files = ["img/film.mp4": noise(1_200_000), "index.html": "<p>1</p>"]
    for number in 0..<120 { files["tiles/\(number).js"] = noise(1_000, seed: UInt64(number)) }
    return .bundle("web", "1", files)
}()

/// Bytes of the bundle that the server sent, and when the next interruption comes.
private final class Line: Sendable {
    private struct State {
        var sent = 0
        var interruptions = 0
        var left: Int?
        /// The bytes between two interruptions of one sync; nil if each later piece is one.
        var interval: Int?
        var interrupt: (@Sendable () throws(FetchError) -> Void)?
    }

    private let state = NIOLockedValueBox(State())

    var sent: Int { state.withLockedValue(\.sent) }
    /// A sync that makes progress tries again by itself, so one sync may be interrupted several times.
    var interruptions: Int { state.withLockedValue(\.interruptions) }

    /// - Parameters:
    ///   - isRepeated: whether it runs each time that so many bytes were sent; else with each later piece.
    ///   - interrupt: runs after so many bytes.
    func interrupt(
        after bytes: Int?,
        isRepeated: Bool = false,
        _ interrupt: @escaping @Sendable () throws(FetchError) -> Void = {}
    ) {
        state.withLockedValue {
            ($0.left, $0.interval, $0.interrupt) = (bytes, isRepeated ? bytes : nil, interrupt)
        }
    }

    func send(_ path: String, _ count: Int) throws(FetchError) {
        guard path.hasPrefix("objects/") || path.hasPrefix("packs/") || path.contains("/web/") else { return }
        let interrupt = state.withLockedValue { state -> (@Sendable () throws(FetchError) -> Void)? in
            state.sent += count
            guard let left = state.left else { return nil }
            state.left = left - count
            guard left - count <= 0 else { return nil }
            state.interruptions += 1
            if let interval = state.interval { state.left = interval }
            return state.interrupt
        }
        try interrupt?()
    }
}

extension World {
    fileprivate static func withMixedBundle(_ form: CompressionFormat?) throws -> (World, Line) {
        let (world, line) = (try World([mixed]), Line())
        world.repository.compress { _ in form }
        // Small pieces: those under way at a kill are lost.
        world.repository.onBytes(pieceSize: 200) { (path, count) throws(FetchError) in try line.send(path, count) }
        return (world, line)
    }
}

/// How a sync ends before its time.
enum Interruption: CaseIterable {
    case cancelled, cut, killed
}

@Suite("A download that is interrupted twenty times")
struct InterruptionTests {
    private static let times = 20

    /// The bytes of an uninterrupted download, and the changes that it makes to the disk.
    private func whole(_ form: CompressionFormat?) async throws -> (bytes: Int, changes: Int) {
        let (world, line) = try World.withMixedBundle(form)
        let before = world.disk.changes
        #expect(try await world.device.sync().isComplete)
        return (line.sent, world.disk.changes - before)
    }

    /// Each interruption in each form; in CI, each in a form of its own.
    private static let cases = Interruption.allCases.enumerated().flatMap { place, kind in
        forms.enumerated().filter { Sweep.isFull || $0.offset == place }.map { (kind, $0.element) }
    }

    @Test(arguments: cases)
    func `costs at most a tenth more than the bundle, whatever interrupts it`(
        kind: Interruption,
        form: CompressionFormat?
    ) async throws {
        let whole = try await whole(form)
        let (world, line) = try World.withMixedBundle(form)
        var (device, disk) = (world.device, world.disk)
        var interrupted = 0
        for _ in 0..<Self.times {
            switch kind {
            case .cut:
                line.interrupt(after: whole.bytes / (Self.times + 1), isRepeated: true) { () throws(FetchError) in
                    throw .connection("", reason: "unplugged")
                }
                if (try? await device.sync()) == nil { interrupted += 1 }
            case .cancelled:
                let running = NIOLockedValueBox<Task<Void, any Error>?>(nil)
                line.interrupt(after: whole.bytes / (Self.times + 1)) { () throws(FetchError) in
                    _ = running.withLockedValue { $0?.cancel() }
                }
                let task = running.withLockedValue { running in
                    let task = Task { [device] in _ = try await device.sync() }
                    running = task
                    return task
                }
                if case .failure = await task.result { interrupted += 1 }
            case .killed:
                let dying = disk.reopened(failingAtChange: whole.changes / (Self.times + 1) + 40)
                if (try? await device.reopened(on: dying).sync()) == nil { interrupted += 1 }
                disk = dying.reopened()
                device = try device.reopened(on: disk)
            }
        }
        line.interrupt(after: nil)
        let report = try await device.sync()
        #expect(report.isComplete && report.mirrors == [])
        if kind == .cut { interrupted = line.interruptions }
        #expect(interrupted >= Self.times / 2, "\(interrupted) of \(Self.times) were interrupted")
        #expect(line.sent <= whole.bytes * 110 / 100, "\(line.sent) of \(whole.bytes)")
        try await device.launchAndConfirm()
        try expectNoFaults(device, "after \(Self.times) interruptions")
        #expect(try disk.list(device.store.root.appending("PartialDownload")) == [])
    }
}

@Suite("A pack that broke off")
struct PackContinuationTests {
    private let texts = (0..<40).map { noise(4_000, seed: UInt64($0)) }

    private func world(_ form: CompressionFormat?) throws -> (World, pack: String) {
        let files = Dictionary(uniqueKeysWithValues: texts.enumerated().map { ("\($0 + 10).js", $1) })
        let world = try World([.bundle("web", "1", files.merging(["index.html": "<p>1</p>"]) { $1 })])
        world.repository.compress { $0.hasPrefix("packs/") ? form : nil }
        let bundle = try #require(world.repository.tree.bundles(of: "web")["1"])
        return (world, URLLayout.fullPack(of: bundle.digest))
    }

    private func requests(_ world: World) -> [String] {
        world.repository.takeRequests().filter { $0.hasPrefix("objects/") || $0.hasPrefix("packs/") }
    }

    @Test(arguments: [CompressionFormat.zstandard, .gzip])
    func `continues in its compressed form, and the next sync asks for the rest of it alone`(
        form: CompressionFormat
    ) async throws {
        let (world, pack) = try world(form)
        let size = try form.compressed(world.repository[pack], effort: .quick).count
        world.repository.fail(pack, with: .hangs(after: 40_000))
        let device = world.device
        let task = Task { _ = try await device.sync() }
        while try world.parts.filter({ $0.contains(".full.") }).count < 2 { await Task.yield() }
        while world.repository.bytesSent < 40_000 { await Task.yield() }
        task.cancel()
        await #expect(throws: SyncError.fetch(.cancelled)) { try await task.value }
        let bundle = try #require(world.repository.tree.bundles(of: "web")["1"])
        let facts = try #require(try world.store.objects.packFacts(of: bundle.digest))
        #expect(facts.coding == form && facts.kept > 0 && facts.kept <= 40_000)
        _ = requests(world)
        world.repository.repair(pack)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        #expect(requests(world) == ["\(pack) from \(facts.kept) of \(form.rawValue)"])
        #expect(report.bytesTransferred == size - facts.kept)
        #expect(try world.parts == [])
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `continues within the same sync while each try brings something`() async throws {
        let (world, pack) = try world(.zstandard)
        world.repository.fail(pack, with: .breaksOff(after: 40_000))
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        #expect(requests(world) == [pack, "\(pack) from 40000 of zstd", "\(pack) from 80000 of zstd"])
        #expect(try world.parts == [])
    }

    @Test func `that comes as it is continues with the bytes that are missing`() async throws {
        let (world, pack) = try world(nil)
        world.repository.fail(pack, with: .breaksOff(after: 50_000))
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        // Twelve of 4,000 bytes came; the thirteenth goes on by itself.
        let parts = [pack, "\(object(texts[12])) from 2000", "\(pack) from 52000"]
        #expect(Set(requests(world)).isSuperset(of: parts))
        let sizes = world.repository[pack].count
        #expect(report.bytesTransferred <= sizes + 80_000)
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `whose kept bytes were damaged begins again, and no server is blamed`() async throws {
        let (world, pack) = try world(.zstandard)
        world.repository.fail(pack, with: .breaksOff(after: 40_000))
        world.repository.onRequest { [repository = world.repository] path in
            if repository.bytesSent > 40_000 { repository.fail(pack, with: .connection) }
        }
        for text in texts { world.repository.fail(object(text), with: .connection) }
        _ = try? await world.device.sync()
        world.repository.onRequest(nil)
        let kept = try #require(try world.parts.first { $0.hasSuffix(".full.zst") })
        try world.disk.rot(world.store.root.appending("PartialDownload").appending(kept))
        world.repository.repair(pack)
        for text in texts { world.repository.repair(object(text)) }
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
        #expect(try world.parts == [])
    }

    @Test func `of a server without ranges is asked for once more, and then file by file`() async throws {
        let (world, pack) = try world(nil)
        world.repository.fail(pack, with: .breaksOff(after: 50_000))
        world.repository.lackRanges(of: pack)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        #expect(requests(world).filter { $0.hasPrefix(pack) }.count == 2)
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `that a newer version replaced is removed`() async throws {
        let (world, pack) = try world(.zstandard)
        world.repository.fail(pack, with: .breaksOff(after: 40_000))
        world.repository.onRequest { [repository = world.repository] path in
            if repository.bytesSent > 40_000 { repository.fail(pack, with: .connection) }
        }
        for text in texts { world.repository.fail(object(text), with: .connection) }
        _ = try? await world.device.sync()
        world.repository.onRequest(nil)
        #expect(try world.parts.contains { $0.hasSuffix(".full.zst") })
        world.repository.publish([.bundle("web", "2", ["index.html": "<p>2</p>"])])
        #expect(try await world.device.sync().isComplete)
        #expect(try world.parts == [])
    }
}
