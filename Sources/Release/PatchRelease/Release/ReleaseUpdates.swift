import PatchCompression
package import PatchDelta
package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import ReleaseFolder
import SystemPackage

/// The download costs of an update for devices that have the versions of the previous release.
///
/// The packs are made like on a server, with the same budget, and are not kept.
package struct ReleaseUpdates: Sendable {
    /// A new bundle version and the version that a device updates from.
    package struct Pair: Equatable, Sendable {
        package let base: Label
        package let new: Label

        package init(base: Label, new: Label) {
            (self.base, self.new) = (base, new)
        }
    }

    private let old: SignedRelease
    private let new: SignedRelease
    private let oldContents: ReleaseContents
    private let newContents: ReleaseContents
    private let files: any FileOperations

    package init(
        from base: BaseRelease,
        to release: SignedRelease,
        _ contents: ReleaseContents,
        files: any FileOperations
    ) {
        (old, oldContents) = (base.release, base.contents)
        (new, newContents) = (release, contents)
        self.files = files
    }

    /// The new versions, each paired with the previous list's versions, except those that now precede it.
    package static func pairs(from old: ReleaseContents, to new: ReleaseContents) -> [Pair] {
        new.list.entries.filter { $0.kind == .bundle && !old.lists($0) }.flatMap { entry in
            let above = new.versions(of: entry.patchID).prefix { $0.label != entry.label }.map(\.fingerprint.sha256)
            return old.versions(of: entry.patchID).filter {
                $0.kind == .bundle && !above.contains($0.fingerprint.sha256)
            }.map { Pair(base: $0.label, new: entry.label) }
        }
    }

    /// The steps in list order, without those whose files are not available or exceed the budget.
    package func steps(progress: ProgressStart = { _ in { _ in } }) async -> [UpdateStep] {
        let pairs = Self.pairs(from: oldContents, to: newContents)
        let budget = PackBudget(pairs.map { missing(of: $0).reduce(0) { $0 + $1.size } })
        let steps = await mapOnAllCores(budget.kept.map { pairs[$0] }, chunk: 1, progress: progress) { pair in
            step(pair, budget.effort)
        }
        return steps.compactMap(\.self)
    }

    /// The contents of the new version that the base lacks, each once.
    private func missing(of pair: Pair) -> [Fingerprint] {
        let known = Set(oldContents.manifests[pair.base]?.assets.map(\.fingerprint) ?? [])
        return Set(newContents.manifests[pair.new]?.assets.map(\.fingerprint) ?? []).subtracting(known)
            .sorted { $0.sha256 < $1.sha256 }
    }

    private func step(_ pair: Pair, _ effort: PackMaker.Effort) -> UpdateStep? {
        guard let base = documents(of: pair.base, in: old, oldContents),
            let made = documents(of: pair.new, in: new, newContents),
            let assets = newContents.manifests[pair.new]?.assets
        else { return nil }
        do throws(PackError) {
            let (oldRows, newRows) = (try PackManifest(base.manifest), try PackManifest(made.manifest))
            let pack = BasePack(manifest: SHA256Digest(of: made.manifest), base: SHA256Digest(of: base.manifest))
            let maker = try PackMaker(
                base: oldRows,
                new: newRows,
                manifest: pack.manifest,
                objects: PackObjects { content($0).map(FileBytes.init) },
                effort: effort
            )
            let (_, summary) = try maker.make { _ in }
            let signatures = PackSignatures.bytes(
                from: oldRows,
                column: base.column,
                to: newRows,
                column: made.column
            )
            return UpdateStep(
                of: pair.new.patchID,
                from: pair.base.version,
                to: pair.new.version,
                by: pack,
                packBytes: summary.bytes,
                summary,
                signatures: signatures?.count,
                column: made.column.count,
                otherwise: otherwise(made, missing(of: pair), assets.map(\.fingerprint))
            )
        } catch { return nil }
    }

    private typealias Documents = (manifest: [UInt8], column: [UInt8])

    private func documents(of label: Label, in release: SignedRelease, _ contents: ReleaseContents) -> Documents? {
        let channel = contents.channel
        let manifest = TargetPath.manifest(channel: channel, patchID: label.patchID, version: label.version)
        let column = TargetPath.signatureColumn(channel: channel, patchID: label.patchID, version: label.version)
        guard let manifest = release.targets[manifest], let column = release.targets[column] else { return nil }
        return (manifest, column)
    }

    private func content(_ digest: SHA256Digest) -> (any FileReader)? {
        guard let path = new.objects[digest] ?? old.objects[digest] else { return nil }
        return try? files.open(path, limit: Limits.object)
    }

    // MARK: Without a pack

    private func otherwise(_ made: Documents, _ missing: [Fingerprint], _ all: [Fingerprint]) -> UpdateCost.Alternative
    {
        UpdateCost.otherwise(
            manifest: travelling([BytesInMemory(made.manifest)], size: made.manifest.count),
            column: travelling([BytesInMemory(made.column)], size: made.column.count),
            objects: missing.map { travelling([$0], size: $0.size) },
            // A device that needs few files never downloads the full pack.
            whole: missing.count < UpdateCost.leastOfWhole ? 0 : travelling(all, size: all.reduce(0) { $0 + $1.size })
        )
    }

    private func travelling(_ contents: [Fingerprint], size: Int) -> Int {
        travelling(contents.lazy.compactMap { content($0.sha256).map(FileBytes.init) }, size: size)
    }

    /// The compressed size of the concatenated bytes.
    ///
    /// Large contents are compressed with less effort than on a server.
    private func travelling(_ sources: some Sequence<some ByteSource>, size: Int) -> Int {
        let effort: Compressor.Effort = size > PackBudget.thorough ? .quick : .thorough
        guard let compressor = try? Compressor(.zstandard, size: size, effort: effort) else { return size }
        var bytes = 0
        for source in sources {
            while let piece = source.next() {
                guard let next = try? compressor.compress(piece) else { return size }
                bytes += next.count
            }
        }
        guard let end = try? compressor.finish() else { return size }
        return min(bytes + end.count, size)
    }
}

extension ReleaseContents {
    fileprivate func lists(_ entry: PatchEntry) -> Bool {
        versions(of: entry.patchID).contains { $0.fingerprint == entry.fingerprint }
    }
}
