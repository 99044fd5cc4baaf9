package import PatchFormat

/// A share or a condition that was evaluated for this device during a choice, and the answer (feature J15).
package struct EvaluatedRule: Hashable, Sendable {
    package enum Question: Hashable, Sendable {
        /// The number of devices of 10,000: the smaller of the signed ceiling and the dial.
        case share(Int)
        case condition(String)
    }

    package let label: Label
    package let question: Question
    /// Whether this device matches the question.
    package let isHit: Bool

    package init(_ label: Label, _ question: Question, isHit: Bool) {
        (self.label, self.question, self.isHit) = (label, question, isHit)
    }
}

extension EligibilityContext {
    /// The questions up to the first rule that excludes the version.
    ///
    /// Later rules are not evaluated.
    func asked(of entry: PatchEntry, over current: InstalledPatch?) -> [EvaluatedRule] {
        let label = Label(patchID: entry.patchID, version: entry.version)
        var asked: [EvaluatedRule] = []
        for rule in EligibilityRule.allCases {
            let isHit = obstacle(to: entry, over: current, by: rule) == nil
            if let question = question(of: rule, in: entry) {
                asked.append(EvaluatedRule(label, question, isHit: isHit))
            }
            guard isHit else { break }
        }
        return asked
    }

    private func question(of rule: EligibilityRule, in entry: PatchEntry) -> EvaluatedRule.Question? {
        switch rule {
        case .condition: return entry.rules.condition.map { .condition($0) }
        case .rollout:
            let share = min(entry.rules.rollout, row(of: entry)?.rollout ?? 10_000)
            // A version for all devices poses no question.
            return share < 10_000 ? .share(share) : nil
        default: return nil
        }
    }
}

extension SyncPlan {
    /// The questions that led to these decisions, for versions that were passed over and for those that are taken.
    ///
    /// - Parameter entries: The entries of the list.
    package func asked(_ entries: [PatchEntry]) -> [EvaluatedRule] {
        let decisions = Dictionary(decisions.map { ($0.patchID, $0) }) { first, _ in first }
        return entries.flatMap { entry -> [EvaluatedRule] in
            guard let decision = decisions[entry.patchID],
                decision.taken?.content == entry.content
                    || decision.passedOver.contains(where: { $0.version == entry.version })
            else { return [] }
            return context.asked(of: entry, over: base?[entry.patchID])
        }
    }
}
