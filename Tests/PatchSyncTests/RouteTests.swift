import DeviceTesting
import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

@Suite("The route of bytes to a device")
struct RouteTests {
    private static func bundle(_ version: String) -> InstalledPatch {
        InstalledPatch(entry("web", version, kind: .bundle), column: nil)
    }

    private static let installed = bundle("1")
    private static let base = installed.fingerprint.sha256
    private static let other = SHA256Digest(of: Array("other".utf8))

    private enum Packs {
        case unasked
        case missing
        case damaged
        case listed(PackIndex)
    }

    private static func version(_ packs: Packs, hasManifest: Bool = false, hasPack: Bool = false) -> NewVersion {
        var version = NewVersion(bundle("2"), from: [installed], hasManifest: hasManifest) { _ in false }
        version.hasPack = hasPack
        switch packs {
        case .unasked: break
        case .missing: version.mark(base, .withoutPack)
        case .damaged: version.mark(base, .damaged)
        case .listed(let index):
            version.mark(base, .withoutPack)
            version.packs = IndexedPacks(
                index,
                from: [
                    .init(manifest: base, isTried: true, hasColumn: false),
                    .init(manifest: other, isTried: false, hasColumn: false),
                ],
                to: .init(manifest: 1_000, column: nil, contents: 100_000, most: 100_000)
            )
        }
        return version
    }

    private static func files(_ missing: Range<Int>, of sizes: [Int], hasServer: Bool = true) throws -> FilesRoute {
        let real = Fingerprint(of: [])
        let assets = try sizes.enumerated().map { (row, size) in
            Asset(
                path: try AssetPath("\(row).js"),
                url: "/\(row).js",
                type: .asset,
                cacheable: false,
                sourceMap: nil,
                fingerprint: Fingerprint(size: size, md5: real.md5, sha1: real.sha1, sha256: real.sha256)
            )
        }
        return FilesRoute(missing: Array(missing), of: PackWeights(assets), knowing: nil, hasServer: hasServer)
    }

    @Test func `of a new bundle is chosen by the packs that servers have`() {
        let listed = PackIndex.Pack(base: Self.other, size: 500)
        let first = PackIndex.Pack(base: Self.base, size: 700)
        let middle = PackIndex.Row(
            PackIndex.Pack(base: SHA256Digest(of: [3]), size: 500),
            manifest: 1_000,
            from: [first]
        )
        let rows: [(NewVersion, BundleRoute)] = [
            (Self.version(.unasked), .pack(from: Self.base)),
            (Self.version(.missing), .index),
            (
                Self.version(.listed(PackIndex(whole: nil, from: [PackIndex.Row(listed, manifest: 1_000)]))),
                .listed(listed)
            ),
            (Self.version(.listed(PackIndex(whole: nil, from: [middle]))), .chain(first, through: middle)),
            (Self.version(.damaged), .documents),
        ]
        for (index, (version, route)) in rows.enumerated() { #expect(BundleRoute(version) == route, "row \(index)") }
    }

    @Test func `of missing files is chosen by their number and their bytes`() throws {
        let small = Array(repeating: 100, count: 20)
        #expect(try Self.files(0..<20, of: small) == .fullPack)
        #expect(try Self.files(1..<21, of: [1_000_000] + small) == .packRanges)
        #expect(try Self.files(0..<7, of: small) == .objects)
    }

    @Test func `of a verified manifest is an index only for a chain that broke off`() {
        #expect(BundleRoute(Self.version(.unasked, hasManifest: true)) == .documents)
        #expect(BundleRoute(Self.version(.missing, hasManifest: true, hasPack: true)) == .index)
        #expect(BundleRoute(Self.version(.damaged, hasManifest: true, hasPack: true)) == .documents)
    }

    @Test func `is objects where no server is left with the pack, and for a part with one file`() throws {
        #expect(try Self.files(0..<20, of: Array(repeating: 100, count: 20), hasServer: false) == .objects)
        #expect(PackRun(positions: [0, 1], bytes: 0..<10).isRequested(hasServer: true))
        #expect(!PackRun(positions: [0], bytes: 0..<10).isRequested(hasServer: true))
        #expect(!PackRun(positions: [0, 1], bytes: 5..<5).isRequested(hasServer: true))
        #expect(!PackRun(positions: [0, 1], bytes: 0..<10).isRequested(hasServer: false))
    }
}
