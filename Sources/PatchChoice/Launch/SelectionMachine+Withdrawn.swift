package import PatchFormat
import PatchTrust

/// Versions that a list withdraws by name, and so for good.
extension SelectionMachine {
    /// A verified list names these: nothing goes back to them from now on, and what runs makes room at the next launch.
    package mutating func withdraw(_ named: [PatchID: Set<SHA256Digest>]) {
        guard !named.isEmpty || !withdrawn.isEmpty else { return }
        let known = kept.flatMap(\.patches).filter { named[$0.patchID]?.contains($0.fingerprint.sha256) == true }
        withdrawn.formUnion(known.map(\.content))
        let gone = withdrawn
        earlier = earlier.compactMap { $0.without(gone) }
        embedded = embedded.flatMap { $0.without(gone) }
        // Of a trial what it goes back to is settled here and now, for that does not run.
        if case .trying(let good?, let trial, let launch) = state {
            state = .trying(good: withoutWithdrawn(good), trial: trial, launch: launch)
        }
        forgetWithdrawn()
    }

    /// What is not there any more needs no mark.
    mutating func forgetWithdrawn() {
        guard !withdrawn.isEmpty else { return }
        withdrawn.formIntersection(state.kept.flatMap(\.contents))
    }

    /// What is left of a selection: in the place of each patch that was withdrawn what was confirmed before it, else what
    /// the app ships, else nothing.
    ///
    /// Nil when nothing is left.
    func withoutWithdrawn(_ selection: Selection) -> Selection? {
        guard !withdrawn.isEmpty, selection.patches.contains(where: { withdrawn.contains($0.content) }) else {
            return selection
        }
        let before = earlier + [embedded].compactMap(\.self)
        var entryKeys = selection.entryKeys
        var patches: [InstalledPatch] = []
        for patch in selection.patches {
            guard withdrawn.contains(patch.content) else {
                patches.append(patch)
                continue
            }
            guard let one = before.first(where: { $0[patch.patchID] != nil && !$0.content.isLost }),
                let known = one[patch.patchID]
            else { continue }
            patches.append(known)
            entryKeys = entryKeys.merged(with: one.entryKeys)
        }
        guard !patches.isEmpty else { return nil }
        return Selection(
            number: selection.number,
            roleVersion: selection.roleVersion,
            patches: patches,
            entryKeys: entryKeys
        )
    }
}

extension SelectionMachine {
    /// What of `good` may still run beside what follows it.
    func rest(of good: Selection, beside next: Selection) -> Selection? {
        withoutWithdrawn(good)?.withoutPatchesMissing(from: next)
    }
}

extension Selection {
    /// The same without these; nil when nothing is left.
    func without(_ contents: Set<PatchContent>) -> Selection? {
        let left = patches.filter { !contents.contains($0.content) }
        if left.isEmpty { return nil }
        if left.count == patches.count { return self }
        return Selection(number: number, roleVersion: roleVersion, patches: left, entryKeys: entryKeys)
    }
}
