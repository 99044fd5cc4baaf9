import PatchFormat

/// Which packs a tree has, by the versions that they lead between: what their indexes say.
struct PackIndexes {
    let documents: BundleDocuments
    private let files: [TreePath.File: TreeListing.File]
    /// By the manifest that they make, and by base.
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

    /// Every version that packs lead to, or that has an index.
    var manifests: Set<SHA256Digest> { written.union(packs.keys) }

    /// Those whose index says something of packs that lead to these.
    func reached(by manifests: Set<SHA256Digest>) -> Set<SHA256Digest> {
        manifests.union(packs.filter { !manifests.isDisjoint(with: $0.value.keys) }.keys)
    }

    func isWritten(_ manifest: SHA256Digest) -> Bool { written.contains(manifest) }

    /// Nil where no pack leads to it.
    ///
    /// The smallest packs come first, and stay where there are too many. Of the first halves of chains, those go first from
    /// whose base a pack leads at once.
    ///
    /// - Parameter whole: what the pack of the whole bundle has as it travels.
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

    /// The first thing that an index says and that is not so; nil where all is.
    ///
    /// It may lack packs, and what says how a base can be reached: those stand before they are named, and go after.
    func contradiction(to index: PackIndex, of manifest: SHA256Digest, whole: Int?) -> String? {
        if let said = index.whole, said != whole {
            return "it says that the whole bundle travels as \(Words.grouped(said)) bytes, which it does not"
        }
        for row in index.from {
            let base = row.pack.base
            if let wrong = ([row.pack].first { packs[manifest]?[base] != $0 }).map({ ($0, manifest) })
                ?? row.from.first(where: { packs[base]?[$0.base] != $0 }).map({ ($0, base) })
            {
                let name = URLLayout.pack(BasePack(manifest: wrong.1, base: wrong.0.base), .pack)
                return "it names \(name), which is not there, or has another size, or other signatures"
            }
            guard row.manifest == 0 || row.manifest == size(of: base),
                row.column == nil || row.column == column(of: base)
            else { return "it says of \(base) what that does not have" }
        }
        return nil
    }

    /// The size of the smallest compressed form of the pack of the whole bundle; nil where there is none.
    func wholeForm(of manifest: SHA256Digest) -> Int? {
        CompressionFormat.allCases.compactMap { files[.compressed(.pack(manifest), $0)]?.size }.min()
    }

    /// 0 where it is not there.
    private func size(of manifest: SHA256Digest) -> Int {
        documents.manifests(manifest).first.flatMap { files[$0]?.size } ?? 0
    }

    /// Nil also where there are several: which of them is meant is not known.
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
    /// Whether an index of packs says something of it.
    var isInPackIndex: Bool {
        switch self {
        case .basePack, .target, .compressed(.pack, _): true
        case .timestamp, .root, .role, .object, .pack, .packIndex, .express, .gateway, .compressed: false
        }
    }
}
