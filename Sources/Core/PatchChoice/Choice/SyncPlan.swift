package import PatchFormat
import PatchCrypto
package import PatchTrust

/// The goal of a sync, decided before any file is downloaded.
///
/// A pure value.
package struct SyncPlan: Sendable {
    /// One patch of the planned selection.
    package struct Wanted: Sendable {
        package let patch: InstalledPatch
        /// The device's version of this id, which stays if this one fails.
        package let current: InstalledPatch?

        package var isNew: Bool { current?.content != patch.content }
    }

    /// The selection that all choices are based on.
    package let base: Selection?
    /// The base without versions that the list withdraws by name.
    ///
    /// Earlier versions replace them.
    package let rest: Selection?
    /// The pending selection, if any.
    package let pending: Selection?
    package let context: EligibilityContext
    package let decisions: [Decision]
    /// Server answers that are ignored.
    package let ignoredAnswers: [IgnoredAnswer]
    package private(set) var wanted: [Wanted]
    /// When the planned selection may start.
    package let activates: ActivationTime
    /// Whether one of its new versions is mandatory.
    package let isMandatory: Bool
    /// Whether a trial is running, so that no new version is wanted before it ends.
    package let isTrial: Bool
    /// The size of every signature column that the role lists, in bytes.
    package let columnSizes: [SHA256Digest: Int]
    /// The embedded role version, if the list is not newer and therefore withdraws none of its versions.
    package let keptEmbedded: Int?

    package init(list: VerifiedList, role: TargetsRole, machine: SelectionMachine, under context: EligibilityContext) {
        let choice = ListChoice(
            list.entries,
            refused: Set(list.refused.compactMap(\.patchID)),
            withdrawn: list.withdrawn,
            machine: machine,
            under: context
        )
        let (base, context) = (choice.base, choice.context)
        (self.base, rest, self.context) = (base, choice.rest, context)
        pending = if case .pending(_, let next) = machine.state { next } else { nil }
        keptEmbedded = machine.keptEmbeddedIndex(beside: list)
        if keptEmbedded == nil {
            (decisions, ignoredAnswers) = (choice.decisions, choice.ignoredAnswers)
        } else {
            decisions = (base?.patches ?? []).map { Decision(patchID: $0.patchID, choice: .keep($0), passedOver: []) }
            ignoredAnswers = []
        }
        let columns = role.targets.filter { $0.key.text.hasSuffix("/manifest.sigs") }.values
        let sizes = columns.compactMap { file in file.sha256.map { ($0, file.length) } }
        columnSizes = Dictionary(sizes) { first, _ in first }
        // While a counted trial is running, no new version is taken, because it could not be staged before the trial ends.
        let isTrial = machine.isTrialRunning
        self.isTrial = isTrial
        let channel = list.list.channel
        func installed(_ entry: PatchEntry) -> InstalledPatch {
            let path = TargetPath.signatureColumn(channel: channel, patchID: entry.patchID, version: entry.version)
            return InstalledPatch(
                entry,
                column: entry.kind == .bundle ? role.targets[ExactString(path.text)]?.sha256 : nil
            )
        }
        let turns = Dictionary(list.list.entries.enumerated().map { ($1.patchID, $0) }) { first, _ in first }
        wanted = decisions.compactMap { (decision) -> Wanted? in
            switch decision.choice {
            case .take(_, let current) where isTrial:
                return current.map { Wanted(patch: $0, current: $0) }
            case .take(let entry, let current): return Wanted(patch: installed(entry), current: current)
            case .keep(let current):
                // A version of another channel that is listed here with the same bytes belongs to this channel from now on.
                let listed = list.entries.first { $0.content == current.content }
                // A program that did not know of places may have installed it.
                let isSame = current.channel == nil && listed?.place == current.place
                return Wanted(patch: isSame ? current : listed.map(installed) ?? current, current: current)
            case .withdraw(let current, for: _) where isTrial: return Wanted(patch: current, current: current)
            // The earlier version is already installed, and stays.
            case .withdraw(_, for: let before?): return Wanted(patch: before, current: before)
            case .withdraw(_, for: nil), .none: return nil
            }
        }.map { wanted in
            Wanted(patch: wanted.patch.taking(turn: turns[wanted.patch.patchID]), current: wanted.current)
        }
        if !isTrial, let staged = Self.keptStaged(list, decisions, base: base, after: machine, under: context) {
            wanted = staged.patches.map { Wanted(patch: $0, current: base?[$0.patchID]) }
            activates = staged.activates
            isMandatory = staged.isMandatory
        } else {
            let (taken, isForced) = (decisions.compactMap(\.taken), decisions.contains { $0.server == .forced })
            activates = ActivationTime(taken: taken, isForced: isForced)
            isMandatory = isForced || taken.contains(where: \.rules.mandatory)
        }
    }

    /// The staged selection, if a version was deferred on a metered network and no other choice changes.
    ///
    /// The staged files are already downloaded, and those of the replacement are not. The selection is still dropped if a rule,
    /// the dial or a withdrawal excludes one of its versions.
    private static func keptStaged(
        _ list: VerifiedList,
        _ decisions: [Decision],
        base: Selection?,
        after machine: SelectionMachine,
        under context: EligibilityContext
    ) -> Selection? {
        guard case .pending(_, let staged) = machine.state,
            decisions.contains(where: { $0.passedOver.contains { $0.why.isMetered } }),
            decisions.allSatisfy({ decision in
                switch decision.choice {
                case .keep, .none: true
                case .take, .withdraw: false
                }
            })
        else { return nil }
        let entries = Dictionary(list.entries.map { ($0.content, $0) }) { first, _ in first }
        let isRight = staged.patches.allSatisfy { patch in
            let current = base?[patch.patchID]
            guard patch.content != current?.content, let entry = entries[patch.content] else { return true }
            return context.obstacle(to: entry, over: current) == nil
        }
        return isRight ? staged : nil
    }

    /// Whether a version that is not wanted now may be wanted soon.
    package var hasPostponed: Bool {
        isTrial || decisions.contains { $0.passedOver.contains(where: \.why.isPostponed) }
    }

    /// The question that the server must answer before the download: places in versions that limit their number of devices, and
    /// once, if the device is configured so, the user's assignments.
    ///
    /// - Parameter user: The user's hash, which is sent only with a request for assignments.
    package func question(for user: SHA256Digest?) -> DeviceQuestion? {
        let answers = context.answers
        guard answers.questionsLeft > 0, !isTrial else { return nil }
        let taken = decisions.compactMap(\.taken)
        let places = taken.compactMap { entry in
            context.missingPlace(in: entry).map {
                DeviceQuestion.Place(patchID: entry.patchID, sha256: entry.fingerprint.sha256, device: $0)
            }
        }
        let requestsChoices = answers.needsChoices && !taken.isEmpty
        guard requestsChoices || !places.isEmpty else { return nil }
        return DeviceQuestion(
            user: requestsChoices ? user : nil,
            places: Array(places.prefix(Limits.placesInQuestion))
        )
    }

    /// A plan that only repairs these patches.
    package func healing(_ patches: [InstalledPatch]) -> SyncPlan {
        var plan = self
        plan.wanted = patches.map { Wanted(patch: $0, current: $0) }
        return plan
    }
}

extension SelectionMachine {
    /// The embedded role version, while it is active and `list` is not newer.
    ///
    /// The list then withdraws no version.
    ///
    /// Versions of different channels cannot be compared.
    func keptEmbeddedIndex(beside list: VerifiedList) -> Int? {
        guard let embedded, embedded.isFromThisChannel, state.choiceBase?.contents == embedded.contents,
            list.roleVersion <= embedded.roleVersion
        else { return nil }
        return embedded.roleVersion
    }
}
