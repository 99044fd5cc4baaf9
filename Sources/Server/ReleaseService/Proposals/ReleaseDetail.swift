package import PatchFormat
package import PatchServer

/// One release for display: its history entry, its sizes, and its difference to the previous release.
package struct ReleaseDetail: Equatable, Sendable {
    package let entry: HistoryEntry
    /// Nil for the first release in the history.
    package let before: HistoryEntry?
    /// The sizes of versions whose files are still in the tree.
    package let sizes: [Label: VersionSize]

    package init(entry: HistoryEntry, before: HistoryEntry?, sizes: [Label: VersionSize]) {
        (self.entry, self.before, self.sizes) = (entry, before, sizes)
    }

    package var difference: HistoryDifference { HistoryDifference(from: before, to: entry) }

    package var json: JSON {
        let patches = entry.patches.map { patch in
            let size = sizes[patch.label]
            return patch.json.adding([
                ("size", (size?.bytes).map { .integer($0) }), ("files", (size?.files).map { .integer($0) }),
            ])
        }
        return entry.json.adding([
            ("patches", .array(patches)), ("previous", (before?.roleVersion).map { .integer($0) }),
            ("difference", difference.json),
        ])
    }
}

/// The difference between the lists of a release and of the previous one.
package struct HistoryDifference: Equatable, Sendable {
    package struct ShareChange: Equatable, Sendable {
        package let label: Label
        /// The signed ceilings, in devices of 10,000.
        package let from: Int
        package let to: Int
    }

    /// Newly listed versions, in the order of the list.
    package let added: [Label]
    /// Versions no longer listed.
    package let removed: [Label]
    package let shares: [ShareChange]
    /// Versions that the release permanently withdrew.
    package let withdrawn: [Label]

    /// - Parameter before: nil for the first release of a channel.
    package init(from before: HistoryEntry?, to after: HistoryEntry) {
        let old = Dictionary((before?.patches ?? []).map { ($0.label, $0.rollout) }) { first, _ in first }
        let new = Set(after.patches.map(\.label))
        added = after.patches.map(\.label).filter { old[$0] == nil }
        removed = (before?.patches ?? []).map(\.label).filter { !new.contains($0) }
        withdrawn = after.withdrawn
        shares = after.patches.compactMap { patch in
            guard let share = old[patch.label], share != patch.rollout else { return nil }
            return ShareChange(label: patch.label, from: share, to: patch.rollout)
        }
    }

    package var isEmpty: Bool { added.isEmpty && removed.isEmpty && shares.isEmpty && withdrawn.isEmpty }

    package var json: JSON {
        .fields([
            ("added", .array(added.map(\.json))), ("removed", .array(removed.map(\.json))),
            (
                "rollout",
                .array(
                    shares.map { change in
                        change.label.json.adding([("from", .integer(change.from)), ("to", .integer(change.to))])
                    }
                )
            ), ("withdrawn", withdrawn.isEmpty ? nil : .array(withdrawn.map(\.json))),
        ])
    }

    /// The limit of versions in an audit entry, each as `web 2.1.0`; the history has the rest.
    private static let auditedLimit = 20

    /// The members for an audit entry.
    var audited: [(String, JSON?)] {
        func names(_ labels: [Label]) -> JSON? {
            labels.isEmpty ? nil : .array(labels.prefix(Self.auditedLimit).map { .text($0.description) })
        }
        let lists = [added, removed, withdrawn]
        // A withdrawn version is usually removed too, and counts once.
        let left = Set(lists.joined()).count - Set(lists.flatMap { $0.prefix(Self.auditedLimit) }).count
        return [
            ("added", names(added)), ("removed", names(removed)), ("withdrawn", names(withdrawn)),
            ("more", left == 0 ? nil : .integer(left)),
        ]
    }
}

extension Label {
    var json: JSON {
        .fields([("patchId", .text(patchID.text)), ("version", .text(version.text))])
    }
}
