import PatchFormat
import PatchTrust

/// What a sync is to bring about, decided before anything is fetched.
///
/// Pure.
package struct SyncPlan: Sendable {
    /// One patch of the selection to be.
    package struct Wanted: Sendable {
        package let patch: InstalledPatch
        /// What the device has of this id; what stays if this one fails.
        package let current: InstalledPatch?

        package var isNew: Bool { current?.content != patch.content }
    }

    /// The selection that was the base of every choice.
    package let base: Selection?
    /// What had failed here when the choices were made.
    package let blocks: TrialBlocks
    package let decisions: [Decision]
    package let wanted: [Wanted]
    /// Bytes of every signature column that the role names.
    let columnSizes: [SHA256Digest: Int]
    /// The role version that the app ships, where the list is no newer and so takes nothing of that away.
    let keptEmbedded: Int?

    init(list: VerifiedList, dial: Dial?, machine: SelectionMachine, device: DeviceFacts, role: TargetsRole) {
        let base = machine.state.choiceBase
        var versions: [PatchID: [PatchEntry]] = [:]
        for entry in list.entries { versions[entry.patchID, default: []].append(entry) }
        let refused = Set(list.refused.compactMap(\.patchID))
        let ids = Set(versions.keys).union(base?.patches.map(\.patchID) ?? []).sorted()
        let channel = list.list.channel
        let keptEmbedded = machine.embeddedThatStays(beside: list)
        self.keptEmbedded = keptEmbedded
        decisions = ids.map { id in
            guard keptEmbedded == nil else { return Decision(id, keeping: base?[id]) }
            return Decision(
                id,
                versions: versions[id] ?? [],
                hasRefused: refused.contains(id),
                current: base?[id],
                dial: dial,
                blocks: machine.blocks,
                device: device
            )
        }
        self.base = base
        blocks = machine.blocks
        let columns = role.targets.filter { $0.key.text.hasSuffix("/manifest.sigs") }.values
        let sizes = columns.compactMap { file in file.sha256.map { ($0, file.length) } }
        columnSizes = Dictionary(sizes) { first, _ in first }
        // During a trial nothing new is taken: it could not be staged before the trial ends.
        let isTrial = if case .trying = machine.state { true } else { false }
        func installed(_ entry: PatchEntry) -> InstalledPatch {
            let path = TargetPath.signatureColumn(channel: channel, patchID: entry.patchID, version: entry.version)
            return InstalledPatch(
                entry,
                column: entry.kind == .bundle ? role.targets[ExactString(path.text)]?.sha256 : nil
            )
        }
        wanted = decisions.compactMap { decision in
            switch decision.choice {
            case .take(_, let current) where isTrial:
                return current.map { Wanted(patch: $0, current: $0) }
            case .take(let entry, let current): return Wanted(patch: installed(entry), current: current)
            case .keep(let current):
                // One of another channel that is listed here, with the same bytes, is this channel's from now on.
                let own =
                    current.channel == nil
                    ? nil
                    : versions[current.patchID]?.first {
                        $0.fingerprint.sha256 == current.fingerprint.sha256
                    }
                return Wanted(patch: own.map(installed) ?? current, current: current)
            case .withdraw(let current) where isTrial: return Wanted(patch: current, current: current)
            case .withdraw, .none: return nil
            }
        }
    }
}

extension SelectionMachine {
    /// The role version of what the app ships, while that runs and `list` is not above it: then the list takes nothing.
    ///
    /// Versions of different channels cannot be compared.
    func embeddedThatStays(beside list: VerifiedList) -> Int? {
        guard let embedded, embedded.isOfThisChannel, state.choiceBase?.contents == embedded.contents,
            list.roleVersion <= embedded.roleVersion
        else { return nil }
        return embedded.roleVersion
    }
}
