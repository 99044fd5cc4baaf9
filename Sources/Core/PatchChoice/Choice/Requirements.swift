import PatchFormat

/// The requirements among the versions of a list, by the index of each id.
struct Requirements: Sendable {
    struct Need: Sendable {
        let id: PatchID
        /// The index of the required id, or nil if no version of it is listed or installed.
        let other: Int?
        /// The contents that meet the requirement.
        let digests: [SHA256Digest]
    }

    /// An id whose installed version is listed and requires another id's present content.
    struct Holder: Sendable {
        let id: Int
        let digests: [SHA256Digest]
    }

    private struct Content: Hashable {
        let id: Int
        let sha256: SHA256Digest
    }

    /// Ids with a version that requires another id, and the required ids.
    let linked: [Int]
    /// For each id, in ascending order: itself, ids with a version that requires it, and ids that a version of it requires.
    let neighbours: [[Int]]
    /// For each id, the ids that require its present content.
    let holders: [[Holder]]
    private let needs: [[[Need]]]
    private let relying: [Content: [Int]]

    /// - Parameter candidates: Sorted by id.
    init(of candidates: [Candidates]) {
        let places = Dictionary(uniqueKeysWithValues: candidates.enumerated().map { ($1.patchID, $0) })
        needs = candidates.map { candidate in
            candidate.versions.map { entry in
                entry.requires.isEmpty
                    ? []
                    : entry.requires.sorted { $0.key < $1.key }.map {
                        Need(id: $0.key, other: places[$0.key], digests: $0.value)
                    }
            }
        }
        var neighbours = candidates.indices.map { Set([$0]) }
        var relying: [Content: [Int]] = [:]
        var linked: Set<Int> = []
        var holders: [[Holder]] = Array(repeating: [], count: candidates.count)
        for (id, versions) in needs.enumerated() {
            for (version, needs) in versions.enumerated() where !needs.isEmpty {
                linked.insert(id)
                for need in needs {
                    guard let other = need.other else { continue }
                    linked.insert(other)
                    neighbours[id].insert(other)
                    neighbours[other].insert(id)
                    for sha256 in need.digests { relying[Content(id: other, sha256: sha256), default: []].append(id) }
                    if version == candidates[id].place, let had = candidates[other].current,
                        need.digests.contains(had.fingerprint.sha256)
                    {
                        holders[other].append(Holder(id: id, digests: need.digests))
                    }
                }
            }
        }
        self.linked = linked.sorted()
        self.neighbours = neighbours.map { $0.sorted() }
        self.relying = relying
        self.holders = holders
    }

    func needs(of id: Int, version: Int) -> [Need] { needs[id][version] }

    /// Ids with a version whose requirement this content of `id` meets.
    func relying(on sha256: SHA256Digest, of id: Int) -> [Int] {
        relying[Content(id: id, sha256: sha256)] ?? []
    }
}
