package import PatchFormat

/// The changes of a release for its channel's devices, compared with its base.
package struct ReleaseDifference: Equatable, Sendable {
    package enum Change: Equatable, Sendable {
        case added(PatchEntry, files: [AssetPath]?)
        /// Another version is the newest.
        case version(from: PatchEntry, to: PatchEntry, files: BundleDifference?)
        /// The same version with other rules.
        case rules(from: PatchEntry, to: PatchEntry)
        case requirements(of: PatchEntry)
        /// The same version has another security advisory, or none any more.
        case security(from: PatchEntry, to: PatchEntry)
        /// The newest version is available over other wires than the previous one.
        case gateways(of: PatchEntry, before: [Gateway])
        /// A version behind the newest one was added or removed.
        case behind(PatchEntry, listed: Bool)
        /// The patch has no listed version any more.
        case withdrawn(PatchEntry)
        /// A version is withdrawn by name, and others of its patch are listed.
        case withdrawnForGood(PatchEntry)
        /// A version that the base did not list is withdrawn by name.
        case unlistedWithdrawn(WithdrawnVersion)
        case unchanged(PatchEntry)
    }

    package let changes: [Change]
    /// The changes for JSPatch's own clients.
    package let packages: [PackageChange]
    package let roleVersion: (from: Int?, to: Int)
    package let expires: UTCTime
    package let entryKeysAdded: [SHA256Digest]
    package let entryKeysRemoved: [SHA256Digest]
    /// Listed versions with a requirement that this release does not list.
    ///
    /// No device can newly install them.
    package let unmet: [Label]

    package init(from base: ReleaseContents?, to release: ReleaseContents) {
        var changes: [Change] = []
        let withdrawn = release.list.withdrawnContents
        for id in release.list.patchIDs {
            changes += Self.changes(of: id, from: base, to: release, withdrawn: withdrawn[id])
        }
        for id in base?.list.patchIDs ?? [] where release.versions(of: id).isEmpty {
            changes += (base?.versions(of: id) ?? []).map { .withdrawn($0) }
        }
        if let base {
            let removed = Set(base.list.entries.map(\.fingerprint.sha256))
            changes += release.newlyWithdrawn(since: base).filter { !removed.contains($0.sha256) }
                .map { .unlistedWithdrawn($0) }
        }
        self.changes = changes
        packages = PackageChange.all(from: base?.list.gateways ?? [], to: release.list.gateways)
        roleVersion = (base?.roleVersion, release.roleVersion)
        expires = release.expires
        entryKeysAdded = release.entryKeys.subtracting(base?.entryKeys ?? []).sorted()
        entryKeysRemoved = (base?.entryKeys ?? []).subtracting(release.entryKeys).sorted()
        unmet = release.list.entries.filter { !release.unmetRequirements(of: $0).isEmpty }.map(\.label)
    }

    private static func changes(
        of id: PatchID,
        from base: ReleaseContents?,
        to release: ReleaseContents,
        withdrawn: Set<SHA256Digest>?
    ) -> [Change] {
        let (old, new) = (base?.versions(of: id) ?? [], release.versions(of: id))
        guard let first = new.first else { return [] }
        guard let before = old.first, let base else {
            let added = new.map { Change.added($0, files: release.manifests[$0.label]?.assets.map(\.path)) }
            return added + (first.gateways.isEmpty ? [] : [.gateways(of: first, before: [])])
        }
        var changes: [Change] = []
        if before.label != first.label {
            var files: BundleDifference?
            if let from = base.manifests[before.label], let to = release.manifests[first.label] {
                files = BundleDifference(from: from, to: to)
            }
            changes.append(.version(from: before, to: first, files: files))
        }
        for entry in new {
            guard let known = base.entry(entry.label) else { continue }
            if known.rules != entry.rules { changes.append(.rules(from: known, to: entry)) }
            if known.requires != entry.requires { changes.append(.requirements(of: entry)) }
            if known.security != entry.security { changes.append(.security(from: known, to: entry)) }
        }
        if before.gateways != first.gateways { changes.append(.gateways(of: first, before: before.gateways)) }
        let oldBehind = old.filter { $0.label != before.label && $0.label != first.label }
        func gone(_ entry: PatchEntry) -> Change {
            withdrawn?.contains(entry.fingerprint.sha256) == true
                ? .withdrawnForGood(entry) : .behind(entry, listed: false)
        }
        changes += oldBehind.filter { release.entry($0.label) == nil }.map(gone)
        if before.label != first.label, release.entry(before.label) == nil { changes.append(gone(before)) }
        changes += new.dropFirst().filter { base.entry($0.label) == nil }.map { .behind($0, listed: true) }
        return changes.isEmpty ? [.unchanged(first)] : changes
    }

    package var isEmpty: Bool {
        entryKeysAdded.isEmpty && entryKeysRemoved.isEmpty && packages.isEmpty
            && changes.allSatisfy { change in
                if case .unchanged = change { true } else { false }
            }
    }

    package static func == (left: ReleaseDifference, right: ReleaseDifference) -> Bool {
        left.changes == right.changes && left.packages == right.packages && left.roleVersion == right.roleVersion
            && left.expires == right.expires
            && left.entryKeysAdded == right.entryKeysAdded && left.entryKeysRemoved == right.entryKeysRemoved
            && left.unmet == right.unmet
    }
}
