package import PatchFormat

/// Why no selection can be made for an app to ship.
package enum EmbeddingProblem: Error, Equatable, Sendable {
    /// The list holds nothing that everybody may take.
    case nothing
    case notListed(PatchID, VersionLabel)
    case unmet(Label, requires: PatchID)
    /// Their folders would be one on a disk that does not tell cases apart.
    case sameFolder(PatchID, PatchID)
}

extension EmbeddingProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .nothing: "nothing in this release is for everybody"
        case .notListed(let id, let version): "\(id) \(version) is not in this release"
        case .unmet(let label, let other): "\(label) requires another version of \(other) than the one that is shipped"
        case .sameFolder(let one, let other): "\(one) and \(other) would share a folder on some disks"
        }
    }
}

/// What an app ships of a list: of each id one version.
///
/// Pure. Where nobody chose, the newest version whose rules keep it from no device: no rollout below 100 %, app
/// versions, condition, users or required dial. Versions that require others come with those or not at all.
package struct EmbeddedSelection: Equatable, Sendable {
    /// By id, in ascending order.
    package let entries: [PatchEntry]

    /// - Parameter chosen: versions that a person named, whatever their rules.
    package init(_ list: PatchList, chosen: [PatchID: VersionLabel] = [:]) throws(EmbeddingProblem) {
        var candidates: [PatchID: ArraySlice<PatchEntry>] = [:]
        for entry in list.entries {
            if let version = chosen[entry.patchID] ?? nil, entry.version != version { continue }
            guard chosen[entry.patchID] != nil || entry.rules.isForEveryone else { continue }
            candidates[entry.patchID, default: []].append(entry)
        }
        for (id, version) in chosen.sorted(by: { $0.key < $1.key }) where candidates[id] == nil {
            throw .notListed(id, version)
        }
        // Each round drops one version, so this ends.
        while let unmet = Self.unmet(candidates) {
            if let version = chosen[unmet.id] {
                throw .unmet(Label(patchID: unmet.id, version: version), requires: unmet.other)
            }
            candidates[unmet.id]?.removeFirst()
        }
        entries = candidates.values.compactMap(\.first).sorted { $0.patchID < $1.patchID }
        guard !entries.isEmpty else { throw .nothing }
        try checkFolders()
    }

    /// The first version at the head of its list whose requirement the other heads do not meet.
    private static func unmet(_ candidates: [PatchID: ArraySlice<PatchEntry>]) -> (id: PatchID, other: PatchID)? {
        for (id, versions) in candidates.sorted(by: { $0.key < $1.key }) {
            guard let entry = versions.first else { continue }
            for (other, digests) in entry.requires.sorted(by: { $0.key < $1.key }) {
                guard let head = candidates[other]?.first, digests.contains(head.fingerprint.sha256) else {
                    return (id, other)
                }
            }
        }
        return nil
    }

    private func checkFolders() throws(EmbeddingProblem) {
        var folders: [ExactString: PatchID] = [:]
        for entry in entries {
            if let other = folders.updateValue(entry.patchID, forKey: ExactString(entry.patchID.text.lowercased())) {
                throw .sameFolder(other, entry.patchID)
            }
        }
    }
}
