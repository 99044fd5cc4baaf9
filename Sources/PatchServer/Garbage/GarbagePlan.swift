import PatchFormat
import ReleaseTree

/// What goes from one app's folder, and in which order.
///
/// What refers comes before what is referred to: stopped anywhere, everything that is left has all that it needs, and the
/// next collection takes up the rest.
package struct GarbagePlan: Equatable, Sendable {
    package enum Stage: String, CaseIterable, Sendable {
        case snapshots, roles, targets, objects, drafts
    }

    package struct Item: Hashable, Sendable {
        enum Location: Hashable, Sendable {
            case tree(TreePath.File)
            case draft(ChannelName, version: Int)
        }

        let place: Location
        /// Below the server's folder.
        package let path: String
        /// In bytes; of a draft that of its documents and objects together.
        package let size: Int
    }

    package internal(set) var items: [Stage: [Item]] = [:]

    package var isEmpty: Bool { items.values.allSatisfy(\.isEmpty) }
    package var count: Int { items.values.reduce(0) { $0 + $1.count } }
    package var bytes: Int { items.values.joined().reduce(0) { $0 + $1.size } }

    /// - Parameters:
    ///   - kept: which roles stay.
    ///   - needed: what those need.
    ///   - pinned: what something outside the tree leans on, such as a draft.
    ///   - horizon: what was written after it stays, whoever needs it: a publish that was interrupted may go on.
    init(
        _ listing: TreeListing,
        of app: AppID,
        keeping kept: KeptRoles,
        and needed: RoleContents,
        pinned: GarbagePins,
        horizon: UTCTime
    ) {
        for (file, found) in listing.files where found.modified <= horizon {
            guard let stage = Self.stage(of: file, kept, needed, pinned) else { continue }
            let path = "tree/\(app)/\(TreePath(app, file).path)"
            items[stage, default: []].append(Item(place: .tree(file), path: path, size: found.size))
        }
        for stage in Stage.allCases { items[stage]?.sort { $0.path < $1.path } }
    }

    /// Nil for what stays.
    private static func stage(
        of file: TreePath.File,
        _ kept: KeptRoles,
        _ needed: RoleContents,
        _ pinned: GarbagePins
    ) -> Stage? {
        switch file {
        case .timestamp, .root: nil
        case .role(let name, _): kept.contains(file) ? nil : name == "snapshot" ? .snapshots : .roles
        case .target: needed.targets[file] == nil && !pinned.targets.contains(file) ? .targets : nil
        case .object(let digest): needed.objects[digest] == nil && !pinned.objects.contains(digest) ? .objects : nil
        }
    }

    /// The first of what is left to remove, all of one stage.
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
    /// What a person calls it: `snapshot`, `production`, `object`.
    package var kind: String {
        switch place {
        case .tree(.role(let name, _)): name
        case .tree(.target): "target"
        case .tree(.object): "object"
        case .tree(.timestamp): "timestamp"
        case .tree(.root): "root"
        case .draft: "draft"
        }
    }
}
