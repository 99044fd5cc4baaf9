import DeviceTesting
import NIOConcurrencyHelpers
import PatchChoice
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

@Suite("A pack from a base")
struct BasePackTests {
    private let server = SimulatedDevice.server.text

    @Test func `brings an update in one request, its new signatures in another, and nothing else is asked for`()
        async throws
    {
        let world = try await World.updating()
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        #expect(world.bundleRequests() == ["pack", "sigs"])
        // The manifest, the column, and the two contents.
        #expect(report.filesReceived == 4)
        let use = try #require(report.packs.first)
        #expect(report.packs.count == 1 && use.label.description == "web 2.0.0" && use.base.text == "1.0.0")
        let bundle = try #require(world.repository.tree.bundles(of: "web")["2.0.0"])
        let sizes = (
            try world.repository[world.basePack()].count, try world.repository[world.basePack(.signatures)].count
        )
        #expect(use.bytes == sizes.0 + sizes.1)
        let header = SignatureColumn.Header.byteCount
        #expect(sizes.1 * 6 == (bundle.column.count - header) * 2)
        #expect(use.estimate == (bundle.manifest.count + 815) * 27 / 100 + bundle.column.count)
        #expect(report.bytesReceived == bundle.manifest.count + bundle.column.count + 815)
        #expect(world.takeEvents().contains(.byPack(use)))
        try await world.expectUpdated()
    }

    @Test func `is asked for nowhere where there is no version to apply it to`() async throws {
        let world = try World([packedWeb2])
        #expect(try await world.device.sync().packs == [])
        #expect(!world.bundleRequests().contains("pack"))
        try await world.expectUpdated()
    }

    @Test func `that a server does not have costs two requests, and nobody is blamed`() async throws {
        let world = try await World.updating()
        world.repository.edit { tree in tree.files = tree.files.filter { !$0.key.contains("/from-") } }
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [] && report.packs == [])
        #expect(world.bundleRequests() == ["pack", "index"] + withoutPack)
        #expect(world.takeRefusals() == [])
        try await world.expectUpdated()
    }

    /// What is no pack, whoever answers so.
    private static let none: [(fault: SimulatedRepository.Fault, told: FetchError?)] = [
        (.webPage, nil), (.notFound, nil), (.refused(.encoded("p", as: "gzip")), .encoded("p", as: "gzip")),
        (.refused(.tooLarge("p", limit: 1_048_576)), .tooLarge("p", limit: 1_048_576)),
        (.refused(.status("p", code: 418)), .status("p", code: 418)), (.refused(.timedOut("p")), .timedOut("p")),
    ]

    @Test(arguments: none)
    func `that is none is passed over at once, and nobody is blamed`(
        fault: SimulatedRepository.Fault,
        told: FetchError?
    ) async throws {
        var world = try await World.updating()
        let waits = world.retries()
        world.repository.fail(try world.basePack(), with: fault)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [] && report.packs == [])
        // What nobody has may be reached by two packs.
        #expect(world.bundleRequests() == ["pack"] + (told == nil ? ["index"] : []) + withoutPack)
        #expect(world.takeRefusals() == told.map { [.fetch($0)] } ?? [])
        #expect(waits.withLockedValue(\.self) == [])
        try await world.expectUpdated()
    }

    @Test func `without an end is read to what its base weighs, and no further`() async throws {
        let world = try await World.updating()
        world.repository.fail(try world.basePack(), with: .endless)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        #expect(world.takeRefusals() == [.fetch(.tooLarge(try world.basePack(), limit: 1_048_576))])
        #expect(report.bytesTransferred < 1_048_576 + 65_536 + 10_000)
        try await world.expectUpdated()
    }

    @Test func `with any byte changed gives the right bundle all the same, and its server is named`() async throws {
        // One that is patched, one made of tokens, a new one, and one under another name.
        let (code, text) = (noise(120), noise(60, seed: 2))
        let before = ["index.html": "main-5176981c.js", "main-5176981c.js": code, "a.txt": text]
        let after = [
            "index.html": "main-8abd5fdc.js", "main-8abd5fdc.js": "\(code)!", "b.txt": text,
            "new.txt": noise(30, seed: 3),
        ]
        let first = try await World.running([.bundle("web", "1.0.0", before)])
        first.repository.publish([.bundle("web", "2.0.0", after)])
        first.repository.edit { $0.publishPacks(of: "web") }
        let pack = first.repository[try first.basePack()]
        #expect((100..<300).contains(pack.count))
        for place in stride(from: 0, to: pack.count, by: Sweep.isFull ? 1 : 7) {
            let world = try World(copying: first)
            var damaged = pack
            damaged[place] ^= 0x41
            world.repository.fail(try world.basePack(), with: .replaced(damaged))
            let report = try await world.device.sync()
            #expect(report.isComplete, "byte \(place)")
            #expect(report.packs.count + report.mirrors.count == 1, "byte \(place)")
            #expect(report.mirrors.allSatisfy { $0.server == server }, "byte \(place)")
            if report.packs.isEmpty {
                #expect(world.bundleRequests() == ["pack"] + withoutPack + ["object"], "byte \(place)")
            }
            try await world.expectUpdated("byte \(place)")
        }
    }

    @Test func `that ends early or late, or is of another base, is refused by name`() async throws {
        let first = try await World.updating()
        let (pack, path) = (first.repository[try first.basePack()], try first.basePack())
        let bundles = first.repository.tree.bundles(of: "web")
        let (old, new) = (try #require(bundles["1.0.0"]), try #require(bundles["2.0.0"]))
        let other = try #require(first.repository.tree.pack(from: new, to: old)).pack
        let cases: [([UInt8], PackError?)] = [
            ([], .incomplete), (Array(pack.dropLast()), .incomplete), (Array(pack.prefix(4)), .incomplete),
            (pack + [0], .trailing), (Array("PK".utf8), .otherFormat), (other, nil),
        ]
        for (bytes, expected) in cases {
            let world = try World(copying: first)
            world.repository.fail(path, with: .replaced(bytes))
            let report = try await world.device.sync()
            #expect(report.isComplete && report.packs == [])
            guard case .pack(let name, let why) = try #require(world.takeRefusals().first) else {
                Issue.record("\(bytes.count) bytes")
                continue
            }
            #expect(name == "web 2.0.0 pack from 1.0.0" && why == expected ?? why)
            #expect(report.mirrors == [MirrorFault(server: server, wrong: .lied(.pack(name, why)))])
            #expect(world.bundleRequests() == ["pack"] + withoutPack)
            try await world.expectUpdated()
        }
    }

    @Test func `that is wrong comes from the mirror`() async throws {
        var world = try await World.updating()
        let mirror = world.mirror()
        world.repository.fail(try world.basePack(), with: .bitFlipped(at: 0.9))
        let report = try await world.device.sync()
        #expect(report.packs.count == 1 && report.mirrors.map(\.server) == [server])
        #expect(world.bundleRequests() == ["pack", "sigs"])
        #expect(mirror.takeRequests() == [try world.basePack(.signed), try world.basePack()])
        try await world.expectUpdated()
    }

    @Test func `without its signatures brings all else, and the column comes as a whole`() async throws {
        let world = try await World.updating()
        world.repository.fail(try world.basePack(.signatures), with: .notFound)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [] && report.packs.count == 1)
        #expect(world.bundleRequests() == ["pack", "sigs", "column"])
        try await world.expectUpdated()
    }

    @Test(arguments: [SimulatedRepository.Fault.bitFlipped(at: 0.5), .shortened(to: 256), .replaced([1, 2, 3])])
    func `with wrong signatures brings all else, and its server is named`(fault: SimulatedRepository.Fault) async throws
    {
        let world = try await World.updating()
        world.repository.fail(try world.basePack(.signatures), with: fault)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.packs.count == 1 && report.mirrors.map(\.server) == [server])
        guard case .pack(_, .signatures) = try #require(world.takeRefusals().first) else {
            Issue.record("another reason")
            return
        }
        #expect(world.bundleRequests() == ["pack", "sigs", "column"])
        try await world.expectUpdated()
    }

    @Test func `without a new statement brings its signatures along`() async throws {
        let world = try await World.running([packedWeb1])
        let fewer = SimulatedPatch.bundle("web", "2.0.0", packedFiles1.filter { $0.key != "app/lib.js" })
        world.repository.publish([fewer])
        world.repository.edit { $0.publishPacks(of: "web") }
        #expect(try await world.device.sync().packs.count == 1)
        #expect(world.bundleRequests() == ["pack"])
        try await world.expectUpdated()
    }

    @Test func `is not asked for where its base is damaged, and is refused where its medium hides that`() async throws {
        for isHidden in [false, true] {
            let world = try await World.running([packedWeb1])
            let changed = String(packedFiles1["app/big.js", default: ""].dropLast(9)) + "otherwise"
            world.repository.publish([.bundle("web", "2.0.0", packedFiles1.merging(["app/big.js": changed]) { $1 })])
            world.repository.edit { $0.publishPacks(of: "web") }
            let path = world.store.objects.path(
                of: SHA256Digest(of: Array(packedFiles1["app/big.js", default: ""].utf8))
            )
            if isHidden { try world.disk.rot(path) } else { try world.disk.overwrite(path, with: [1]) }
            let report = try await world.device.sync()
            #expect(report.packs == [] && report.mirrors == [] && report.failures == [])
            let requests = world.bundleRequests()
            #expect(requests.contains("pack") == isHidden && requests.contains("manifest"))
            if isHidden {
                guard case .pack(_, .object) = try #require(world.takeRefusals().first) else {
                    Issue.record("another reason")
                    continue
                }
            }
            guard case .pending(_, let next) = try world.machine.state else {
                Issue.record("nothing waits")
                continue
            }
            #expect(next.labels == "web 2.0.0")
        }
    }

    @Test func `comes from what the app ships where what runs has none`() async throws {
        let world = try World([packedWeb1], embedded: "/app")
        world.repository.publish([.bundle("web", "1.5.0", packedFiles1.merging(["style.css": "p {a}"]) { $1 })])
        #expect(try await world.device.sync().isComplete)
        try await world.device.launchAndConfirm()
        world.repository.publish([packedWeb2])
        world.repository.edit { $0.publishPacks(of: "web") }
        world.repository.fail(try world.basePack(from: "1.5.0"), with: .notFound)
        _ = world.repository.takeRequests()
        let report = try await world.device.sync()
        #expect(report.packs.map(\.base.text) == ["1.0.0"])
        #expect(world.bundleRequests() == ["pack", "pack", "sigs"])
        try await world.expectUpdated()
    }
}
