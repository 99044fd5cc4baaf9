package import PatchFormat
import PatchCrypto
import PatchTrust

/// The judgment of one rule about one version on one device.
package struct Judgment: Equatable, Sendable {
    package let rule: EligibilityRule
    /// The version's requirement, or nil if it cannot be named.
    package let needs: String?
    /// The device's value for the requirement, or nil if it has none.
    package let has: String?
    /// The obstacle, or nil if the version passes.
    package let obstacle: NotEligible?
    /// The changes with which the version would pass.
    ///
    /// Empty if it passes.
    package let turns: [Turn]

    package var json: JSON {
        .fields([
            ("rule", .text(rule.rawValue)), ("needs", needs.map { .text($0) }), ("has", has.map { .text($0) }),
            ("passes", .bool(obstacle == nil)), ("code", obstacle.map { .text($0.code) }),
            ("turns", turns.isEmpty ? nil : .array(turns.map(\.json))),
        ])
    }
}

extension EligibilityContext {
    /// The judgments of all rules that this version poses to a device, including those after the first obstacle.
    package func judgments(of entry: PatchEntry, over current: InstalledPatch?) -> [Judgment] {
        EligibilityRule.allCases.compactMap { rule in
            let why = obstacle(to: entry, over: current, by: rule)
            guard why != nil || isPosed(rule, by: entry) else { return nil }
            let (needs, has) = inputs(of: rule, for: entry, over: current)
            return Judgment(
                rule: rule,
                needs: needs,
                has: has,
                obstacle: why,
                turns: why.map { turns(of: $0, for: entry) } ?? []
            )
        }
    }

    /// Whether the judgment is worth reporting if the version passes the rule.
    private func isPosed(_ rule: EligibilityRule, by entry: PatchEntry) -> Bool {
        let rules = entry.rules
        return switch rule {
        case .label, .knownRules, .arrival, .network, .nativePart: false
        case .appVersion: rules.appVersion != nil
        case .condition: rules.condition != nil
        case .users: rules.users != nil
        case .trials: blocks.blocks[entry.content] != nil
        case .transfers: transfers.counts[entry.content] != nil
        case .dial: rules.dial == .required
        case .pause: row(of: entry) != nil
        case .rollout: true
        case .consent: device.consent != .automatic
        case .headcount: row(of: entry)?.headcount != nil
        }
    }

    private func inputs(
        of rule: EligibilityRule,
        for entry: PatchEntry,
        over current: InstalledPatch?
    ) -> (needs: String?, has: String?) {
        let (rules, row) = (entry.rules, row(of: entry))
        switch rule {
        case .label: return (entry.fingerprint.sha256.hex, current?.fingerprint.sha256.hex)
        case .appVersion: return (rules.appVersion?.text, device.appVersion?.text)
        case .knownRules: return (rules.unknown.joined(separator: ", "), nil)
        case .condition:
            let keys = (rules.condition.flatMap { try? Condition($0) })?.keys ?? []
            let facts = keys.compactMap { key in device.data[key].map { "\(key.text)=\($0.text)" } }
            return (rules.condition, facts.isEmpty ? nil : facts.joined(separator: ", "))
        case .users:
            return (Words.count(rules.users?.count ?? 0, "user"), device.user.map { _ in "a user" })
        case .arrival: return (nil, nil)
        case .network:
            let wait = putOff[entry.content]
            return (wait?.cost.map { Words.bytes($0) }, wait.map { "\(Words.bytes($0.left)) left of its allowance" })
        case .nativePart:
            let needs = unfit.rows[entry.content]?.needs
            return (needs, device.platform.map { "\($0.name) \($0.compatibility)" })
        case .trials:
            let block = blocks.blocks[entry.content]
            let setback = block.map { Setback(reason: $0.reason, error: $0.error) }
            return (nil, block.flatMap { block in setback.map { "\(Words.count(block.failures, "failure")): \($0)" } })
        case .transfers:
            return (nil, transfers.counts[entry.content].map { Words.count($0.failures, "failure") })
        case .dial: return ("a valid dial", hasDial ? "one" : nil)
        case .pause: return (nil, row?.paused == true ? "paused\(row?.reason.map { ": \($0)" } ?? "")" : "not paused")
        case .rollout:
            let dial = row.map { ", dial \(Words.percent($0.rollout))" } ?? ""
            let cohort = Cohort(salt: entry.salt, deviceID: device.deviceID).number
            return ("signed \(Words.percent(rules.rollout))\(dial)", "number \(Words.grouped(cohort)) of 10,000")
        case .consent:
            let has =
                approved.contains(entry.content)
                ? "approved"
                : exemption.covers(entry.patchID) ? "nothing else to run" : entry.security.map { _ in "security" }
            return (device.consent == .security ? "security, or approval" : "approval", has)
        case .headcount:
            let place = entry.placeName(of: device.deviceID)
            return (Words.count(row?.headcount ?? 0, "place"), answers.places.contains(place) ? "a place" : nil)
        }
    }

    private func turns(of why: NotEligible, for entry: PatchEntry) -> [Turn] {
        switch why {
        case .republished: [.label]
        case .appVersion: [.appVersion(entry.rules.appVersion?.lacking(in: device.appVersion) ?? "")]
        case .unknownRule(let rule): [.engine(rule)]
        case .malformedCondition: [.readableCondition]
        case .condition(let text):
            [.facts((try? Condition(text))?.lacking(in: device.data) ?? [])]
        case .users: [.user]
        case .notReceived: [.sync]
        case .metered(let wait): [.network(allowance: wait.cost)]
        case .noRoom(let wait): [.room(wait.needs + wait.reserve)]
        case .incompatible: [.nativePart(unfit.rows[entry.content]?.needs)]
        case .waiting(let until), .transferWaiting(_, let until): [.time(until)]
        case .blocked(let until), .rolledBackByHand(let until): [.unblock(until)]
        case .dialMissing: [.dial]
        case .paused: [.resume]
        case .rollout(let cohort, _): rolloutTurns(for: entry, number: cohort)
        case .unapproved(let label): [.approval(label)]
        case .noPlace: [.place]
        // These are obstacles of the choice over all patches, not of one of these rules.
        case .unmet, .breaks, .held, .notChosen: []
        }
    }

    private func rolloutTurns(for entry: PatchEntry, number: Int) -> [Turn] {
        var turns: [Turn] = []
        if entry.rules.rollout <= number { turns.append(.signedRollout(from: entry.rules.rollout, to: number + 1)) }
        if let row = row(of: entry), row.rollout <= number {
            turns.append(.dialRollout(from: row.rollout, to: number + 1))
        }
        return turns
    }
}
