import PatchFormat

/// The packs in a tree, by their base and new version, as their indexes describe them.
struct PackIndexes {
    let documents: BundleDocuments
    private let files: [TreePath.File: TreeListing.File]
    /// The packs by the manifest that they produce, and by base.
    private var packs: [SHA256Digest: [SHA256Digest: PackIndex.Pack]] = [:]
    private var written: Set<SHA256Digest> = []

    init(_ listing: TreeListing) {
        (documents, files) = (BundleDocuments(listing), listing.files)
        for (file, found) in listing.files {
            switch file {
            case .basePack(let pack, .pack) where pack.base != pack.manifest:
                packs[pack.manifest, default: [:]][pack.base] = PackIndex.Pack(
                    base: pack.base,
                    size: found.size,
                    signatures: listing.files[.basePack(pack, .signatures)]?.size
                )
            case .packIndex(let manifest): written.insert(manifest)
            default: break
            }
        }
    }

    /// Every version that has packs or an index.
    var manifests: Set<SHA256Digest> { written.union(packs.keys) }

    /// The versions whose index mentions packs to these manifests.
    func reached(by manifests: Set<SHA256Digest>) -> Set<SHA256Digest> {
        manifests.union(packs.filter { !manifests.isDisjoint(with: $0.value.keys) }.keys)
    }

    func isWritten(_ manifest: SHA256Digest) -> Bool { written.contains(manifest) }

    /// The index of a version, or nil if no pack leads to it.
    ///
    /// The smallest packs are first, and are kept if there are too many. Of the first halves of chains, those whose base also has a
    /// direct pack are dropped first.
    ///
    /// - Parameter whole: the transfer size of the whole bundle's pack.
    func index(of manifest: SHA256Digest, whole: Int?) -> PackIndex? {
        guard let direct = packs[manifest] else { return nil }
        let outer = direct.values.sorted { $0.isBefore($1) }.prefix(Limits.rowsInPackIndex)
        var room = Limits.rowsInPackIndex - outer.count
        return PackIndex(
            whole: whole,
            from: outer.map { pack in
                let inner = (packs[pack.base] ?? [:]).values.filter { $0.base != manifest }
                let kept = inner.sorted { first, second in
                    let (isFirst, isSecond) = (direct[first.base] == nil, direct[second.base] == nil)
                    return isFirst == isSecond ? first.isBefore(second) : isFirst
                }.prefix(room)
                room -= kept.count
                return PackIndex.Row(
                    pack,
                    manifest: size(of: pack.base),
                    column: column(of: pack.base),
                    from: Array(kept)
                )
            }
        )
    }

    /// The first false statement of an index; nil if all are true.
    ///
    /// The index may omit packs and details on how to reach a base: packs are written before the index names them, and removed
    /// after it no longer does.
    func contradiction(to index: PackIndex, of manifest: SHA256Digest, whole: Int?) -> String? {
        if let announced = index.whole, announced != whole {
            return "its size of the whole bundle, \(Words.grouped(announced)) bytes, is wrong"
        }
        for row in index.from {
            let base = row.pack.base
            if let wrong = ([row.pack].first { packs[manifest]?[base] != $0 }).map({ ($0, manifest) })
                ?? row.from.first(where: { packs[base]?[$0.base] != $0 }).map({ ($0, base) })
            {
                let name = URLLayout.pack(BasePack(manifest: wrong.1, base: wrong.0.base), .pack)
                return "it names \(name), which is missing, or has another size or other signatures"
            }
            guard row.manifest == 0 || row.manifest == size(of: base),
                row.column == nil || row.column == column(of: base)
            else { return "its sizes of \(base) are wrong" }
        }
        return nil
    }

    /// The size of the smallest compressed form of the whole bundle's pack; nil if there is none.
    func wholeForm(of manifest: SHA256Digest) -> Int? {
        CompressionFormat.allCases.compactMap { files[.compressed(.pack(manifest), $0)]?.size }.min()
    }

    /// The manifest's size, or 0 if it does not exist.
    private func size(of manifest: SHA256Digest) -> Int {
        documents.manifests(manifest).first.flatMap { files[$0]?.size } ?? 0
    }

    /// The column of a version.
    ///
    /// Nil also if there are several, as the right one is unknown.
    private func column(of manifest: SHA256Digest) -> PackIndex.Column? {
        let columns = documents.columns(beside: documents.manifests(manifest)).filter { $0.digest != nil }
        guard let first = columns.first, let digest = first.digest, columns.allSatisfy({ $0.digest == digest }),
            let size = files[first]?.size
        else { return nil }
        return PackIndex.Column(sha256: digest, size: size)
    }
}

extension PackIndex.Pack {
    fileprivate func isBefore(_ other: PackIndex.Pack) -> Bool {
        (size + (signatures ?? 0), base) < (other.size + (other.signatures ?? 0), other.base)
    }
}

extension TreePath.File {
    /// Whether an index of packs depends on this file.
    var isInPackIndex: Bool {
        switch self {
        case .basePack, .target, .compressed(.pack, _): true
        case .timestamp, .root, .role, .object, .pack, .packIndex, .express, .gateway, .compressed: false
        }
    }
}
