import PatchChoice
import DeviceTesting
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

@Suite("An update that is not right")
struct EntryTests {
    private let first = "banner 1, fix-cart-total 1, web 1.0.0"
    private let list = TargetPath.patchList(SimulatedRepository.production)
    private let manifest = TargetPath.manifest(
        channel: SimulatedRepository.production,
        patchID: name("web"),
        version: name("2.0.0")
    )
    private let column = TargetPath.signatureColumn(
        channel: SimulatedRepository.production,
        patchID: name("web"),
        version: name("2.0.0")
    )

    /// The files of what runs, which no refused update may touch.
    private func installed(_ world: World) throws -> [String: [UInt8]] {
        let bundles = try world.files(below: "bundles")
        return bundles.merging(try world.files(below: "trust").filter { $0.key.hasSuffix("root.json") }) { $1 }
    }

    /// The update of `id` fails by exactly this error, everything else of it comes (P10), and the old version stays (P7).
    private func expectFailure(
        of id: String,
        _ version: String,
        _ error: SyncError,
        then labels: String,
        in world: World,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let report = try await world.device.sync()
        #expect(
            report.failures == [PatchFailure(patchID: name(id), version: name(version), error: error)],
            sourceLocation: location
        )
        #expect(!report.isComplete, sourceLocation: location)
        try await expectAfterRestart(labels, in: world, location: location)
    }

    /// An entry is refused by exactly this rule, and concludes nothing about what is installed.
    private func expectRefusal(
        of entry: String,
        _ rule: EntryFault.Rule,
        then labels: String,
        in world: World,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let report = try await world.device.sync()
        #expect(report.refused.map(\.fault) == [EntryFault(entry: entry, rule: rule)], sourceLocation: location)
        #expect(report.failures == [], sourceLocation: location)
        try await expectAfterRestart(labels, in: world, location: location)
    }

    private func expectAfterRestart(_ labels: String, in world: World, location: SourceLocation) async throws {
        try world.expectWhole(first, location: location)
        let restarted = try world.device.reopened(on: world.disk.crashed(.lose))
        #expect(try await restarted.launchAndConfirm()?.labels == labels, sourceLocation: location)
        try expectNoFaults(restarted, sourceLocation: location)
    }

    // MARK: Objects

    /// Every way in which an object does not come, and the error.
    private static let brokenObjects: [(SimulatedRepository.Fault, @Sendable (String, String) -> SyncError)] = [
        (.notFound, { path, _ in .fetch(.notFound(path)) }),
        (.status(500), { path, _ in .fetch(.status(path, code: 500)) }),
        (.timesOut, { path, _ in .fetch(.timedOut(path)) }),
        (.breaksOff(after: 3), { path, _ in .fetch(.short(path)) }),
        (.shortened(to: 3), { _, entry in .object(entry: entry, field: "size") }),
        (.endless, { _, entry in .object(entry: entry, field: "size") }),
        (.bitFlipped(at: 0), { _, entry in .object(entry: entry, field: "md5") }),
        (.bitFlipped(at: 0.9), { _, entry in .object(entry: entry, field: "md5") }),
    ]

    @Test(arguments: brokenObjects.indices)
    func `of a script keeps the old one, and the rest comes`(index: Int) async throws {
        let (fault, error) = Self.brokenObjects[index]
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        let path = object("cart.total = 2;")
        world.repository.fail(path, with: fault)
        try await expectFailure(
            of: "fix-cart-total",
            "2",
            error(path, "fix-cart-total 2"),
            then: "banner 1, fix-cart-total 1, web 2.0.0",
            in: world
        )
        #expect(try world.disk.status(of: world.store.root.appending(FilePath(path).components)) == nil)
    }

    @Test(arguments: brokenObjects.indices)
    func `of one asset keeps the old bundle, and the rest comes`(index: Int) async throws {
        let (fault, error) = Self.brokenObjects[index]
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        let path = object("console.log(2);")
        world.repository.fail(path, with: fault)
        try await expectFailure(
            of: "web",
            "2.0.0",
            error(path, "web 2.0.0 app/main.js"),
            then: "banner 1, fix-cart-total 2, web 1.0.0",
            in: world
        )
    }

    @Test func `is finished by the next sync, which fetches only what did not come`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        world.repository.fail(object("console.log(2);"), with: .bitFlipped(at: 0))
        try await world.device.sync()
        world.repository.repair(object("console.log(2);"))
        _ = world.repository.takeRequests()
        #expect(try await world.device.sync().isComplete)
        #expect(world.repository.takeRequests().filter { $0.hasPrefix("objects/") } == [object("console.log(2);")])
        #expect(try await world.device.launchAndConfirm()?.labels == "banner 1, fix-cart-total 2, web 2.0.0")
    }

    @Test func `ends the sync where the connection is gone, and stages nothing`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        let path = object("cart.total = 2;")
        world.repository.fail(path, with: .connection)
        await #expect(throws: SyncError.fetch(.connection(path, reason: "unplugged"))) { try await world.device.sync() }
        #expect(try world.machine.state.phase == .settled)
        try world.expectWhole(first)
    }

    @Test func `ends the sync where the disk is full, and stages nothing`() async throws {
        let world = try await World.running()
        world.repository.publish([
            SampleApp.fix2, SampleApp.banner1,
            .bundle("web", "3.0.0", ["index.html": String(repeating: "x", count: 60_000)]),
        ])
        world.disk.limitFreeSpace(to: 40_000)
        let error = await #expect(throws: SyncError.self) { try await world.device.sync() }
        guard case .file(.noSpace) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try world.machine.state.phase == .settled)
        try world.expectWhole(first)
        world.disk.limitFreeSpace(to: nil)
        #expect(try await world.device.sync().staging == .staged)
    }

    @Test func `in several patches is told patch by patch, and the completion comes once`() async throws {
        let scripts = (0..<10).map { SimulatedPatch.script("script-\($0)", "1", "run(\($0));") }
        let world = try World(scripts)
        for number in stride(from: 0, to: 10, by: 3) {
            world.repository.fail(object("run(\(number));"), with: .notFound)
        }
        let report = try await world.device.sync()
        let failed = Set(report.failures.map(\.patchID.text))
        #expect(failed == Set(stride(from: 0, to: 10, by: 3).map { "script-\($0)" }))
        #expect(report.failures.count == 4)
        #expect(
            report.failures.allSatisfy { failure in
                if case .fetch(.notFound) = failure.error { true } else { false }
            }
        )
        #expect(try await world.device.launchAndConfirm()?.patches.count == 6)
    }

    @Test(arguments: [0, 1, 2, 9])
    func `is none when every patch comes, however many there are`(count: Int) async throws {
        let world = try World((0..<count).map { SimulatedPatch.script("script-\($0)", "1", "run(\($0));") })
        let report = try await world.device.sync()
        #expect(report.isComplete && report.decisions.count == count)
        #expect(try await world.device.launchAndConfirm()?.patches.count ?? 0 == count)
    }

    @Test func `holds a script that is not UTF-8: it is there and cannot be installed`() async throws {
        let world = try await World.running()
        var broken = SampleApp.fix2
        broken.content = .script([0x61, 0xFF, 0xFE])
        world.repository.publish([broken, SampleApp.banner1, SampleApp.web1])
        let fault = EntryFault(entry: "fix-cart-total 2", rule: .unreadable("is not UTF-8 text"))
        try await expectFailure(of: "fix-cart-total", "2", .trust(.entry(fault)), then: first, in: world)
        #expect(world.takeStates()["fix-cart-total"] == ["Update", "UnKnownError"])
    }

    // MARK: Manifest and column

    private static let brokenDocuments: [SimulatedRepository.Fault] = [
        .notFound, .status(503), .timesOut, .breaksOff(after: 9), .shortened(to: 60), .bitFlipped(at: 0.5), .endless,
    ]

    @Test(arguments: brokenDocuments.indices, [true, false])
    func `of a manifest or its column keeps the old bundle`(index: Int, isManifest: Bool) async throws {
        let fault = Self.brokenDocuments[index]
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        let ending = isManifest ? ".manifest.json" : ".manifest.sigs"
        let path = try #require(
            world.repository.tree.files.keys.first { $0.contains("/2.0.0/") && $0.hasSuffix(ending) }
        )
        world.repository.fail(path, with: fault)
        let report = try await world.device.sync()
        #expect(report.failures.map(\.patchID.text) == ["web"])
        let error = try #require(report.failures.first?.error)
        let document = "web 2.0.0 manifest" + (isManifest ? "" : ".sigs")
        switch fault {
        case .notFound: #expect(error == .fetch(.notFound(path)))
        case .status(let code): #expect(error == .fetch(.status(path, code: code)))
        case .timesOut: #expect(error == .fetch(.timedOut(path)))
        case .breaksOff: #expect(error == .fetch(.short(path)))
        case .shortened, .endless: #expect(error == .trust(.entry(EntryFault(entry: document, rule: .differs("size")))))
        case .bitFlipped:
            // A role names a column by its SHA-256 alone.
            let field = isManifest ? "md5" : "sha256"
            #expect(error == .trust(.entry(EntryFault(entry: document, rule: .differs(field)))))
        case .connection, .replaced, .busy, .stalls, .hangs, .announcesMore, .refused, .webPage, .ofForm:
            Issue.record("not in the table")
        }
        try await expectAfterRestart("banner 1, fix-cart-total 2, web 1.0.0", in: world, location: #_sourceLocation)
    }

    @Test func `whose column has a bit flipped before the role was signed is refused by the asset`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second) { targets in
            targets[column]?[46 + 384 + 7] ^= 1
        }
        // The second asset by path.
        let fault = EntryFault(entry: "web 2.0.0 app/main.js", rule: .signature)
        try await expectFailure(
            of: "web",
            "2.0.0",
            .trust(.entry(fault)),
            then: "banner 1, fix-cart-total 2, web 1.0.0",
            in: world
        )
    }

    @Test func `whose column is of another key is refused by that key's id`() async throws {
        let world = try await World.running()
        world.repository.publish([SampleApp.fix1, SampleApp.banner1, SampleApp.web2.with { $0.key = .other }])
        try await expectRefusal(of: "web 2.0.0", .unknownKey(SimulatedKey.other.entryKeyID), then: first, in: world)
    }

    /// The assets were signed for something else: what changed, and the first asset by path.
    @Test(arguments: [
        SimulatedPatch.Identity(app: "com.example.other"), SimulatedPatch.Identity(patchID: "shop"),
    ])
    func `whose assets were moved from another app or patch is refused`(identity: SimulatedPatch.Identity) async throws
    {
        let world = try await World.running()
        world.repository.publish([
            SampleApp.fix1, SampleApp.banner1, SampleApp.web2.with { $0.assetsSignedAs = identity },
        ])
        let fault = EntryFault(entry: "web 2.0.0 app/lib.js", rule: .signature)
        try await expectFailure(of: "web", "2.0.0", .trust(.entry(fault)), then: first, in: world)
    }

    @Test func `whose asset was moved from another path is refused`() async throws {
        let world = try await World.running()
        var moved = SimulatedPatch.File("app/main.js", "console.log(2);")
        moved.signedPath = "app/admin.js"
        world.repository.publish([
            SampleApp.fix1, SampleApp.banner1,
            .bundle("web", "2.0.0", rows: [moved, SimulatedPatch.File("index.html", "<p>two</p>")]),
        ])
        let fault = EntryFault(entry: "web 2.0.0 app/main.js", rule: .signature)
        try await expectFailure(of: "web", "2.0.0", .trust(.entry(fault)), then: first, in: world)
    }

    @Test(arguments: [
        (
            "\"app\":\"com.example.storefront\"", "\"app\":\"com.example.evilfront1\"", "app", "com.example.evilfront1",
            "com.example.storefront"
        ),
        ("\"patchId\":\"web\"", "\"patchId\":\"wob\"", "patchId", "wob", "web"),
        ("\"version\":\"2.0.0\"", "\"version\":\"9.0.0\"", "version", "9.0.0", "2.0.0"),
    ])
    func `whose manifest is another's is refused, even when an entry key signed for its bytes`(
        old: String,
        new: String,
        field: String,
        found: String,
        expected: String
    ) async throws {
        let world = try await World.running()
        world.repository.publish([SampleApp.fix1, SampleApp.banner1, SampleApp.web2]) { targets in
            targets.replace(old, with: new, in: manifest)
            relist(SampleApp.web2, manifest: targets[manifest] ?? [], in: &targets)
        }
        try await expectFailure(
            of: "web",
            "2.0.0",
            .trust(.foreign(document: "web 2.0.0 manifest", field: field, found: found, expected: expected)),
            then: first,
            in: world
        )
    }

    /// Gives the entry of `patch` the fingerprint of an altered manifest, signed by the entry key.
    private func relist(_ patch: SimulatedPatch, manifest: [UInt8], in targets: inout [TargetPath: [UInt8]]) {
        guard let parsed = try? ParsedPatchList(targets[list] ?? []).list else {
            preconditionFailure("it was just written")
        }
        let entries = parsed.entries.map { entry in
            guard entry.patchID == patch.id else { return entry }
            let fingerprint = Fingerprint(of: manifest)
            let statement = Statement.patch(
                app: parsed.app,
                channel: parsed.channel,
                patchID: patch.id,
                kind: .bundle,
                version: patch.version,
                fingerprint: fingerprint
            )
            return PatchEntry(
                patchID: patch.id,
                kind: .bundle,
                version: patch.version,
                url: URLLayout.entry(
                    kind: .bundle,
                    channel: parsed.channel,
                    patchID: patch.id,
                    version: patch.version,
                    sha256: fingerprint.sha256
                ),
                fingerprint: fingerprint,
                signature: EntrySignature(
                    keyID: SimulatedKey.entry.entryKeyID,
                    bytes: SimulatedKey.entry.signature(over: statement)
                ),
                salt: entry.salt,
                rules: entry.rules
            )
        }
        targets[list] =
            PatchList(
                app: parsed.app,
                channel: parsed.channel,
                serial: parsed.serial,
                published: parsed.published,
                entries: entries
            ).json.fileBytes
    }

    /// Paths of a hostile manifest, all of it signed: the field and the rule.
    @Test(arguments: [
        (["../evil.js", "index.html"], "assets[0].path", "has a '.' or '..' segment"),
        (["/etc/evil.js", "index.html"], "assets[0].path", "is absolute"),
        (["a/../../evil.js", "index.html"], "assets[0].path", "has a '.' or '..' segment"),
        (["a//b.js", "index.html"], "assets[0].path", "has an empty segment"),
        (["a\u{0}b.js", "index.html"], "assets[0].path", "has a control character"),
        (["a\nb.js", "index.html"], "assets[0].path", "has a control character"),
        (["a\\b.js", "index.html"], "assets[0].path", "has a backslash"),
        (["cafe\u{301}.js", "index.html"], "assets[0].path", "is not in Unicode normal form C"),
        (["index.html", "index.html"], "assets[1].path", "is listed twice"),
        (["Index.html", "index.html"], "assets[1].path", "index.html equals Index.html after case folding"),
        (["a", "a/b.js", "index.html"], "assets[0].path", "is both a file and a folder"),
        (["z.js", "index.html"], "assets[1].path", "must follow the previous row in the order of UTF-8 bytes"),
        (["main.js"], "index", "is not an asset"),
    ])
    func `with a hostile path in its manifest is refused, and nothing of it is written`(
        paths: [String],
        field: String,
        rule: String
    ) async throws {
        let world = try await World.running()
        let rows = paths.enumerated().map {
            SimulatedPatch.File($1, "evil \($0)").with { $0.url = "/\(paths.count)/\($0.bytes.count)" }
        }
        var unique = rows
        for index in unique.indices { unique[index].url = "/asset-\(index)" }
        let before = try world.files().keys.filter { !$0.hasPrefix("/store/") }
        world.repository.publish([SampleApp.fix1, SampleApp.banner1, .bundle("web", "2.0.0", rows: unique)])
        try await expectFailure(
            of: "web",
            "2.0.0",
            .trust(.malformed(FormatError("web 2.0.0 manifest", field: field, rule: rule))),
            then: first,
            in: world
        )
        #expect(try world.files().keys.filter { !$0.hasPrefix("/store/") } == before)
        #expect(!world.repository.takeRequests().contains { $0.hasPrefix("objects/") })
        #expect(try world.files(below: "objects").keys.count == 8)
    }

    @Test(arguments: ["/__patchline/launch.js", "main.js", "/a b", "/caf\u{e9}", "/a?b", "/a#b", ""])
    func `with a hostile URL in its manifest is refused`(url: String) async throws {
        let world = try await World.running()
        let row = SimulatedPatch.File("index.html", "<p>two</p>").with { $0.url = url }
        world.repository.publish([SampleApp.fix1, SampleApp.banner1, .bundle("web", "2.0.0", rows: [row])])
        let rule =
            "must be the percent-encoded path of a file: '/', then segments that decode to names, the first not __patchline"
        try await expectFailure(
            of: "web",
            "2.0.0",
            .trust(.malformed(FormatError("web 2.0.0 manifest", field: "assets[0].url", rule: rule))),
            then: first,
            in: world
        )
    }

    @Test func `does not follow a symbolic link that somebody put into the store`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        let digest = try #require(SHA256Digest(hex: String(object("console.log(2);").suffix(64))))
        try world.disk.makeDirectory(world.store.objects.path(of: digest).removingLastComponent())
        try world.disk.makeSymbolicLink(world.store.objects.path(of: digest), to: "/outside")
        #expect(try await world.device.sync().isComplete)
        #expect(try world.disk.status(of: world.store.objects.path(of: digest))?.kind == .file)
        #expect(try world.disk.status(of: "/outside") == nil)
        #expect(try await world.device.launchAndConfirm()?.labels == "banner 1, fix-cart-total 2, web 2.0.0")
        try world.expectWhole("banner 1, fix-cart-total 2, web 2.0.0")
    }

    // MARK: Entries

    @Test(arguments: [
        SimulatedPatch.Identity(app: "com.example.other"), SimulatedPatch.Identity(channel: "beta"),
        SimulatedPatch.Identity(patchID: "banner"), SimulatedPatch.Identity(version: "1"),
    ])
    func `whose entry was moved from another app, channel, id or version is refused alone`(
        identity: SimulatedPatch.Identity
    ) async throws {
        let world = try await World.running()
        world.repository.publish([SampleApp.fix2.with { $0.signedAs = identity }, SampleApp.banner1, SampleApp.web2])
        try await expectRefusal(
            of: "fix-cart-total 2",
            .signature,
            then: "banner 1, fix-cart-total 1, web 2.0.0",
            in: world
        )
    }

    @Test func `whose entry's signature has one bit flipped is refused alone`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second) { targets in
            let key = "\"sig\":\""
            let head = String(decoding: targets[list] ?? [], as: UTF8.self).split(separator: key, maxSplits: 1)[0]
            let index = head.utf8.count + key.utf8.count + 20
            // The lowest bit of a base64 digit.
            let old = targets[list]?[index]
            targets[list]?[index] = old == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        }
        try await expectRefusal(
            of: "fix-cart-total 2",
            .signature,
            then: "banner 1, fix-cart-total 1, web 2.0.0",
            in: world
        )
    }

    @Test(arguments: ["md5", "sha1", "sha256", "size"])
    func `whose entry has another digest than was signed is refused alone`(field: String) async throws {
        let world = try await World.running()
        let good = Fingerprint(of: Array("cart.total = 2;".utf8))
        let bad = Fingerprint(of: Array("cart.total = 3;".utf8))
        world.repository.publish(SampleApp.second) { targets in
            switch field {
            case "md5": targets.replace(good.md5.hex, with: bad.md5.hex, in: list)
            case "sha1": targets.replace(good.sha1.hex, with: bad.sha1.hex, in: list)
            case "size": targets.replace("\"size\":15", with: "\"size\":16", in: list)
            default:
                targets.replace(URLLayout.object(good.sha256), with: URLLayout.object(bad.sha256), in: list)
                targets.replace(good.sha256.hex, with: bad.sha256.hex, in: list)
            }
        }
        try await expectRefusal(
            of: "fix-cart-total 2",
            .signature,
            then: "banner 1, fix-cart-total 1, web 2.0.0",
            in: world
        )
    }

    @Test(arguments: [
        ("\"patchId\":\"fix-cart-total\"", "\"patchId\":\"../fix\"", "entry 0", "patchId", "\(PatchID.rule)"),
        ("\"size\":15", "\"size\":-15", "fix-cart-total 2", "size", "must be an integer from 0 to 4000000000"),
        ("\"kind\":\"script\"", "\"kind\":\"binary\"", "fix-cart-total 2", "kind", "must be script or bundle"),
        ("\"version\":\"2\"", "\"version\":\"..\"", "fix-cart-total", "version", "\(VersionLabel.rule)"),
        (
            "\"rollout\":10000", "\"rollout\":10001", "fix-cart-total 2", "rules.rollout",
            "must be an integer from 0 to 10000"
        ),
    ])
    func `whose entry cannot be read is refused alone`(
        old: String,
        new: String,
        entry: String,
        field: String,
        rule: String
    ) async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second) { $0.replace(old, with: new, in: list) }
        let error = FormatError("production/patchlist.json", field: "patches[0].\(field)", rule: rule)
        let isNameless = entry == "entry 0"
        // An entry without a readable id says nothing about any patch: this one is not listed any more.
        try await expectRefusal(
            of: entry,
            .unreadable(error.description),
            then: isNameless ? "banner 1, web 2.0.0" : "banner 1, fix-cart-total 1, web 2.0.0",
            in: world
        )
    }

    @Test func `under a label that is installed with other bytes is refused`() async throws {
        let world = try await World.running()
        world.repository.publish([
            .script("fix-cart-total", "1", "cart.total = 'other';"), SampleApp.banner1, SampleApp.web1,
        ])
        let report = try await world.device.sync()
        #expect(report.staging == .unchanged)
        #expect(report.decisions.flatMap(\.passedOver).map(\.why) == [.republished])
        #expect(!world.repository.takeRequests().contains { $0.hasPrefix("objects/") })
        try world.expectWhole(first)
    }

    @Test func `that lists one label with two contents is refused in the second`() async throws {
        let world = try await World.running()
        world.repository.publish([
            SampleApp.fix2, .script("fix-cart-total", "2", "other;"), SampleApp.banner1, SampleApp.web1,
        ])
        let rule = FormatError(
            "production/patchlist.json",
            field: "patches[1].version",
            rule: "has two contents in one list"
        )
        try await expectRefusal(
            of: "fix-cart-total 2",
            .unreadable(rule.description),
            then: "banner 1, fix-cart-total 2, web 1.0.0",
            in: world
        )
    }

    @Test func `by a key that the channel does not list is refused, and by one that it lists from now on is taken`()
        async throws
    {
        let world = try await World.running()
        let patches = [SampleApp.fix2.with { $0.key = .other }, SampleApp.banner1, SampleApp.web1]
        world.repository.publish(patches)
        #expect(try await world.device.sync().refused.map(\.fault.rule) == [.unknownKey(SimulatedKey.other.entryKeyID)])
        world.repository.edit { $0.entryKeys = [.entry, .other] }
        world.repository.publish(patches)
        #expect(try await world.device.sync().staging == .staged)
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 2, web 1.0.0")
    }

    @Test func `does not ask an installed entry for a key that is not listed any more`() async throws {
        let world = try await World.running()
        world.repository.edit { $0.entryKeys = [.other] }
        let newKey: @Sendable (inout SimulatedPatch) -> Void = { $0.key = .other }
        world.repository.publish([
            SampleApp.fix2.with(newKey), SampleApp.banner1.with(newKey), SampleApp.web1.with(newKey),
        ])
        #expect(try await world.device.sync().isComplete)
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 2, web 1.0.0")
    }
}

extension SimulatedPatch.File {
    fileprivate func with(_ change: (inout SimulatedPatch.File) -> Void) -> SimulatedPatch.File {
        var copy = self
        change(&copy)
        return copy
    }
}
