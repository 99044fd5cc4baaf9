import PatchFormat

/// The choice over all patches that follows the server's answers, as far as the list and its rules allow.
///
/// A pure value. Each answer narrows its patch to one version, or to no new one, and then ``JointChoice`` decides. If an answer has
/// no effect, all is decided again without it.
package struct AnsweredChoice: Sendable {
    package let decisions: [Decision]
    package let ignored: [IgnoredAnswer]

    package init(_ candidates: [Candidates], under context: EligibilityContext) {
        let choices = context.answers.choices
        let ids = Set(candidates.map(\.patchID))
        var ignored: [PatchID: IgnoredAnswer.Reason] = [:]
        for id in choices.keys where !ids.contains(id) { ignored[id] = .notListed }
        while true {
            var narrowed = candidates
            for (index, candidate) in candidates.enumerated() {
                guard ignored[candidate.patchID] == nil, let choice = choices[candidate.patchID] else { continue }
                ignored[candidate.patchID] = narrowed[index].follow(choice)
            }
            let decided = JointChoice(narrowed, under: context).decisions
            let followed = choices.filter { ignored[$0.key] == nil }
            let lost = decided.filter { decision in
                followed[decision.patchID].map { !decision.follows($0) } ?? false
            }
            if lost.isEmpty {
                decisions = decided.map { $0.chosen(by: followed[$0.patchID]) }
                self.ignored = ignored.sorted { $0.key < $1.key }.map { IgnoredAnswer(patchID: $0.key, why: $0.value) }
                return
            }
            for decision in lost {
                guard let choice = followed[decision.patchID] else { continue }
                ignored[decision.patchID] = decision.obstacle(to: choice, among: candidates)
            }
        }
    }
}

extension Candidates {
    /// Narrows this patch to the server's choice.
    ///
    /// - Returns: why the choice is not possible, with nothing changed, or nil.
    mutating func follow(_ choice: DeviceAnswer.Choice) -> IgnoredAnswer.Reason? {
        switch choice {
        case .hold:
            // A device always has a version to run, so a device without one installs its first version.
            guard current != nil || versions.first?.kind != .bundle else { return .nothingToHold }
            passOverAll(but: nil, because: .held)
            return nil
        case .version(let sha256, isForced: _):
            guard let index = versions.firstIndex(where: { $0.fingerprint.sha256 == sha256 }) else { return .notListed }
            if index == place {
                passOverAll(but: nil, because: .notChosen(versions[index].version))
                return nil
            }
            return follow(index)
        }
    }

    private mutating func follow(_ index: Int) -> IgnoredAnswer.Reason? {
        guard index < verdicts.count else { return .notAbove }
        // A chosen version that could not be downloaded stays the chosen one. No other version replaces it.
        if let why = verdicts[index], !why.isDue { return .notEligible(why) }
        // The device's version is not listed, so only the version that it would choose anyway is certainly not below it.
        if current != nil, place == nil, verdicts[index] == nil, index != pickedIndex { return .notAbove }
        passOverAll(but: index, because: .notChosen(versions[index].version))
        return nil
    }
}

extension Decision {
    fileprivate func follows(_ choice: DeviceAnswer.Choice) -> Bool {
        switch (choice, self.choice) {
        case (.hold, .keep), (.hold, .none): true
        case (.hold, .take), (.hold, .withdraw): false
        case (.version(let sha256, isForced: _), _):
            self.choice.content?.sha256 == sha256 || passedOver.contains(where: \.why.isDue)
        }
    }

    /// Why the answer had no effect.
    fileprivate func obstacle(to choice: DeviceAnswer.Choice, among candidates: [Candidates]) -> IgnoredAnswer.Reason {
        guard case .version(let sha256, isForced: _) = choice else { return .takesAway }
        let version = candidates.first { $0.patchID == patchID }?.versions
            .first { $0.fingerprint.sha256 == sha256 }?.version
        let why = passedOver.first { $0.version == version }?.why
        return why.map { .notEligible($0) } ?? .notAbove
    }

    fileprivate func chosen(by choice: DeviceAnswer.Choice?) -> Decision {
        guard case .version(_, let isForced) = choice, case .take = self.choice else { return self }
        var decision = self
        decision.server = isForced ? .forced : .chose
        return decision
    }
}
