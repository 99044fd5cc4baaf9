import PatchFormat

/// One choice over all patch ids: patches that require one another move together or not at all.
///
/// Every id begins with its own choice. Then, as long as one of these rules finds something, and always the first that
/// does:
///
/// 1. An installed patch whose requirement is withdrawn, or was replaced because it is not listed any more, counts as not
///    listed either.
/// 2. A version to take is passed over when this device cannot get what it requires.
/// 3. A version to take is passed over when the present choices do not meet its requirement.
/// 4. A version to take is passed over when what it replaces is still listed and an installed patch, kept and listed,
///    requires that.
///
/// A version that is passed over gives way to the next one of its id. Kept and newly taken versions both meet
/// requirements. A requirement that was never met takes nothing away. Every step leaves fewer versions to choose from,
/// so it ends; ids are looked at in their order, so the same facts give the same choice.
///
/// Ids are looked at again whenever one beside them changed, but examined only where that can make a difference: the work
/// is in proportion to the list, however its entries require one another.
package struct JointChoice: Sendable {
    /// By id, in ascending order.
    private var candidates: [Candidates]
    private let context: EligibilityContext
    private let requirements: Requirements
    /// By rule: ids for which the rule may still find something.
    private var isOpen: [[Bool]]
    /// How often a rule was applied to an id: the work done.
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

    /// By id.
    package var decisions: [Decision] { candidates.map(\.decision) }

    private mutating func settle() {
        var agendas = Rule.allCases.map { (rule: $0, agenda: Agenda(requirements.linked, of: candidates.count)) }
        while let turn = agendas.firstIndex(where: { !$0.agenda.isEmpty }) {
            let id = agendas[turn].agenda.removeFirst()
            guard apply(agendas[turn].rule, to: id) else { continue }
            for index in agendas.indices { agendas[index].agenda.add(requirements.neighbours[id]) }
        }
    }

    /// Whether the rule changed something of this id.
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
                case .impossible: unmet(needs) { other, digests in candidates[other].couldBe(digests) }
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

    /// An id changed: the rules may find something for it, for ids that relied on its former choice, and for ids that
    /// it may now hold back.
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

    /// - Parameter unknown: whether a requirement counts as met when its patch is neither listed nor installed.
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

/// Ids to look at, each once at a time, in the order of arrival.
private struct Agenda {
    /// A ring: there is room for each id.
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
