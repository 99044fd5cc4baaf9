import PatchFormat

/// One choice over all patch ids: patches that require one another change together or not at all.
///
/// Every id begins with its own choice. Then the first of these rules that applies is applied, until none applies:
///
/// 1. An installed patch counts as not listed if its requirement is withdrawn, or was replaced because it is no longer listed.
/// 2. A version to take is passed over if this device cannot get a version that it requires.
/// 3. A version to take is passed over if the present choices do not meet its requirement.
/// 4. A version to take is passed over if it replaces a listed version that an installed patch, kept and listed, requires.
///
/// A version that is passed over is replaced by the next one of its id. Kept and newly taken versions both meet requirements.
/// A requirement that was never met removes no version. Every step leaves fewer versions to choose from, so the process ends.
/// Ids are visited in their order, so the same facts give the same choice.
///
/// Ids are visited again whenever one that they are linked with changed, but are examined only if that can make a difference.
/// The work is therefore proportional to the list, regardless of how its entries require one another.
package struct JointChoice: Sendable {
    /// Sorted by id.
    private var candidates: [Candidates]
    private let context: EligibilityContext
    private let requirements: Requirements
    /// The ids for which a rule may still apply, by rule.
    private var isOpen: [[Bool]]
    /// The number of times that a rule was applied to an id, as a measure of the work.
    private(set) var examined = 0

    private enum Rule: Int, CaseIterable {
        case lostRequirement, impossible, unmet, breaksInstalled
    }

    package init(_ candidates: [Candidates], under context: EligibilityContext) {
        self.candidates = candidates.sorted { $0.patchID < $1.patchID }
        self.context = context
        requirements = Requirements(of: self.candidates)
        isOpen = Rule.allCases.map { _ in Array(repeating: true, count: candidates.count) }
        settle()
    }

    /// Sorted by id.
    package var decisions: [Decision] { candidates.map(\.decision) }

    private mutating func settle() {
        var agendas = Rule.allCases.map { (rule: $0, agenda: Agenda(requirements.linked, of: candidates.count)) }
        while let turn = agendas.firstIndex(where: { !$0.agenda.isEmpty }) {
            let id = agendas[turn].agenda.removeFirst()
            guard apply(agendas[turn].rule, to: id) else { continue }
            for index in agendas.indices { agendas[index].agenda.add(requirements.neighbours[id]) }
        }
    }

    /// Applies a rule.
    ///
    /// Returns whether it changed this id.
    private mutating func apply(_ rule: Rule, to id: Int) -> Bool {
        guard isOpen[rule.rawValue][id] else { return false }
        isOpen[rule.rawValue][id] = false
        examined += 1
        let before = candidates[id].content
        switch rule {
        case .lostRequirement:
            guard let lost = lostRequirement(of: id) else { return false }
            candidates[id].loseCurrent(because: lost, under: context)
        case .impossible, .unmet, .breaksInstalled:
            guard let picked = candidates[id].pickedIndex else { return false }
            let needs = requirements.needs(of: id, version: picked)
            let why =
                switch rule {
                case .impossible: unmet(needs) { other, digests in candidates[other].canStillChoose(digests) }
                case .unmet: unmet(needs, by: isMet)
                case .breaksInstalled, .lostRequirement: broken(byVersion: picked, of: id)
                }
            guard let why else { return false }
            var isHeldBack = false
            if case .unmet(let missing, _) = why, let need = needs.first(where: { $0.id == missing }),
                let other = need.other
            {
                isHeldBack = candidates[other].isHeldBack(need.digests)
            }
            candidates[id].passOverPicked(because: why, isHeldBack: isHeldBack)
        }
        reopen(beside: id, before: before)
        return true
    }

    /// Marks ids for another examination after an id changed: the id itself, ids that relied on its former choice, and ids that it
    /// may now hold back.
    private mutating func reopen(beside id: Int, before: SHA256Digest?) {
        for rule in isOpen.indices { isOpen[rule][id] = true }
        for other in before.map({ requirements.relying(on: $0, of: id) }) ?? [] {
            for rule in isOpen.indices { isOpen[rule][other] = true }
        }
        guard let place = candidates[id].place else { return }
        for need in requirements.needs(of: id, version: place) {
            if let other = need.other { isOpen[Rule.breaksInstalled.rawValue][other] = true }
        }
    }

    private func lostRequirement(of id: Int) -> NotEligible? {
        guard let place = candidates[id].place, candidates[id].pickedIndex == nil else { return nil }
        return unmet(requirements.needs(of: id, version: place)) { other, digests in
            guard let had = candidates[other].current, digests.contains(had.fingerprint.sha256),
                candidates[other].place == nil
            else { return true }
            return isMet(other, digests)
        } unknown: {
            true
        }
    }

    private func broken(byVersion picked: Int, of id: Int) -> NotEligible? {
        guard candidates[id].current != nil, candidates[id].place != nil else { return nil }
        let entry = candidates[id].versions[picked].fingerprint.sha256
        for holder in requirements.holders[id] {
            let theirs = candidates[holder.id]
            guard theirs.place != nil, theirs.pickedIndex == nil, let kept = theirs.current,
                !holder.digests.contains(entry)
            else { continue }
            return .breaks(kept.label)
        }
        return nil
    }

    private func isMet(_ id: Int, _ digests: [SHA256Digest]) -> Bool {
        candidates[id].content.map(digests.contains) ?? false
    }

    /// - Parameter unknown: Whether a requirement counts as met if its patch is neither listed nor installed.
    private func unmet(
        _ needs: [Requirements.Need],
        by isMet: (Int, [SHA256Digest]) -> Bool,
        unknown: () -> Bool = { false }
    ) -> NotEligible? {
        for need in needs where !(need.other.map { isMet($0, need.digests) } ?? unknown()) {
            let why = need.other.flatMap { candidates[$0].obstacle(to: need.digests) }
            return .missing(need.id, because: why)
        }
        return nil
    }
}

/// Ids to visit, each queued at most once, in the order of arrival.
private struct Agenda {
    /// A ring buffer with space for each id.
    private var ids: [Int]
    private var next = 0
    private var count: Int
    private var isWaiting: [Bool]

    init(_ first: [Int], of total: Int) {
        ids = first + Array(repeating: 0, count: total - first.count)
        count = first.count
        isWaiting = Array(repeating: false, count: total)
        for id in first { isWaiting[id] = true }
    }

    var isEmpty: Bool { count == 0 }

    mutating func add(_ more: [Int]) {
        for id in more where !isWaiting[id] {
            isWaiting[id] = true
            ids[(next + count) % ids.count] = id
            count += 1
        }
    }

    mutating func removeFirst() -> Int {
        let id = ids[next]
        isWaiting[id] = false
        next = (next + 1) % ids.count
        count -= 1
        return id
    }
}
