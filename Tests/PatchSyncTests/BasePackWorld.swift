import DeviceTesting
import PatchChoice
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

let packedFiles1 = SampleApp.files1.merging(["app/big.js": noise(3_000)]) { $1 }
let packedFiles2 = packedFiles1.merging(["app/main.js": "console.log(2);", "app/new.js": noise(800, seed: 3)]) { $1 }
let packedWeb1 = SimulatedPatch.bundle("web", "1.0.0", packedFiles1)
let packedWeb2 = SimulatedPatch.bundle("web", "2.0.0", packedFiles2)

extension World {
    /// Runs 1.0.0 and is offered 2.0.0, with packs between the two.
    static func updating() async throws -> World { try World(copying: try await prepared.value) }

    private static let prepared = SharedFixture {
        let world = try await running([packedWeb1])
        world.repository.publish([packedWeb2])
        world.repository.edit { $0.publishPacks(of: "web") }
        return world
    }

    /// From this version to the newest.
    func basePack(from base: String = "1.0.0", to version: String = "2.0.0", _ part: BasePack.Part = .pack) throws
        -> String
    {
        let bundles = repository.tree.bundles(of: "web")
        let (new, old) = (try #require(bundles[version]), try #require(bundles[base]))
        return URLLayout.pack(BasePack(manifest: new.digest, base: old.digest), part)
    }

    /// What was asked for of bundles, in order: `pack`, `sigs`, `index`, `manifest`, `column`, `full`, `object`.
    func bundleRequests() -> [String] {
        repository.takeRequests().compactMap { request in
            let (path, rest) = (request.prefix { $0 != " " }, request.drop { $0 != " " })
            let kind: String? =
                if path.hasSuffix(".signed") {
                    // A host that has none is asked for the two.
                    repository.tree.files[String(path)] == nil ? nil : "signed"
                } else if path.hasSuffix(".pack") {
                    path.hasSuffix("full.pack") ? "full" : "pack"
                } else if path.hasSuffix(".sigs") {
                    path.hasPrefix("packs/") ? "sigs" : "column"
                } else if path.hasPrefix("packs/"), path.hasSuffix("/index.json") {
                    "index"
                } else if path.hasSuffix(".manifest.json") { "manifest" } else if path.hasPrefix("objects/") {
                    "object"
                } else { nil }
            return kind.map { $0 + rest }
        }
    }

    /// What is here of packs.
    var packParts: [String] { get throws { try parts.filter { $0.contains(".from-") } } }

    /// Why packs were not taken, in order.
    func takeRefusals() -> [SyncError] {
        takeEvents().compactMap { if case .packRefused(_, let error) = $0 { error } else { nil } }
    }

    /// The device has 2.0.0, whole, and nothing beside it.
    func expectUpdated(_ comment: Comment? = nil, location: SourceLocation = #_sourceLocation) async throws {
        try await device.launchAndConfirm()
        let faults = try device.device.verifyInstalled(signatures: true).faults
        #expect(faults == [], comment, sourceLocation: location)
        #expect(try machine.state.running?.labels == "web 2.0.0", comment, sourceLocation: location)
        let left = try parts
        #expect(left == [], comment, sourceLocation: location)
    }
}

/// What comes where no pack does: the rest of the bundle is single objects.
let withoutPack = ["manifest", "column", "object", "object"]
