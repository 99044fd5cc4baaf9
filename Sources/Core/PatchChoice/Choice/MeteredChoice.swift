package import PatchFormat

/// Decides which versions are downloaded on a metered network, and which wait for an unmetered one.
///
/// A pure value. Mandatory versions, and those that they require, are always downloaded, and use up the allowance first. Of the
/// others, the cheapest ones that fit the remaining allowance are downloaded. Versions that require one another are downloaded
/// together, for their total cost, or not at all. Versions of unknown cost wait.
package struct MeteredChoice: Equatable, Sendable {
    /// A version to download.
    package struct Candidate: Equatable, Sendable {
        package let patchID: PatchID
        /// The bytes of its download, or nil if unknown.
        package let bytes: Int?
        /// Whether it is always downloaded.
        package let isMandatory: Bool
        package let requires: Set<PatchID>

        package init(patchID: PatchID, bytes: Int?, isMandatory: Bool, requires: Set<PatchID>) {
            (self.patchID, self.bytes, self.isMandatory, self.requires) = (patchID, bytes, isMandatory, requires)
        }
    }

    /// Versions that wait, by id.
    package private(set) var waiting: [PatchID: MeteredWait] = [:]

    /// - Parameters:
    ///   - candidates: The versions, at most one of each id.
    ///   - allowance: The allowance in bytes.
    package init(_ candidates: [Candidate], allowance: Int) {
        let byID = Dictionary(candidates.map { ($0.patchID, $0) }) { first, _ in first }
        var needed = Set(candidates.filter(\.isMandatory).map(\.patchID))
        var open = Array(needed)
        while let id = open.popLast() {
            for other in byID[id]?.requires ?? [] where byID[other] != nil && needed.insert(other).inserted {
                open.append(other)
            }
        }
        var left = allowance
        for id in needed { left = byID[id]?.bytes.map { max(0, left - $0) } ?? 0 }
        let groups = Self.groups(candidates.filter { !needed.contains($0.patchID) })
        let priced = groups.map { group in (group, cost: Self.cost(group)) }
        let sorted = priced.sorted {
            ($0.cost ?? .max, $0.0[0].patchID) < ($1.cost ?? .max, $1.0[0].patchID)
        }
        for (group, cost) in sorted {
            if let cost, cost <= left {
                left -= cost
                continue
            }
            let ids = group.map(\.patchID)
            for id in ids {
                waiting[id] = MeteredWait(cost: cost, left: left, together: ids.filter { $0 != id })
            }
        }
    }

    private static func cost(_ group: [Candidate]) -> Int? {
        group.reduce(0 as Int?) { sum, candidate in
            guard let sum, let bytes = candidate.bytes else { return nil }
            let (total, isTooMuch) = sum.addingReportingOverflow(bytes)
            return isTooMuch ? nil : total
        }
    }

    /// Groups of versions that require one another, directly or indirectly, sorted by id.
    private static func groups(_ candidates: [Candidate]) -> [[Candidate]] {
        var groups: [[Candidate]] = []
        for candidate in candidates.sorted(by: { $0.patchID < $1.patchID }) {
            let linked = { (other: Candidate) in
                candidate.requires.contains(other.patchID) || other.requires.contains(candidate.patchID)
            }
            let joined = groups.filter { $0.contains(where: linked) }
            groups.removeAll { $0.contains(where: linked) }
            groups.append((joined.flatMap(\.self) + [candidate]).sorted { $0.patchID < $1.patchID })
        }
        return groups
    }
}

/// Why a version waits for an unmetered network.
package struct MeteredWait: Equatable, Sendable {
    /// The total bytes of the versions to download together, or nil if unknown.
    package let cost: Int?
    /// The bytes that were left of the allowance.
    package let left: Int
    /// The ids of the versions that must be downloaded with it.
    package let together: [PatchID]

    package init(cost: Int?, left: Int, together: [PatchID] = []) {
        (self.cost, self.left, self.together) = (cost, left, together)
    }
}

extension MeteredWait: CustomStringConvertible {
    package var description: String {
        let all = "it" + together.map { " and \($0)" }.joined()
        guard let cost else { return "the download size is unknown" }
        let verb = together.isEmpty ? "costs" : "cost"
        return "\(all) \(verb) \(Words.grouped(cost)) bytes, and \(Words.grouped(left)) are left of the allowance"
    }
}
