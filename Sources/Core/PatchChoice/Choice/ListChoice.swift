package import PatchFormat
import PatchCrypto
import PatchTrust

/// The result of a list on one device: the choice for each patch that is listed or installed.
///
/// A pure value. The simulation of a fleet uses this part of ``SyncPlan`` as well.
package struct ListChoice: Sendable {
    /// The selection that all choices are based on.
    package let base: Selection?
    /// The base without versions that the list withdraws by name.
    ///
    /// Earlier versions replace them.
    package let rest: Selection?
    package let context: EligibilityContext
    package let decisions: [Decision]
    package let ignoredAnswers: [IgnoredAnswer]

    /// - Parameters:
    ///   - refused: Ids of which an entry was rejected.
    ///   - withdrawn: Versions that the list withdraws by name.
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
