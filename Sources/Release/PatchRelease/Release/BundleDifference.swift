package import PatchFormat

/// The differences between two manifests of one bundle.
package struct BundleDifference: Equatable, Sendable {
    package let added: [AssetPath]
    package let changed: [AssetPath]
    package let removed: [AssetPath]
    package let unchanged: Int
    /// The size of the contents that the old version lacks, in bytes.
    ///
    /// A device that has it must fetch these.
    package let bytesToFetch: Int
    /// The members of the manifest, other than its files, that differ.
    package let members: [String]

    package init(from old: AssetManifest, to new: AssetManifest) {
        let before = Dictionary(old.assets.map { ($0.path, $0) }) { first, _ in first }
        let after = Set(new.assets.map(\.path))
        added = new.assets.map(\.path).filter { before[$0] == nil }
        changed = new.assets.filter { before[$0.path] != nil && before[$0.path]?.fingerprint != $0.fingerprint }.map(
            \.path
        )
        removed = old.assets.map(\.path).filter { !after.contains($0) }
        unchanged = new.assets.count - added.count - changed.count
        var had = Set(old.assets.map(\.fingerprint.sha256))
        bytesToFetch = new.assets.reduce(0) { sum, asset in
            had.insert(asset.fingerprint.sha256).inserted ? sum + asset.fingerprint.size : sum
        }
        let same: [(String, Bool)] = [
            ("commit", old.commit == new.commit), ("compatibility", old.compatibility == new.compatibility),
            ("index", old.index == new.index), ("routes", old.routes == new.routes),
            ("routing", old.routing == new.routing), ("headers", old.headers == new.headers),
            ("created", old.created == new.created),
            (
                "file attributes",
                new.assets.allSatisfy { asset in
                    before[asset.path].map { $0.fingerprint != asset.fingerprint || $0 == asset } ?? true
                }
            ),
        ]
        members = same.filter { !$0.1 }.map(\.0)
    }

    /// `app/a.js changed, app/b.js removed`: the first differences, three files at most.
    package var first: String {
        let files = added.map { "\($0) added" } + changed.map { "\($0) changed" } + removed.map { "\($0) removed" }
        let all = files + members.map { "other \($0)" }
        let rest = all.count > 3 ? " and \(Words.grouped(all.count - 3)) more" : ""
        return all.prefix(3).joined(separator: ", ") + rest
    }

    /// `2 files added, 1 changed, 0 removed, 30 unchanged; 4,096 bytes to fetch`.
    package var words: String {
        let files =
            "\(Words.count(added.count, "file")) added, \(changed.count) changed, \(removed.count) removed, "
            + "\(unchanged) unchanged; \(Words.bytes(bytesToFetch)) to fetch"
        let others = members.filter { $0 != "created" }
        return others.isEmpty ? files : "\(files); other \(others.joined(separator: ", "))"
    }
}
