package import PatchFormat
import PatchTrust

/// Versions that a list withdraws by name, and so for good.
extension SelectionMachine {
    /// Withdraws these, which a verified list names: no rollback goes to them from now on, and a running one is
    /// replaced at the next launch.
    package mutating func withdraw(_ named: [PatchID: Set<SHA256Digest>]) {
        guard !named.isEmpty || !withdrawn.isEmpty else { return }
        let known = kept.flatMap(\.patches).filter { named[$0.patchID]?.contains($0.fingerprint.sha256) == true }
        withdrawn.formUnion(known.map(\.content))
        embedded = embedded.flatMap { cleared($0, from: []) }
        // The oldest first: each goes back to the version before it.
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
        // A trial's way back is settled here and now, because it does not run.
        if case .trying(let good?, let trial, let launch) = state {
            state = .trying(good: withoutWithdrawn(good), trial: trial, launch: launch)
        }
        forgetWithdrawn()
    }

    /// Drops the marks of patches that are no longer there.
    mutating func forgetWithdrawn() {
        guard !withdrawn.isEmpty else { return }
        withdrawn.formIntersection(state.kept.flatMap(\.contents))
    }

    /// A selection without withdrawn patches: each is replaced by the version confirmed before it, else by the embedded
    /// one, else by nothing.
    ///
    /// Nil when nothing is left.
    package func withoutWithdrawn(_ selection: Selection) -> Selection? {
        cleared(selection, from: confirmedBefore)
    }

    /// Every selection that proved itself as a whole, newest first.
    var confirmedBefore: [Selection] { [state.good].compactMap(\.self) + earlier + [embedded].compactMap(\.self) }

    /// The version of a patch that the device had before this content.
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
    /// The part of `good` that may still run beside its successor.
    func rest(of good: Selection, beside next: Selection) -> Selection? {
        withoutWithdrawn(good)?.withoutPatchesMissing(from: next)
    }
}
