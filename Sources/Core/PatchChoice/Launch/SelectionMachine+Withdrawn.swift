package import PatchFormat
import PatchTrust

/// Versions that a list withdraws by name, and therefore permanently.
extension SelectionMachine {
    /// Withdraws the versions that a verified list names.
    ///
    /// They are no longer rollback targets, and an active one is replaced at the next launch.
    package mutating func withdraw(_ named: [PatchID: Set<SHA256Digest>]) {
        guard !named.isEmpty || !withdrawn.isEmpty else { return }
        let known = kept.flatMap(\.patches).filter { named[$0.patchID]?.contains($0.fingerprint.sha256) == true }
        withdrawn.formUnion(known.map(\.content))
        embedded = embedded.flatMap { cleared($0, from: []) }
        // The oldest is first, because each selection falls back to the version before it.
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
        // A trial's rollback target is settled at once, because it is not running.
        if case .trying(let good?, let trial, let launch) = state {
            state = .trying(good: withoutWithdrawn(good), trial: trial, launch: launch)
        }
        forgetWithdrawn()
    }

    /// Removes the marks of patches that no longer exist.
    mutating func forgetWithdrawn() {
        guard !withdrawn.isEmpty else { return }
        withdrawn.formIntersection(state.kept.flatMap(\.contents))
    }

    /// A selection without withdrawn patches.
    ///
    /// Each is replaced by the version confirmed before it, else by the embedded one, else it is removed.
    ///
    /// Nil if no patch is left.
    package func withoutWithdrawn(_ selection: Selection) -> Selection? {
        cleared(selection, from: confirmedBefore)
    }

    /// All selections that were confirmed as a whole, newest first.
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
    /// The part of `good` that may still run while `next` is its successor.
    func rest(of good: Selection, beside next: Selection) -> Selection? {
        withoutWithdrawn(good)?.withoutPatchesMissing(from: next)
    }
}
