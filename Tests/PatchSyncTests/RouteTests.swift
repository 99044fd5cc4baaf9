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

    private static func version(_ packs: Packs, hasManifest: Bool = false, hasPack: Bool = false) -> RouteFacts {
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
        return .version(version)
    }

    private static func files(_ missing: Range<Int>, of sizes: [Int], hasServer: Bool = true) throws -> RouteFacts {
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
        return .files(missing: Array(missing), of: PackWeights(assets), pack: nil, hasServer: hasServer)
    }

    /// Each route with the facts that lead to it.
    @Test func `is named by the facts, each route once`() throws {
        let listed = PackIndex.Pack(base: Self.other, size: 500)
        let first = PackIndex.Pack(base: Self.base, size: 700)
        let middle = PackIndex.Row(
            PackIndex.Pack(base: SHA256Digest(of: [3]), size: 500),
            manifest: 1_000,
            from: [first]
        )
        let small = Array(repeating: 100, count: 20)
        let rows: [(RouteFacts, Route)] = [
            (Self.version(.unasked), .pack(from: Self.base)),
            (Self.version(.missing), .index),
            (
                Self.version(.listed(PackIndex(whole: nil, from: [PackIndex.Row(listed, manifest: 1_000)]))),
                .pack(from: Self.other, listed: listed)
            ),
            (Self.version(.listed(PackIndex(whole: nil, from: [middle]))), .chain(first, through: middle)),
            (Self.version(.damaged), .documents),
            (try Self.files(0..<20, of: small), .fullPack),
            (try Self.files(1..<21, of: [1_000_000] + small), .packRanges),
            (try Self.files(0..<7, of: small), .objects),
            (.file(isPlainOnly: false), .compressed),
            (.file(isPlainOnly: true), .plain),
            (.packForm(wantsSignatures: true, lacksSigned: false), .signedPack),
            (.packForm(wantsSignatures: true, lacksSigned: true), .plainPack),
        ]
        for (index, (facts, route)) in rows.enumerated() { #expect(Route(facts) == route, "row \(index)") }
        for (index, row) in rows.enumerated() { #expect(!rows[..<index].contains { $0.1 == row.1 }, "row \(index)") }
    }

    @Test func `of a verified manifest is an index only for a chain that broke off`() {
        #expect(Route(Self.version(.unasked, hasManifest: true)) == .documents)
        #expect(Route(Self.version(.missing, hasManifest: true, hasPack: true)) == .index)
        #expect(Route(Self.version(.damaged, hasManifest: true, hasPack: true)) == .documents)
    }

    @Test func `is objects where no server is left with the pack, and for a part with one file`() throws {
        #expect(Route(try Self.files(0..<20, of: Array(repeating: 100, count: 20), hasServer: false)) == .objects)
        #expect(Route(.part(files: 2, bytes: 10, hasServer: true)) == .packRanges)
        #expect(Route(.part(files: 1, bytes: 10, hasServer: true)) == .objects)
        #expect(Route(.part(files: 2, bytes: 0, hasServer: true)) == .objects)
        #expect(Route(.part(files: 2, bytes: 10, hasServer: false)) == .objects)
    }

    @Test func `without wanted signatures is the plain pack`() {
        #expect(Route(.packForm(wantsSignatures: false, lacksSigned: false)) == .plainPack)
    }
}
