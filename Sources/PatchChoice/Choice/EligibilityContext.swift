package import PatchFormat
import PatchTrust

/// The facts that decide which versions this device may take, besides the list and the installed patches.
package struct EligibilityContext: Sendable {
    package let device: DeviceFacts
    package let hasDial: Bool
    private let dialRows: [PatchContent: Dial.Row]
    /// Versions that failed their trial here.
    package let blocks: TrialBlocks
    /// Versions that could not be fetched.
    package let transfers: TransferFailures
    /// Versions that do not fit this device's native part.
    package var unfit: UnfitVersions
    /// Versions that did not arrive in this sync.
    package var notReceived: Set<PatchContent> = []
    /// Versions that wait for another network.
    package var putOff: [PatchContent: MeteredWait] = [:]
    /// What the server answered.
    package var answers = ServerAnswers()

    /// - Parameter dial: nil without a valid one.
    package init(
        device: DeviceFacts,
        dial: Dial? = nil,
        blocks: TrialBlocks = TrialBlocks(),
        transfers: TransferFailures = TransferFailures(),
        unfit: UnfitVersions = UnfitVersions()
    ) {
        self.device = device
        hasDial = dial != nil
        let rows = (dial?.rows ?? []).map { (PatchContent(patchID: $0.patchID, sha256: $0.sha256), $0) }
        dialRows = Dictionary(rows) { first, _ in first }
        self.blocks = blocks
        self.transfers = transfers
        self.unfit = unfit
    }

    /// The first rule that keeps a version from a device that does not have it.
    package func obstacle(to entry: PatchEntry, over current: InstalledPatch?) -> NotEligible? {
        // Labels are one content within a channel.
        if let current, current.channel == nil, current.version == entry.version,
            current.fingerprint.sha256 != entry.fingerprint.sha256
        {
            return .republished
        }
        return ruleObstacle(to: entry) ?? failure(of: entry) ?? shareObstacle(to: entry)
    }

    /// Whom it is for.
    private func ruleObstacle(to entry: PatchEntry) -> NotEligible? {
        let rules = entry.rules
        guard rules.appVersionFits(device.appVersion) else {
            return .appVersion(needs: rules.appVersion?.text ?? "", has: device.appVersion?.text)
        }
        if let rule = rules.unknown.first { return .unknownRule(rule) }
        if let text = rules.condition {
            do throws(Condition.Problem) {
                guard try Condition(text).holds(for: device.data) else { return .condition(text) }
            } catch { return .malformedCondition(error) }
        }
        if let users = rules.users {
            guard let user = device.user, users.contains(user.hash(salt: entry.salt)) else {
                return .users(isKnown: device.user != nil)
            }
        }
        return nil
    }

    /// What became of it here before.
    private func failure(of entry: PatchEntry) -> NotEligible? {
        if notReceived.contains(entry.content) { return .notReceived }
        if let wait = putOff[entry.content] { return .metered(wait) }
        if let platform = device.platform, unfit.contains(entry.content, for: platform) {
            return .incompatible(platform)
        }
        switch blocks.status(of: entry.content, at: device.time, retryNow: device.retryNow) {
        case .free: break
        case .waiting(let until): return .waiting(until: until)
        case .blocked(let until): return .blocked(until: until)
        case .rolledBackByHand(let until): return .rolledBackByHand(until: until)
        }
        if !device.retryNow, let wait = transfers.wait(for: entry.content, at: device.time) {
            return .transferWaiting(failures: wait.failures, until: wait.until)
        }
        return nil
    }

    /// How many it is for: the smaller of the signed ceiling and the dial.
    private func shareObstacle(to entry: PatchEntry) -> NotEligible? {
        if !hasDial, entry.rules.dial == .required { return .dialMissing }
        let row = dialRows[entry.content]
        if let row, row.paused { return .paused(reason: row.reason) }
        let effective = min(entry.rules.rollout, row?.rollout ?? 10_000)
        let cohort = Cohort(salt: entry.salt, deviceID: device.deviceID).number
        guard effective > cohort else { return .rollout(cohort: cohort, effective: effective) }
        guard let headcount = row?.headcount, !answers.mayHave(entry.placeName(of: device.deviceID)) else { return nil }
        return .noPlace(headcount: headcount)
    }

    /// The name of the place that this entry needs and this device does not have.
    func lackedPlace(in entry: PatchEntry) -> SHA256Digest? {
        guard dialRows[entry.content]?.headcount != nil else { return nil }
        let place = entry.placeName(of: device.deviceID)
        return answers.places.contains(place) ? nil : place
    }
}

extension PatchRules {
    func appVersionFits(_ version: AppVersion?) -> Bool {
        guard let appVersion else { return true }
        return version.map(appVersion.contains) ?? false
    }
}

extension PatchEntry {
    package var content: PatchContent { PatchContent(patchID: patchID, sha256: fingerprint.sha256) }
}
