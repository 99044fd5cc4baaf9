import DeviceTesting
import Foundation
import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@testable import PatchSync

extension World {
    /// Runs 1.0.0 and is offered 2.0.0, with packs between the two, under this setting from the beginning on.
    fileprivate static func updating(under signatures: EntrySignatures) async throws -> World {
        var world = try await World.updating()
        try await world.set(signatures)
        return world
    }

    mutating func set(_ signatures: EntrySignatures) async throws {
        try await store.changingConfiguration { $0.entrySignatures = signatures }
        device.device = try device.device.reopened()
    }

    func removePacks() {
        repository.edit { tree in tree.files = tree.files.filter { !$0.key.hasPrefix("packs/") } }
    }

    func manifestPath(_ version: String = "2.0.0") throws -> String {
        try #require(
            repository.tree.files.keys.first { $0.contains("/\(version)/") && $0.hasSuffix(".manifest.json") }
        )
    }

    func columnPath(_ version: String = "2.0.0") throws -> String {
        try #require(
            repository.tree.files.keys.first { $0.contains("/\(version)/") && $0.hasSuffix(".manifest.sigs") }
        )
    }
}

/// The second asset's signature, damaged before the role was signed.
private func unsigned(_ version: String = "2.0.0") -> SimulatedTree.Edit {
    let path = TargetPath.signatureColumn(
        channel: SimulatedRepository.production,
        patchID: name("web"),
        version: name(version)
    )
    return { $0[path]?[46 + 384 + 7] ^= 1 }
}

private func fault(_ version: String = "2.0.0", _ path: String = "app/lib.js") -> SyncError {
    .trust(.entry(EntryFault(entry: "web \(version) \(path)", rule: .signature)))
}

@Suite("The signatures of a manifest's entries")
struct EntrySignaturesTests {
    // MARK: What each setting refuses

    @Test(arguments: [SimulatedRepository.Fault.notFound, .bitFlipped(at: 0.5)], [true, false])
    func `that are missing or altered on the server are refused where they are required, and not asked for else`(
        fault: SimulatedRepository.Fault,
        hasPacks: Bool
    ) async throws {
        for signatures in EntrySignatures.allCases {
            let world = try await World.updating(under: signatures)
            if !hasPacks { world.removePacks() }
            let column = try world.columnPath()
            world.repository.fail(column, with: fault)
            if hasPacks { world.repository.fail(try world.basePack(.signatures), with: fault) }
            let report = try await world.device.sync()
            switch signatures {
            case .required:
                let differs = EntryFault(entry: "web 2.0.0 manifest.sigs", rule: .differs("sha256"))
                let error: SyncError =
                    if case .notFound = fault { .fetch(.notFound(column)) } else { .trust(.entry(differs)) }
                #expect(report.failures == [PatchFailure(patchID: name("web"), version: name("2.0.0"), error: error)])
                try world.expectWhole("web 1.0.0")
            case .manifest:
                #expect(report.isComplete && report.mirrors == [])
                #expect(
                    world.bundleRequests() == ["pack"] + (hasPacks ? [] : ["index", "manifest", "object", "object"])
                )
                if let use = report.packs.first {
                    #expect(use.bytes == world.repository[try world.basePack()].count)
                    #expect(use.estimate * 100 / 27 < world.repository[try world.manifestPath()].count + 1_000)
                }
                try await world.expectUpdated()
            }
        }
    }

    @Test func `that hold for nothing are refused by their row where they are required, and not looked at else`()
        async throws
    {
        for signatures in EntrySignatures.allCases {
            var world = try await World.running([packedWeb1])
            try await world.set(signatures)
            world.repository.publish([packedWeb2], editing: unsigned())
            let report = try await world.device.sync()
            if signatures == .required {
                #expect(report.failures.map(\.error) == [fault("2.0.0", "app/lib.js")])
                try world.expectWhole("web 1.0.0")
            } else {
                #expect(report.isComplete)
                try await world.expectUpdated()
            }
        }
    }

    // MARK: What is checked all the same

    @Test func `left out, the list entry's signature is checked`() async throws {
        let world = try await World.updating(under: .manifest)
        world.repository.publish([packedWeb2.with { $0.signedAs = .init(version: "3.0.0") }])
        let report = try await world.device.sync()
        #expect(report.refused.map(\.fault) == [EntryFault(entry: "web 2.0.0", rule: .signature)])
        #expect(world.bundleRequests() == [])
        try world.expectWhole("web 1.0.0")
    }

    @Test func `left out, the role's quorum is checked`() async throws {
        let world = try await World.updating(under: .manifest)
        world.repository.edit { $0.impostors["production"] = [.entry] }
        world.repository.publish([packedWeb2])
        await #expect(throws: SyncError.trust(.threshold(role: "production", valid: 0, needed: 1))) {
            try await world.device.sync()
        }
        #expect(world.bundleRequests() == [])
        try world.expectWhole("web 1.0.0")
    }

    @Test func `left out, the manifest's digests and addressee are checked`() async throws {
        let altered = try await World.updating(under: .manifest)
        altered.removePacks()
        altered.repository.fail(try altered.manifestPath(), with: .bitFlipped(at: 0.5))
        let differs = EntryFault(entry: "web 2.0.0 manifest", rule: .differs("md5"))
        #expect(try await altered.device.sync().failures.map(\.error) == [.trust(.entry(differs))])
        #expect(altered.bundleRequests() == ["pack", "index", "manifest"])
        try altered.expectWhole("web 1.0.0")
    }

    @Test func `left out, every file's digests are checked against the manifest`() async throws {
        let world = try await World.updating(under: .manifest)
        world.removePacks()
        world.repository.fail(object("console.log(2);"), with: .bitFlipped(at: 0.5))
        let report = try await world.device.sync()
        #expect(report.failures.map(\.error) == [.object(entry: "web 2.0.0 app/main.js", field: "md5")])
        try world.expectWhole("web 1.0.0")
    }

    // MARK: From one setting to the other

    @Test func `are fetched once they are required, while what runs goes on`() async throws {
        var world = try await World.updating(under: .manifest)
        try await world.device.sync()
        try await world.expectUpdated()
        let report = try world.device.device.verifyInstalled(signatures: true)
        #expect(report.unchecked.map(\.description) == ["web 2.0.0", "web 1.0.0"] && report.signatures == 2)

        try await world.set(.required)
        _ = world.repository.takeRequests()
        #expect(
            try world.device.device.verifyInstalled(signatures: true).faults == [
                "web 2.0.0 manifest.sigs: is missing, as after `--entry-signatures manifest`; the next sync downloads it"
            ]
        )
        let next = try await world.device.sync()
        #expect(next.isComplete && next.healed.map(\.description) == ["web 2.0.0"])
        #expect(world.bundleRequests() == ["column"])
        try world.expectWhole("web 2.0.0")
        #expect(try await world.device.sync().healed == [] && world.bundleRequests() == [])
    }

    @Test func `that turn out bad once they are required are told at each sync, and what runs goes on`() async throws {
        var world = try await World.running([packedWeb1])
        try await world.set(.manifest)
        world.repository.publish([packedWeb2], editing: unsigned())
        try await world.device.sync()
        try await world.expectUpdated()
        try await world.set(.required)
        for _ in 0..<2 {
            _ = world.repository.takeRequests()
            let report = try await world.device.sync()
            #expect(report.failures.map(\.error) == [fault()] && !report.isComplete)
            #expect(world.bundleRequests() == ["column"])
            #expect(try world.machine.state.running?.labels == "web 2.0.0")
        }
    }

    @Test func `that came and were not looked at before the power went are looked at`() async throws {
        var world = try await World.running([packedWeb1])
        try await world.set(.manifest)
        world.repository.publish([packedWeb2], editing: unsigned())
        try await world.device.sync()
        try await world.expectUpdated()
        try await world.set(.required)
        let column = world.repository[try world.columnPath()]
        try world.store.objects.put(column, as: Fingerprint(of: column))
        _ = world.repository.takeRequests()
        #expect(try await world.device.sync().failures.map(\.error) == [fault()])
        #expect(world.bundleRequests() == [])
    }

    @Test func `of what waits are checked before it may start, once they are required`() async throws {
        for isBad in [false, true] {
            var world = try await World.running([packedWeb1])
            try await world.set(.manifest)
            world.repository.publish([packedWeb2], editing: isBad ? unsigned() : { _ in })
            #expect(try await world.device.sync().staging == .staged)
            try await world.set(.required)
            #expect(try world.machine.state.phase == .settled)
            _ = world.repository.takeRequests()
            let report = try await world.device.sync()
            #expect(world.bundleRequests() == ["column"])
            #expect(report.failures.map(\.error) == (isBad ? [fault()] : []))
            #expect(try world.machine.state.phase == (isBad ? .settled : .pending))
        }
    }

    @Test func `of a version that is kept to go back to are fetched too`() async throws {
        var world = try World([packedWeb1])
        try await world.set(.manifest)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        world.repository.publish([packedWeb2, packedWeb1])
        try await world.device.sync()
        try await world.expectUpdated()
        try await world.set(.required)
        _ = world.repository.takeRequests()
        let report = try await world.device.sync()
        #expect(report.healed.map(\.description) == ["web 2.0.0", "web 1.0.0"] && report.failures == [])
        #expect(world.bundleRequests() == ["column", "column"])
        try world.expectWhole("web 2.0.0")
        try await world.device.sync()
        #expect(world.bundleRequests() == [])
    }

    @Test func `required while a sync that leaves them out is under way let it stage nothing`() async throws {
        let world = try await World.updating(under: .manifest)
        var device = world.device
        device.device.atCommitPoint = { [store = world.store] point in
            guard point == .beforeState, var configuration = try? store.configuration() else { return }
            configuration.entrySignatures = .required
            try? store.save(configuration)
        }
        #expect(try await device.sync().staging == .superseded)
        #expect(try world.machine.state.phase == .settled)
    }

    // MARK: What vouches for what

    /// The second version changes, adds and keeps files.
    @Test func `are not checked again where what runs vouches for them, with its own column checked here`() async throws
    {
        let world = try await World.updating(under: .required)
        let (old, new) = (packedFiles1, packedFiles2)
        let changed = new.count { path, content in old[path] != content }
        #expect(changed < new.count)
        let update = try await world.device.sync()
        #expect(update.isComplete && update.checkedSignatures == changed)

        // Without the record of the check nothing is vouched for.
        let other = try await World.updating(under: .required)
        try other.disk.removeTree(other.store.root.appending("signatures"))
        let again = try await other.device.sync()
        #expect(again.isComplete && again.checkedSignatures == new.count)
    }

    @Test(arguments: [false, true])
    func `of a version that came without them vouch for no row of the next one`(isBaseColumnHere: Bool) async throws {
        var world = try World([])
        try await world.set(.manifest)
        world.repository.publish([packedWeb1], editing: unsigned("1.0.0"))
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        if isBaseColumnHere {
            let column = world.repository[try world.columnPath("1.0.0")]
            try world.store.objects.put(column, as: Fingerprint(of: column))
        }
        try await world.set(.required)
        // The row of app/lib.js has not changed, and its signature is the one that holds for nothing.
        world.repository.publish([packedWeb2], editing: unsigned("2.0.0"))
        world.repository.edit { $0.publishPacks(of: "web") }
        _ = world.repository.takeRequests()
        let report = try await world.device.sync()
        #expect(report.failures.map(\.error) == [fault("2.0.0")])
        #expect(world.bundleRequests() == (isBaseColumnHere ? ["pack", "sigs"] : ["pack", "column"]))
        #expect(try world.machine.state.running?.labels == "web 1.0.0")
    }

    @Test func `of a store from before there were records are checked once more, and nothing is fetched`() async throws
    {
        let world = try await World.running([packedWeb1])
        let records = world.store.root.appending("signatures")
        #expect(try world.disk.list(records).count == 1)
        try world.disk.removeTree(records)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.healed == [] && world.bundleRequests() == [])
        #expect(try world.disk.list(records).count == 1)
    }

    @Test func `of what is gone leave no record`() async throws {
        let world = try await World.updating(under: .required)
        try await world.device.sync()
        try await world.expectUpdated()
        let records = world.store.root.appending("signatures")
        #expect(try world.disk.list(records).count == 2)
        world.repository.publish([.bundle("web", "3.0.0", packedFiles2.merging(["a.txt": "a"]) { $1 })])
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        #expect(try world.disk.list(records).count == 2)
    }

    // MARK: What the app ships, and the setting itself

    @Test func `of what the app ships are checked whatever the setting`() async throws {
        let world = try World([packedWeb1], embedded: "/app")
        #expect(try world.disk.list(world.store.root.appending("signatures")).count == 1)
        try await world.device.sync()
        #expect(world.bundleRequests() == [])
        let disk = FaultyFiles()
        world.repository.publish([packedWeb1.with { $0.assetsSignedAs = .init(patchID: "shop") }])
        try SimulatedEmbedded(of: world.repository).install(at: "/app", on: disk)
        var facts = FactChanges()
        facts.entrySignatures = .set(.manifest)
        #expect(
            throws: SyncError.embedded(
                "/app",
                .trust(.entry(EntryFault(entry: "web 1.0.0 app/big.js", rule: .signature)))
            )
        ) {
            try SimulatedDevice(
                of: world.repository,
                clock: world.clock,
                on: disk,
                facts: facts,
                embedded: "/app"
            )
        }
    }

    @Test func `are required unless a device's configuration says otherwise`() async throws {
        let world = try await World.running([packedWeb1])
        var configuration = world.device.device.configuration
        #expect(configuration.entrySignatures == .required)
        #expect(!String(decoding: configuration.json.fileBytes, as: UTF8.self).contains("entrySignatures"))
        configuration.entrySignatures = .manifest
        let text = String(decoding: configuration.json.fileBytes, as: UTF8.self)
        #expect(text.contains(#""entrySignatures":"manifest""#))
        #expect(try DeviceConfiguration(Array(text.utf8), named: "config.json") == configuration)
        let other = text.replacingOccurrences(of: #""manifest""#, with: #""none""#)
        let rule = "must be required or manifest"
        #expect(throws: FormatError("config.json", field: "entrySignatures", rule: rule)) {
            try DeviceConfiguration(Array(other.utf8), named: "config.json")
        }
        var required = configuration
        required.entrySignatures = .required
        #expect(required.differences(to: configuration) == ["entry signatures (required, not manifest)"])
        var slower = configuration
        slower.network.rate = 5_000
        #expect(slower.differences(to: configuration) == ["limit rate (5000, not unset)"])
    }
}
