import PatchFormat

/// The files to remove from one app's folder, in order.
///
/// Referrers precede the files that they refer to. After an interruption, every remaining file has all files that it needs, and the
/// next collection removes the rest.
package struct GarbagePlan: Equatable, Sendable {
    package enum Stage: String, CaseIterable, Sendable {
        case compressed, snapshots, roles, targets, objects, drafts
    }

    package struct Item: Hashable, Sendable {
        enum Location: Hashable, Sendable {
            case tree(TreePath.File)
            case draft(ChannelName, version: Int)
        }

        let place: Location
        /// The path relative to the server's folder.
        package let path: String
        /// The size in bytes; for a draft, that of its documents and objects together.
        package let size: Int
    }

    package internal(set) var items: [Stage: [Item]] = [:]

    package var isEmpty: Bool { items.values.allSatisfy(\.isEmpty) }
    package var count: Int { items.values.reduce(0) { $0 + $1.count } }
    package var bytes: Int { items.values.joined().reduce(0) { $0 + $1.size } }

    /// - Parameters:
    ///   - kept: which roles stay.
    ///   - needed: the files that those roles need.
    ///   - pinned: files needed outside the tree, such as by a draft.
    ///   - horizon: files written after it always stay: an interrupted publish may resume.
    init(
        _ listing: TreeListing,
        of app: AppID,
        keeping kept: KeptRoles,
        and needed: RoleContents,
        pinned: GarbagePins,
        horizon: UTCTime
    ) {
        let manifests = Set(needed.targets.keys.compactMap { $0.manifest }).union(pinned.targets.compactMap(\.manifest))
        for (file, found) in listing.files where found.modified <= horizon {
            guard let stage = Self.stage(of: file, kept, needed, manifests, pinned) else { continue }
            let path = "tree/\(app)/\(TreePath(app, file).path)"
            items[stage, default: []].append(Item(place: .tree(file), path: path, size: found.size))
        }
        for stage in Stage.allCases { items[stage]?.sort { $0.path < $1.path } }
    }

    /// Adds derived files that devices no longer request; see ``UsableForms``.
    mutating func add(_ unused: [TreePath.File], from listing: TreeListing, of app: AppID) {
        let known = Set(items.values.joined().map(\.path))
        for file in unused {
            let path = "tree/\(app)/\(TreePath(app, file).path)"
            guard !known.contains(path), let size = listing.files[file]?.size else { continue }
            items[.compressed, default: []].append(Item(place: .tree(file), path: path, size: size))
        }
        items[.compressed]?.sort { $0.path < $1.path }
    }

    /// The stage that removes a file, or nil if the file stays.
    private static func stage(
        of file: TreePath.File,
        _ kept: KeptRoles,
        _ needed: RoleContents,
        _ manifests: Set<SHA256Digest>,
        _ pinned: GarbagePins
    ) -> Stage? {
        switch file {
        case .compressed(let plain, _): stage(of: plain, kept, needed, manifests, pinned).map { _ in .compressed }
        case .pack(let manifest): manifests.contains(manifest) ? nil : .objects
        case .basePack(let pack, _): manifests.contains(pack.manifest) ? nil : .compressed
        case .packIndex(let manifest): manifests.contains(manifest) ? nil : .compressed
        case .timestamp, .root, .express, .gateway: nil
        case .role(let name, _): kept.contains(file) ? nil : name == "snapshot" ? .snapshots : .roles
        case .target: needed.targets[file] == nil && !pinned.targets.contains(file) ? .targets : nil
        case .object(let digest): needed.objects[digest] == nil && !pinned.objects.contains(digest) ? .objects : nil
        }
    }

    /// The first items left to remove, all of one stage.
    func next(upTo limit: Int) -> (stage: Stage, items: [Item])? {
        for stage in Stage.allCases {
            if let items = items[stage], !items.isEmpty { return (stage, Array(items.prefix(limit))) }
        }
        return nil
    }

    mutating func drop(_ count: Int, of stage: Stage) {
        items[stage]?.removeFirst(count)
    }
}

extension GarbagePlan.Item {
    /// The kind of file in words: `snapshot`, `production`, `object`.
    package var kind: String {
        switch place {
        case .tree(.role(let name, _)): name
        case .tree(.target): "target"
        case .tree(.object): "object"
        case .tree(.pack), .tree(.basePack): "pack"
        case .tree(.packIndex): "pack index"
        case .tree(.compressed): "compressed form"
        case .tree(.timestamp): "timestamp"
        case .tree(.root): "root"
        case .tree(.express): "express"
        case .tree(.gateway): "gateway"
        case .draft: "draft"
        }
    }
}

extension TreePath.File {
    /// The digest of a manifest; nil for other files.
    var manifest: SHA256Digest? {
        if case .target(let path, let digest) = self, path.isManifest { digest } else { nil }
    }
}
