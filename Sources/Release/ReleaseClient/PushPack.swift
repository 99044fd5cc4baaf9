import PatchDelta
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// A bundle of a release, as a pack from a version of an earlier release that the server has.
struct PushPack: Sendable {
    let pack: BasePack
    private let base: (manifest: [UInt8], column: [UInt8])
    private let new: (manifest: [UInt8], column: [UInt8])
    private let objects: @Sendable (SHA256Digest) -> FilePath?
    private let files: any FileOperations

    /// The upload: the pack and the signatures that the base lacks.
    struct Body: Sendable {
        let pack: Int
        let bytes: [UInt8]
    }

    /// The maximum size.
    ///
    /// Larger updates are sent in parts, which are read from the disk and can be resumed.
    static let limit = 64_000_000
    private let limit: Int

    /// One pack for each bundle that the server lacks, if the earlier release has a version of it.
    static func all(
        for bases: [SHA256Digest: [SHA256Digest]],
        from old: SignedRelease,
        to release: SignedRelease,
        limit: Int,
        files: any FileOperations
    ) -> [PushPack] {
        let known = Dictionary(old.documents.map { ($0.digest, ($0.manifest, $0.column)) }) { first, _ in first }
        return release.documents.compactMap { document in
            guard let base = bases[document.digest]?.first(where: { known[$0] != nil }), let earlier = known[base]
            else {
                return nil
            }
            return PushPack(
                pack: BasePack(manifest: document.digest, base: base),
                base: earlier,
                new: (document.manifest, document.column),
                objects: { release.objects[$0] ?? old.objects[$0] },
                files: files,
                limit: limit
            )
        }
    }

    /// Returns nil if no pack can be made, for example because files are missing.
    ///
    /// The parts are sent then.
    @concurrent
    func body() async -> Body? {
        do throws(PackError) {
            let (oldRows, newRows) = (try PackManifest(base.manifest), try PackManifest(new.manifest))
            let old = Set(oldRows.fingerprints)
            let missing = newRows.fingerprints.reduce(0) { $0 + (old.contains($1) ? 0 : $1.size) }
            let budget = PackBudget([missing])
            guard !budget.kept.isEmpty else { return nil }
            let maker = try PackMaker(
                base: oldRows,
                new: newRows,
                manifest: pack.manifest,
                objects: PackObjects { digest in
                    objects(digest).flatMap { try? files.open($0, limit: Limits.object) }.map(FileBytes.init)
                },
                effort: budget.effort
            )
            var groups: [UInt8] = []
            let (head, summary) = try maker.make { if groups.count <= limit { groups += $0 } }
            guard summary.bytes <= limit else { return nil }
            let signatures = PackSignatures.bytes(from: oldRows, column: base.column, to: newRows, column: new.column)
            return Body(pack: summary.bytes, bytes: head + groups + (signatures ?? []))
        } catch { return nil }
    }
}

extension SignedRelease {
    /// The documents of each bundle, by name.
    fileprivate var documents: [(digest: SHA256Digest, manifest: [UInt8], column: [UInt8])] {
        targets.sorted { $0.key < $1.key }.compactMap { path, bytes in
            guard let column = path.columnBeside.flatMap({ targets[$0] }) else { return nil }
            return (SHA256Digest(of: bytes), bytes, column)
        }
    }
}
