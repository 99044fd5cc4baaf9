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

/// The version of each id that would be taken now.
///
/// Of those whose requirement the others do not meet the first by id is dropped, as long as there is one. An id is looked
/// at again only when what it relied on was dropped, so that this takes time in proportion to the list.
private struct Heads {
    private struct Content: Hashable {
        let id: PatchID
        let sha256: SHA256Digest
    }

    private var candidates: [PatchID: ArraySlice<PatchEntry>]
    /// Who has a version that would do with this content.
    private let relying: [Content: [PatchID]]
    private let ids: [PatchID]
    private let places: [PatchID: Int]
    private var isOpen: [Bool]
    /// No id before this place is open.
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

    /// By id.
    var entries: [PatchEntry] { ids.compactMap { candidates[$0]?.first } }

    /// The first id whose version requires what no other's is.
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

    /// Its next version stands for it, or nothing does.
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
