package import PatchFormat
import PatchTrust

/// Versions that a list withdraws by name, and so for good.
extension SelectionMachine {
    /// A verified list names these: nothing goes back to them from now on, and what runs makes room at the next launch.
    package mutating func withdraw(_ named: [PatchID: Set<SHA256Digest>]) {
        guard !named.isEmpty || !withdrawn.isEmpty else { return }
        let known = kept.flatMap(\.patches).filter { named[$0.patchID]?.contains($0.fingerprint.sha256) == true }
        withdrawn.formUnion(known.map(\.content))
        embedded = embedded.flatMap { cleared($0, from: []) }
        // The oldest first: each goes back to what stood before it.
        var older = [embedded].compactMap(\.self)
        var kept: [Selection] = []
        for selection in earlier.reversed() {
            guard let cleared = cleared(selection, from: older),
                !kept.contains(where: { $0.contents == cleared.contents })
            else { continue }
            kept.insert(cleared, at: 0)
            older.insert(cleared, at: 0)
        }
        earlier = kept
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
    package func withoutWithdrawn(_ selection: Selection) -> Selection? {
        cleared(selection, from: confirmedBefore)
    }

    /// Everything that proved itself as a whole, the last of it first.
    var confirmedBefore: [Selection] { [state.good].compactMap(\.self) + earlier + [embedded].compactMap(\.self) }

    /// What the device had of a patch before this content.
    package func before(_ content: PatchContent) -> InstalledPatch? {
        confirmedBefore.lazy.compactMap { $0[content.patchID] }
            .first { $0.content != content && !withdrawn.contains($0.content) }
    }

    private func cleared(_ selection: Selection, from before: [Selection]) -> Selection? {
        guard !withdrawn.isEmpty, selection.patches.contains(where: { withdrawn.contains($0.content) }) else {
            return selection
        }
        var entryKeys = selection.entryKeys
        var patches: [InstalledPatch] = []
        for patch in selection.patches {
            guard withdrawn.contains(patch.content) else {
                patches.append(patch)
                continue
            }
            for one in before where !one.content.isLost {
                guard let known = one[patch.patchID], !withdrawn.contains(known.content) else { continue }
                patches.append(known)
                entryKeys = entryKeys.merged(with: one.entryKeys)
                break
            }
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
