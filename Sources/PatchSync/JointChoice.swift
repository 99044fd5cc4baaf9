import PatchFormat

/// One choice over all patch ids: patches that require one another move together or not at all.
///
/// Every id begins with its own choice. Then, as long as one of these rules finds something, and always the first that
/// does:
///
/// 1. An installed patch whose requirement is withdrawn, or was replaced because it is not listed any more, counts as not
///    listed either.
/// 2. A version to take that requires what this device can get in no way is passed over.
/// 3. A version to take whose requirement is not met by what is chosen now is passed over.
/// 4. A version to take is passed over when what it replaces is still listed and an installed patch, kept and listed,
///    requires that.
///
/// In place of a version that is passed over the next one of its id is looked at. A requirement is met by what is kept as
/// well as by what is newly taken. What was never met is no reason to take anything away. Every step leaves fewer
/// versions to choose from, so it ends; ids are looked at in their order, so the same facts give the same choice.
package struct JointChoice: Sendable {
    private var candidates: [PatchID: Candidates]
    private let circumstances: Circumstances
    /// Ids with a version that requires this one, and ids that a version of this one requires.
    private var neighbours: [PatchID: Set<PatchID>] = [:]

    private enum Rule: CaseIterable {
        case lostRequirement, impossible, unmet, breaksInstalled
    }

    package init(_ candidates: [Candidates], under circumstances: Circumstances) {
        self.candidates = Dictionary(uniqueKeysWithValues: candidates.map { ($0.patchID, $0) })
        self.circumstances = circumstances
        for candidate in candidates {
            for other in candidate.versions.lazy.flatMap(\.requires.keys) {
                neighbours[candidate.patchID, default: []].insert(other)
                neighbours[other, default: []].insert(candidate.patchID)
            }
        }
        settle()
    }

    /// By id.
    package var decisions: [Decision] {
        candidates.values.map(\.decision).sorted { $0.patchID < $1.patchID }
    }

    private mutating func settle() {
        let all = neighbours.keys.filter { candidates[$0] != nil }.sorted()
        var agendas = Rule.allCases.map { (rule: $0, agenda: Agenda(all)) }
        while let turn = agendas.firstIndex(where: { !$0.agenda.isEmpty }) {
            let id = agendas[turn].agenda.removeFirst()
            guard apply(agendas[turn].rule, to: id) else { continue }
            let touched = neighbours[id, default: []].union([id]).filter { candidates[$0] != nil }.sorted()
            for index in agendas.indices { agendas[index].agenda.add(touched) }
        }
    }

    /// Whether the rule changed something of this id.
    private mutating func apply(_ rule: Rule, to id: PatchID) -> Bool {
        guard let mine = candidates[id] else { return false }
        switch rule {
        case .lostRequirement:
            guard let lost = lostRequirement(of: mine) else { return false }
            candidates[id]?.loseCurrent(because: lost, under: circumstances)
        case .impossible, .unmet, .breaksInstalled:
            guard case .take(let entry, over: let current) = mine.choice else { return false }
            let why =
                switch rule {
                case .impossible: unmet(of: entry) { other, digests in candidates[other]?.couldBe(digests) ?? false }
                case .unmet: unmet(of: entry, by: isMet)
                case .breaksInstalled, .lostRequirement: broken(by: entry, over: current, of: mine)
                }
            guard let why else { return false }
            var isHeldBack = false
            if case .unmet(let other, _) = why, let digests = entry.requires[other] {
                isHeldBack = candidates[other]?.isHeldBack(digests) ?? false
            }
            candidates[id]?.passOverPicked(because: why, isHeldBack: isHeldBack)
        }
        return true
    }

    private func lostRequirement(of mine: Candidates) -> NotEligible? {
        guard case .keep = mine.choice, let entry = mine.listedCurrent else { return nil }
        return unmet(of: entry) { other, digests in
            guard let theirs = candidates[other], let had = theirs.current,
                digests.contains(had.fingerprint.sha256), theirs.place == nil
            else { return true }
            return isMet(other, digests)
        }
    }

    private func broken(by entry: PatchEntry, over current: InstalledPatch?, of mine: Candidates) -> NotEligible? {
        guard let current, mine.place != nil else { return nil }
        for other in neighbours[mine.patchID, default: []].sorted() {
            guard let theirs = candidates[other], case .keep(let kept) = theirs.choice,
                let digests = theirs.listedCurrent?.requires[mine.patchID],
                digests.contains(current.fingerprint.sha256), !digests.contains(entry.fingerprint.sha256)
            else { continue }
            return .breaks(kept.label)
        }
        return nil
    }

    private func isMet(_ id: PatchID, _ digests: [SHA256Digest]) -> Bool {
        candidates[id]?.choice.content.map { digests.contains($0.sha256) } ?? false
    }

    private func unmet(of entry: PatchEntry, by isMet: (PatchID, [SHA256Digest]) -> Bool) -> NotEligible? {
        for (id, digests) in entry.requires.sorted(by: { $0.key < $1.key }) where !isMet(id, digests) {
            return .unmet(requires: id, because: candidates[id]?.obstacle(to: digests))
        }
        return nil
    }
}

/// Ids to look at, each once at a time, in the order in which they came.
private struct Agenda {
    private var ids: [PatchID]
    private var next = 0
    private var waiting: Set<PatchID>

    init(_ ids: [PatchID]) {
        self.ids = ids
        waiting = Set(ids)
    }

    var isEmpty: Bool { waiting.isEmpty }

    mutating func add(_ more: [PatchID]) {
        ids += more.filter { waiting.insert($0).inserted }
    }

    mutating func removeFirst() -> PatchID {
        defer { next += 1 }
        waiting.remove(ids[next])
        return ids[next]
    }
}
