package import PatchFormat
package import PatchTrust

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
    /// What is left of it without what the list withdraws by name, with what stood before in its place.
    package let rest: Selection?
    /// What waits already.
    package let pending: Selection?
    package let context: EligibilityContext
    package let decisions: [Decision]
    /// What the server answered and is not followed.
    package let ignoredAnswers: [IgnoredAnswer]
    package private(set) var wanted: [Wanted]
    /// From when on the selection to be may run.
    package let activates: ActivationTime
    /// A trial runs, so nothing new is wanted before it ends.
    private let isTrial: Bool
    /// Bytes of every signature column that the role names.
    package let columnSizes: [SHA256Digest: Int]
    /// The role version that the app ships, where the list is no newer and so takes nothing of that away.
    package let keptEmbedded: Int?

    package init(list: VerifiedList, role: TargetsRole, machine: SelectionMachine, under context: EligibilityContext) {
        let base = machine.state.choiceBase
        self.base = base
        var after = machine
        after.withdraw(list.withdrawn)
        let rest = base.flatMap { after.withoutWithdrawn($0) }
        self.rest = rest
        pending = if case .pending(_, let next) = machine.state { next } else { nil }
        self.context = context
        keptEmbedded = machine.embeddedThatStays(beside: list)
        if keptEmbedded == nil {
            let choice = Self.choice(list, base: base, rest: rest, after: after, under: context)
            (decisions, ignoredAnswers) = (choice.decisions, choice.ignored)
        } else {
            decisions = (base?.patches ?? []).map { Decision(patchID: $0.patchID, choice: .keep($0), passedOver: []) }
            ignoredAnswers = []
        }
        let columns = role.targets.filter { $0.key.text.hasSuffix("/manifest.sigs") }.values
        let sizes = columns.compactMap { file in file.sha256.map { ($0, file.length) } }
        columnSizes = Dictionary(sizes) { first, _ in first }
        // During a trial that counts nothing new is taken: it could not be staged before the trial ends.
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
        wanted = decisions.compactMap { decision in
            switch decision.choice {
            case .take(_, let current) where isTrial:
                return current.map { Wanted(patch: $0, current: $0) }
            case .take(let entry, let current): return Wanted(patch: installed(entry), current: current)
            case .keep(let current):
                // One of another channel that is listed here, with the same bytes, is this channel's from now on.
                let own = current.channel == nil ? nil : list.entries.first { $0.content == current.content }
                return Wanted(patch: own.map(installed) ?? current, current: current)
            case .withdraw(let current, for: _) where isTrial: return Wanted(patch: current, current: current)
            // It was there before, and stays as it is.
            case .withdraw(_, for: let before?): return Wanted(patch: before, current: before)
            case .withdraw(_, for: nil), .none: return nil
            }
        }
        activates = ActivationTime(
            taken: decisions.compactMap(\.taken),
            isForced: decisions.contains { $0.server == .forced }
        )
    }

    /// Whether something that is not wanted now may be soon.
    package var hasPostponed: Bool {
        isTrial || decisions.contains { $0.passedOver.contains(where: \.why.isPostponed) }
    }

    /// What the server must be asked before this can be carried out: places in versions that have a head-count, and once,
    /// where the device asks for it, what is chosen for its user.
    ///
    /// - Parameter user: told only together with the wish for choices.
    package func question(for user: SHA256Digest?) -> DeviceQuestion? {
        let answers = context.answers
        guard answers.questionsLeft > 0, !isTrial else { return nil }
        let taken = decisions.compactMap(\.taken)
        let places = taken.compactMap { entry in
            context.lackedPlace(in: entry).map {
                DeviceQuestion.Place(patchID: entry.patchID, sha256: entry.fingerprint.sha256, device: $0)
            }
        }
        let asksForChoices = answers.wantsChoices && !taken.isEmpty
        guard asksForChoices || !places.isEmpty else { return nil }
        return DeviceQuestion(
            user: asksForChoices ? user : nil,
            places: Array(places.prefix(Limits.placesInQuestion))
        )
    }

    /// The same for these alone, of which nothing is new.
    package func mending(_ patches: [InstalledPatch]) -> SyncPlan {
        var plan = self
        plan.wanted = patches.map { Wanted(patch: $0, current: $0) }
        return plan
    }

    private static func choice(
        _ list: VerifiedList,
        base: Selection?,
        rest: Selection?,
        after machine: SelectionMachine,
        under context: EligibilityContext
    ) -> AnsweredChoice {
        var versions: [PatchID: [PatchEntry]] = [:]
        let withdrawn = list.withdrawn
        for entry in list.entries { versions[entry.patchID, default: []].append(entry) }
        let refused = Set(list.refused.compactMap(\.patchID))
        let ids = Set(versions.keys).union(base?.patches.map(\.patchID) ?? []).sorted()
        let candidates = ids.map { id in
            let current = base?[id]
            let before = rest?[id]
            return Candidates(
                id,
                versions: versions[id] ?? [],
                hasRefused: refused.contains(id),
                current: current,
                withdrawal: current?.content == before?.content ? nil : Candidates.Withdrawal(before: before),
                namesWithdrawn: withdrawn[id] != nil,
                before: withdrawn.isEmpty ? nil : current.flatMap { machine.before($0.content) },
                under: context
            )
        }
        return AnsweredChoice(candidates, under: context)
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
