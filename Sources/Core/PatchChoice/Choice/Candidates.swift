package import PatchFormat

/// The versions of one patch id that the list offers this device, each with the obstacle to it, if any.
///
/// The first eligible version above the current one is chosen. ``JointChoice`` passes over further ones because of other ids.
package struct Candidates: Sendable {
    package let patchID: PatchID
    /// The listed versions, in the order of the list.
    let versions: [PatchEntry]
    /// Whether an entry of this id was rejected.
    ///
    /// A missing version then does not count as withdrawn.
    let hasRefused: Bool
    let current: InstalledPatch?
    /// Set if the list withdraws the current version by name: its replacement if no listed version is chosen.
    private var withdrawal: Withdrawal?
    /// Set if the list withdraws versions by name: the version of this id that the device had before.
    private let before: InstalledPatch?
    /// Whether the list withdraws versions of this id by name, but not the current one.
    private let namesOthers: Bool
    /// The current version's index, or nil if it is not listed for this device.
    private(set) var place: Int?
    /// The obstacle to each version above ``place``, or to each of all versions.
    private(set) var verdicts: [NotEligible?]
    /// A summary, so that no query reads thousands of verdicts again.
    private var sum: VerdictIndex
    /// Versions passed over because they require a version that only the server holds back, and their contents.
    private var heldThroughOthers: (versions: Set<Int>, contents: Set<SHA256Digest>) = ([], [])

    /// A version that is withdrawn by name, and therefore permanently.
    package struct Withdrawal: Sendable {
        /// The version confirmed before it, or the embedded one.
        package let before: InstalledPatch?

        package init(before: InstalledPatch?) {
            self.before = before
        }
    }

    /// - Parameters:
    ///   - versions: The listed versions of this id, in the order of the list.
    ///   - withdrawal: Set if `current` is withdrawn by name.
    ///   - namesWithdrawn: Whether the list withdraws any version of this id by name.
    ///   - before: The version of this id that the device had before, for a current version whose requirement is
    ///     withdrawn by name.
    package init(
        _ patchID: PatchID,
        versions: [PatchEntry],
        hasRefused: Bool = false,
        current: InstalledPatch?,
        withdrawal: Withdrawal? = nil,
        namesWithdrawn: Bool = false,
        before: InstalledPatch? = nil,
        under context: EligibilityContext
    ) {
        self.withdrawal = withdrawal
        self.before = before
        namesOthers = namesWithdrawn && withdrawal == nil
        self.patchID = patchID
        self.versions = versions
        self.hasRefused = hasRefused
        self.current = current
        let listable = withdrawal == nil ? current : nil
        let place = listable.flatMap { current in
            versions.firstIndex {
                $0.fingerprint.sha256 == current.fingerprint.sha256
                    && $0.rules.appVersionFits(context.device.appVersion)
            }
        }
        self.place = place
        verdicts = versions[..<(place ?? versions.endIndex)].map { context.obstacle(to: $0, over: current) }
        sum = VerdictIndex(verdicts, of: versions)
    }

    package var decision: Decision {
        let end = pickedIndex ?? stop
        let passedOver = zip(versions, verdicts[..<end]).compactMap { entry, why in
            why.map { Decision.PassedOver(version: entry.version, why: $0) }
        }
        return Decision(patchID: patchID, choice: choice, passedOver: passedOver)
    }

    package var choice: Choice {
        if let pickedIndex { return .take(versions[pickedIndex], over: current) }
        guard let current else { return .none }
        if let withdrawal {
            // A slow network causes no withdrawal.
            if withdrawal.before == nil, verdicts.contains(where: { $0?.isTemporary == true }) {
                return .keep(current)
            }
            // A patch that is not listed at all is removed completely.
            return .withdraw(current, for: versions.isEmpty && !hasRefused ? nil : withdrawal.before)
        }
        if place != nil || hasRefused || sum.keepsOldVersion {
            return .keep(current)
        }
        // A version from another channel stays until this channel lists a version of that id. A channel cannot withdraw a
        // version that it never listed, and the device keeps a version to run.
        if current.channel != nil { return .keep(current) }
        // The online key can hold back a new version, but cannot withdraw one.
        if isHeldBack { return .keep(current) }
        // A list that withdraws by name leaves all other versions, above all a rollback's target.
        if namesOthers, !versions.isEmpty, !versions.contains(where: { $0.content == current.content }) {
            return .keep(current)
        }
        return .withdraw(current)
    }

    /// Whether a version would replace the current one without the dial, the server's answer, or its requirements.
    private var isHeldBack: Bool { sum.isHeldBack || heldThroughOthers.versions.contains { $0 < stop } }

    /// Whether only the server holds back one of these contents.
    func isHeldBack(_ digests: [SHA256Digest]) -> Bool {
        digests.contains { sum.held.contains($0) || heldThroughOthers.contents.contains($0) }
    }

    /// The current version's entry in the list.
    var listedCurrent: PatchEntry? { place.map { versions[$0] } }

    /// The content of this id after the choice.
    var content: SHA256Digest? {
        pickedIndex.map { versions[$0].fingerprint.sha256 } ?? choice.content?.sha256
    }

    /// Whether the choice could still result in one of these contents.
    func canStillChoose(_ digests: [SHA256Digest]) -> Bool {
        let held = withdrawal.map(\.before) ?? current
        if let held, digests.contains(held.fingerprint.sha256) { return true }
        return digests.contains { sum.open[$0, default: 0] > 0 }
    }

    /// The obstacle to these contents, if one of them is listed.
    func obstacle(to digests: [SHA256Digest]) -> NotEligible? {
        digests.compactMap { sum.closed[$0] }.min().flatMap { verdicts[$0] }
    }

    /// Passes over the version that would be chosen, for this reason.
    ///
    /// - Parameter isHeldBack: Whether the reason results from the server's decision about another patch.
    mutating func passOverPicked(because why: NotEligible, isHeldBack: Bool = false) {
        guard let pickedIndex else { preconditionFailure("nothing is picked") }
        verdicts[pickedIndex] = why
        if isHeldBack {
            heldThroughOthers.versions.insert(pickedIndex)
            heldThroughOthers.contents.insert(versions[pickedIndex].fingerprint.sha256)
        }
        if why.isDue {
            sum = VerdictIndex(verdicts, of: versions)
        } else {
            sum.close(pickedIndex, verdicts, of: versions)
        }
    }

    /// Treats the current version as not listed, for this reason.
    ///
    /// Versions below it are then considered too.
    mutating func loseCurrent(because why: NotEligible, under context: EligibilityContext) {
        guard let place else { preconditionFailure("it is not listed") }
        if let before { withdrawal = Withdrawal(before: before) }
        verdicts.append(why)
        verdicts += versions[(place + 1)...].map { context.obstacle(to: $0, over: current) }
        self.place = nil
        sum = VerdictIndex(verdicts, of: versions)
    }

    /// Passes over all eligible versions but one, for this reason.
    mutating func passOverAll(but kept: Int?, because why: NotEligible) {
        for index in verdicts.indices where index != kept && verdicts[index] == nil { verdicts[index] = why }
        sum = VerdictIndex(verdicts, of: versions)
    }

    var pickedIndex: Int? { sum.firstOpen < sum.stop ? sum.firstOpen : nil }

    /// Versions below one that was not received, or that waits, are not considered.
    private var stop: Int { sum.stop }
}

/// An index of one id's verdicts, which is kept up to date.
private struct VerdictIndex: Sendable {
    /// See ``Candidates``.
    let stop: Int
    /// The first version without an obstacle.
    private(set) var firstOpen: Int
    /// The number of versions above the stop without an obstacle, by content.
    private(set) var open: [SHA256Digest: Int] = [:]
    /// The first version with an obstacle, by content.
    private(set) var closed: [SHA256Digest: Int] = [:]
    /// Whether any obstacle above the stop keeps the old version.
    private(set) var keepsOldVersion = false
    private(set) var isHeldBack = false
    /// Contents that only the server holds back, over all versions.
    private(set) var held: Set<SHA256Digest> = []

    init(_ verdicts: [NotEligible?], of versions: [PatchEntry]) {
        stop = verdicts.firstIndex { $0?.isDue == true }.map { $0 + 1 } ?? verdicts.endIndex
        firstOpen = verdicts.firstIndex { $0 == nil } ?? verdicts.endIndex
        for (index, verdict) in verdicts.enumerated() {
            if let verdict {
                note(verdict, index, of: versions)
            } else if index < stop {
                open[versions[index].fingerprint.sha256, default: 0] += 1
            }
        }
    }

    /// Updates the index after the first open version got a verdict.
    mutating func close(_ index: Int, _ verdicts: [NotEligible?], of versions: [PatchEntry]) {
        open[versions[index].fingerprint.sha256, default: 0] -= 1
        if let verdict = verdicts[index] { note(verdict, index, of: versions) }
        while firstOpen < verdicts.endIndex, verdicts[firstOpen] != nil { firstOpen += 1 }
    }

    private mutating func note(_ verdict: NotEligible, _ index: Int, of versions: [PatchEntry]) {
        let sha256 = versions[index].fingerprint.sha256
        closed[sha256] = min(index, closed[sha256] ?? index)
        let isHeld = verdict.isServerDecision(holding: versions[index])
        if isHeld { held.insert(sha256) }
        guard index < stop else { return }
        keepsOldVersion = keepsOldVersion || verdict.keepsOldVersion
        isHeldBack = isHeldBack || isHeld
    }
}
