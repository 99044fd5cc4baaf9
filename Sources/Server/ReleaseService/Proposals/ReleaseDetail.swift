package import PatchFormat
package import PatchServer

/// One release as people read it back: its history entry, its sizes, and its difference to the release before.
package struct ReleaseDetail: Equatable, Sendable {
    package let entry: HistoryEntry
    /// Nil for the first release that the history knows.
    package let before: HistoryEntry?
    /// Of versions whose files the tree still has.
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

/// How the list of a release differs from that of the release before it.
package struct HistoryDifference: Equatable, Sendable {
    package struct ShareChange: Equatable, Sendable {
        package let label: Label
        /// The signed ceilings, in devices of 10,000.
        package let from: Int
        package let to: Int
    }

    /// Versions that were not listed before, in the order of the list.
    package let added: [Label]
    /// Versions that are listed no more.
    package let removed: [Label]
    package let shares: [ShareChange]

    /// - Parameter before: nil for the first release of a channel.
    package init(from before: HistoryEntry?, to after: HistoryEntry) {
        let old = Dictionary((before?.patches ?? []).map { ($0.label, $0.rollout) }) { first, _ in first }
        let new = Set(after.patches.map(\.label))
        added = after.patches.map(\.label).filter { old[$0] == nil }
        removed = (before?.patches ?? []).map(\.label).filter { !new.contains($0) }
        shares = after.patches.compactMap { patch in
            guard let share = old[patch.label], share != patch.rollout else { return nil }
            return ShareChange(label: patch.label, from: share, to: patch.rollout)
        }
    }

    package var isEmpty: Bool { added.isEmpty && removed.isEmpty && shares.isEmpty }

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
            ),
        ])
    }

    /// The versions that an audit entry names, each as `web 2.1.0`; the history has the rest.
    private static let auditedLimit = 20

    /// Members of an audit entry.
    var audited: [(String, JSON?)] {
        func names(_ labels: [Label]) -> JSON? {
            labels.isEmpty ? nil : .array(labels.prefix(Self.auditedLimit).map { .text($0.description) })
        }
        let left = max(0, added.count - Self.auditedLimit) + max(0, removed.count - Self.auditedLimit)
        return [("added", names(added)), ("removed", names(removed)), ("more", left == 0 ? nil : .integer(left))]
    }
}

extension Label {
    fileprivate var json: JSON {
        .fields([("patchId", .text(patchID.text)), ("version", .text(version.text))])
    }
}
