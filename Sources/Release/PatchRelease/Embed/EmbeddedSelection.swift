package import PatchFormat

/// The reason why no selection can be made for an app.
package enum EmbeddingProblem: Error, Equatable, Sendable {
    /// The list contains no version for all devices.
    case nothing
    case notListed(PatchID, VersionLabel)
    case unmet(Label, requires: PatchID)
    /// Two ids whose folders collide on a file system that ignores case.
    case sameFolder(PatchID, PatchID)
}

extension EmbeddingProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .nothing: "no version of this release is for all devices"
        case .notListed(let id, let version): "\(id) \(version) is not in this release"
        case .unmet(let label, let other): "\(label) requires another version of \(other) than the embedded one"
        case .sameFolder(let one, let other): "\(one) and \(other) would share a folder on some disks"
        }
    }
}

/// The versions that an app embeds from a list: one version per id.
///
/// Pure. The default is the newest version whose rules exclude no device: no rollout below 100 %, app versions, condition, users
/// or required dial. A version that requires others is embedded only together with them.
package struct EmbeddedSelection: Equatable, Sendable {
    /// In ascending order of ids.
    package let entries: [PatchEntry]

    /// - Parameter chosen: Versions that the user named. Their rules are ignored.
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
        var heads = Heads(candidates)
        while let unmet = heads.nextUnmet() {
            if let version = chosen[unmet.id] {
                throw .unmet(Label(patchID: unmet.id, version: version), requires: unmet.other)
            }
            heads.drop(unmet.id)
        }
        entries = heads.entries
        guard !entries.isEmpty else { throw .nothing }
        try checkFolders()
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

/// The current candidate of each id.
///
/// While a candidate lacks a requirement, the first such id drops its candidate. An id is checked again only after a version it
/// relied on was dropped, so the total time is proportional to the list's size.
private struct Heads {
    private struct Content: Hashable {
        let id: PatchID
        let sha256: SHA256Digest
    }

    private var candidates: [PatchID: ArraySlice<PatchEntry>]
    /// The ids with a version that accepts this content as a requirement.
    private let relying: [Content: [PatchID]]
    private let ids: [PatchID]
    private let places: [PatchID: Int]
    private var isOpen: [Bool]
    /// All ids before this index are closed.
    private var firstOpen = 0

    init(_ candidates: [PatchID: ArraySlice<PatchEntry>]) {
        self.candidates = candidates
        ids = candidates.keys.sorted()
        places = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
        isOpen = Array(repeating: true, count: ids.count)
        var relying: [Content: [PatchID]] = [:]
        for entry in candidates.values.joined() {
            for (other, digests) in entry.requires {
                for sha256 in digests { relying[Content(id: other, sha256: sha256), default: []].append(entry.patchID) }
            }
        }
        self.relying = relying
    }

    /// The current candidates, in order of ids.
    var entries: [PatchEntry] { ids.compactMap { candidates[$0]?.first } }

    /// The first id with an unmet requirement, and the required id.
    mutating func nextUnmet() -> (id: PatchID, other: PatchID)? {
        while firstOpen < ids.count {
            if isOpen[firstOpen], let other = unmet(ids[firstOpen]) { return (ids[firstOpen], other) }
            isOpen[firstOpen] = false
            firstOpen += 1
        }
        return nil
    }

    private func unmet(_ id: PatchID) -> PatchID? {
        candidates[id]?.first?.requires.sorted { $0.key < $1.key }.first { other, digests in
            guard let head = candidates[other]?.first else { return true }
            return !digests.contains(head.fingerprint.sha256)
        }?.key
    }

    /// Replaces the id's candidate by its next version, if any.
    mutating func drop(_ id: PatchID) {
        guard let head = candidates[id]?.popFirst() else { return }
        for other in relying[Content(id: id, sha256: head.fingerprint.sha256)] ?? [] { open(other) }
        open(id)
    }

    private mutating func open(_ id: PatchID) {
        guard let place = places[id] else { return }
        isOpen[place] = true
        firstOpen = min(firstOpen, place)
    }
}
