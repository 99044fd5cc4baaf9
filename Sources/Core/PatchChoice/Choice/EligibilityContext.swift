package import PatchFormat
import PatchCrypto
import PatchTrust

/// The facts that decide which versions are eligible for this device, besides the list and the installed patches.
package struct EligibilityContext: Sendable {
    package let device: DeviceFacts
    package let hasDial: Bool
    private let dialRows: [PatchContent: Dial.Row]
    /// Versions that failed their trial on this device.
    package let blocks: TrialBlocks
    /// Versions that could not be downloaded.
    package let transfers: TransferFailures
    /// Versions that are incompatible with this device's native part.
    package var unfit: UnfitVersions
    /// Versions that were not received in this sync.
    package var notReceived: Set<PatchContent> = []
    /// Versions that wait for an unmetered network.
    package var putOff: [PatchContent: MeteredWait] = [:]
    /// Versions that do not fit on the disk.
    package var noRoom: [PatchContent: SpaceShortage] = [:]
    /// Versions that were approved on this device.
    package var approved = ApprovedVersions()
    /// The cases without approval.
    package var exemption = ConsentExemption()
    /// The server's answers.
    package var answers = ServerAnswers()

    /// - Parameter dial: The dial, or nil if no valid one exists.
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

    /// The first rule that excludes a version from a device that does not have it.
    package func obstacle(to entry: PatchEntry, over current: InstalledPatch?) -> NotEligible? {
        for rule in EligibilityRule.allCases {
            if let why = obstacle(to: entry, over: current, by: rule) { return why }
        }
        return nil
    }

    /// The obstacle by this rule, or nil if the version passes it.
    func obstacle(to entry: PatchEntry, over current: InstalledPatch?, by rule: EligibilityRule) -> NotEligible? {
        switch rule {
        case .label:
            // Within a channel, a label has exactly one content.
            guard let current, current.channel == nil, current.version == entry.version else { return nil }
            return current.fingerprint.sha256 == entry.fingerprint.sha256 ? nil : .republished
        case .appVersion, .knownRules, .condition, .users: return ruleObstacle(to: entry, by: rule)
        case .arrival:
            if let wait = noRoom[entry.content] { return .noRoom(wait) }
            return notReceived.contains(entry.content) ? .notReceived : nil
        case .network: return putOff[entry.content].map { .metered($0) }
        case .nativePart:
            guard let platform = device.platform, unfit.contains(entry.content, for: platform) else { return nil }
            return .incompatible(platform)
        case .trials:
            switch blocks.status(of: entry.content, at: device.time, retryNow: device.retryNow) {
            case .free: return nil
            case .waiting(let until): return .waiting(until: until)
            case .blocked(let until): return .blocked(until: until)
            case .rolledBackByHand(let until): return .rolledBackByHand(until: until)
            }
        case .transfers:
            guard !device.retryNow, let wait = transfers.wait(for: entry.content, at: device.time) else { return nil }
            return .transferWaiting(failures: wait.failures, until: wait.until)
        case .consent:
            guard !device.consent.covers(entry), !exemption.covers(entry.patchID), !approved.contains(entry.content)
            else { return nil }
            return .unapproved(Label(patchID: entry.patchID, version: entry.version))
        case .dial, .pause, .rollout, .headcount: return shareObstacle(to: entry, by: rule)
        }
    }

    /// The obstacle by a rule that describes for which devices a version is meant.
    private func ruleObstacle(to entry: PatchEntry, by rule: EligibilityRule) -> NotEligible? {
        let rules = entry.rules
        switch rule {
        case .appVersion:
            if rules.appVersionFits(device.appVersion) { return nil }
            return .appVersion(needs: rules.appVersion?.text ?? "", has: device.appVersion?.text)
        case .knownRules: return rules.unknown.first.map { .unknownRule($0) }
        case .condition:
            guard let text = rules.condition else { return nil }
            do throws(Condition.Problem) {
                return try Condition(text).holds(for: device.data) ? nil : .condition(text)
            } catch { return .malformedCondition(error) }
        case .users:
            guard let users = rules.users else { return nil }
            guard let user = device.user, users.contains(user.hash(salt: entry.salt)) else {
                return .users(isKnown: device.user != nil)
            }
            return nil
        default: return nil
        }
    }

    /// The obstacle by a rule that limits the number of devices.
    ///
    /// The rollout is the smaller of the signed ceiling and the dial.
    private func shareObstacle(to entry: PatchEntry, by rule: EligibilityRule) -> NotEligible? {
        let row = row(of: entry)
        switch rule {
        case .dial: return !hasDial && entry.rules.dial == .required ? .dialMissing : nil
        case .pause: return row?.paused == true ? .paused(reason: row?.reason) : nil
        case .rollout:
            let effective = min(entry.rules.rollout, row?.rollout ?? 10_000)
            let cohort = Cohort(salt: entry.salt, deviceID: device.deviceID).number
            return effective > cohort ? nil : .rollout(cohort: cohort, effective: effective)
        case .headcount:
            guard let headcount = row?.headcount else { return nil }
            return answers.mayHave(entry.placeName(of: device.deviceID)) ? nil : .noPlace(headcount: headcount)
        default: return nil
        }
    }

    /// The row of this entry in the dial.
    func row(of entry: PatchEntry) -> Dial.Row? { dialRows[entry.content] }

    /// The name of the place that this entry needs and this device lacks.
    func missingPlace(in entry: PatchEntry) -> SHA256Digest? {
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
