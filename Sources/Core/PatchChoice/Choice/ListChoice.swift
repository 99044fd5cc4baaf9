package import PatchFormat
import PatchCrypto
import PatchTrust

/// What a list comes to on one device: the choice for each patch that it lists or the device has.
///
/// Pure; the part of ``SyncPlan`` that a fleet is simulated by as well.
package struct ListChoice: Sendable {
    /// The selection that was the base of every choice.
    package let base: Selection?
    /// The base without versions that the list withdraws by name, with the earlier versions in their place.
    package let rest: Selection?
    package let context: EligibilityContext
    package let decisions: [Decision]
    package let ignoredAnswers: [IgnoredAnswer]

    /// - Parameters:
    ///   - refused: ids of which an entry was refused.
    ///   - withdrawn: versions that the list withdraws by name.
    package init(
        _ entries: [PatchEntry],
        refused: Set<PatchID> = [],
        withdrawn: [PatchID: Set<SHA256Digest>],
        machine: SelectionMachine,
        under context: EligibilityContext
    ) {
        let base = machine.state.choiceBase
        var after = machine
        after.withdraw(withdrawn)
        let rest = base.flatMap { after.withoutWithdrawn($0) }
        (self.base, self.rest) = (base, rest)
        var context = context
        context.exemption = ConsentExemption(base: base, rest: rest, withdrawn: withdrawn)
        self.context = context
        var versions: [PatchID: [PatchEntry]] = [:]
        for entry in entries { versions[entry.patchID, default: []].append(entry) }
        let ids = Set(versions.keys).union(base?.patches.map(\.patchID) ?? []).sorted()
        let candidates = ids.map { [context] id in
            let current = base?[id]
            let before = rest?[id]
            return Candidates(
                id,
                versions: versions[id] ?? [],
                hasRefused: refused.contains(id),
                current: current,
                withdrawal: current?.content == before?.content ? nil : Candidates.Withdrawal(before: before),
                namesWithdrawn: withdrawn[id] != nil,
                before: withdrawn.isEmpty ? nil : current.flatMap { after.before($0.content) },
                under: context
            )
        }
        let choice = AnsweredChoice(candidates, under: context)
        (decisions, ignoredAnswers) = (choice.decisions, choice.ignored)
    }
}
