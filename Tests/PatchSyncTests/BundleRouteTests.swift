import DeviceTesting
import PatchChoice
import PatchFormat
import PatchTrust
import Testing

@testable import PatchSync

@Suite("How a new bundle comes")
struct BundleRouteTests {
    private func bundle(_ version: String, id: String = "web") -> InstalledPatch {
        InstalledPatch(entry(id, version, kind: .bundle), column: nil)
    }

    private enum Requests: Equatable {
        case pack(from: [InstalledPatch])
        case documents
    }

    /// The packs that are requested until the last one is missing too, and before an index is read.
    private func route(
        _ patch: InstalledPatch,
        from here: [InstalledPatch],
        hasManifest: Bool = false,
        whole: InstalledPatch? = nil
    ) -> Requests {
        var version = NewVersion(patch, from: here, hasManifest: hasManifest) { $0 == whole?.fingerprint.sha256 }
        var bases: [InstalledPatch] = []
        while case .pack(let digest) = BundleRoute(version) {
            bases += version.bases.map(\.patch).filter { $0.fingerprint.sha256 == digest }
            version.mark(digest, .withoutPack)
        }
        return bases.isEmpty ? .documents : .pack(from: bases)
    }

    @Test func `is by a pack from a bundle of its id that is here, three of them at most, each once`() {
        let versions = (1...5).map { bundle("\($0)") }
        #expect(route(bundle("9"), from: versions) == .pack(from: Array(versions.prefix(3))))
        #expect(
            route(
                bundle("9"),
                from: [versions[1], bundle("9"), bundle("1", id: "docs"), installed("web 7"), versions[1]]
            )
                == .pack(from: [versions[1]])
        )
    }

    @Test func `is by its documents where nothing is here, and for what is no bundle`() {
        #expect(route(bundle("9"), from: []) == .documents)
        #expect(route(installed("web 9"), from: [bundle("1")]) == .documents)
    }

    @Test func `is by a pack beside its manifest only where all of the pack is here`() {
        let versions = (1...5).map { bundle("\($0)") }
        #expect(route(bundle("9"), from: versions, hasManifest: true) == .documents)
        let last = versions[4]
        #expect(route(bundle("9"), from: versions, hasManifest: true, whole: last) == .pack(from: [last]))
    }
}
