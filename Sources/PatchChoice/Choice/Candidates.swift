package import PatchFormat

/// What one patch id offers this device, and what speaks against each version.
///
/// By itself it chooses the first version that the device is eligible for and that stands above the one it has;
/// ``JointChoice`` passes further ones over, for the sake of other ids.
package struct Candidates: Sendable {
    package let patchID: PatchID
    /// In list order.
    let versions: [PatchEntry]
    /// Whether an entry of this id was refused; then nothing is concluded from its absence.
    let hasRefused: Bool
    let current: InstalledPatch?
    /// Where the list withdraws the current version by name: what takes its place if nothing that is listed does.
    private var withdrawal: Withdrawal?
    /// Where the list names versions as withdrawn: what the device had of this id before.
    private let before: InstalledPatch?
    /// Whether the list withdraws versions of this id by name, and not the current one.
    private let namesOthers: Bool
    /// Where the current version stands; nil when it is not listed for this device.
    private(set) var place: Int?
    /// Of the versions above ``place``, or of all: what speaks against it.
    private(set) var verdicts: [NotEligible?]
    /// What the verdicts come to: nobody looks through thousands of them again for each question.
    private var sum: VerdictSum
    /// Those that were passed over because they require what the server's own word keeps away; and their contents.
    private var heldThroughOthers: (versions: Set<Int>, contents: Set<SHA256Digest>) = ([], [])

    /// A version that is withdrawn by name, and so for good.
    package struct Withdrawal: Sendable {
        /// What the device confirmed before it, or the app ships.
        package let before: InstalledPatch?

        package init(before: InstalledPatch?) {
            self.before = before
        }
    }

    /// - Parameters:
    ///   - versions: of this id, in list order.
    ///   - withdrawal: of `current`, by name.
    ///   - namesWithdrawn: whether the list withdraws any version of this id by name.
    ///   - before: what the device had of this id before, for where a requirement of the current version is withdrawn by name.
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
        sum = VerdictSum(verdicts, of: versions)
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
            // A slow network takes nothing away.
            if withdrawal.before == nil, verdicts.contains(where: { $0?.isOfTheNetwork == true }) {
                return .keep(current)
            }
            // Of a patch that is not listed at all nothing stays.
            return .withdraw(current, for: versions.isEmpty && !hasRefused ? nil : withdrawal.before)
        }
        if place != nil || hasRefused || sum.keepsTheOld {
            return .keep(current)
        }
        // What came from another channel stays until this one brings a version of that id: it cannot withdraw what it
        // never listed, and a device has something to run.
        if current.channel != nil { return .keep(current) }
        // The online key holds back what is new, and takes nothing away.
        if isHeldBack { return .keep(current) }
        // A list that names what goes leaves the rest: what a device went back to, above all.
        if namesOthers, !versions.isEmpty, !versions.contains(where: { $0.content == current.content }) {
            return .keep(current)
        }
        return .withdraw(current)
    }

    /// Whether a version would be taken in place of the current one, did the dial or the server's answer not hold it back, or
    /// what it requires.
    private var isHeldBack: Bool { sum.isHeldBack || heldThroughOthers.versions.contains { $0 < stop } }

    /// Whether the server's own word keeps one of these from the device.
    func isHeldBack(_ digests: [SHA256Digest]) -> Bool {
        digests.contains { sum.held.contains($0) || heldThroughOthers.contents.contains($0) }
    }

    /// The listed row of what the device has.
    var listedCurrent: PatchEntry? { place.map { versions[$0] } }

    /// What the device has of this id afterwards.
    var content: SHA256Digest? {
        pickedIndex.map { versions[$0].fingerprint.sha256 } ?? choice.content?.sha256
    }

    /// What the device could still have of this id.
    func couldBe(_ digests: [SHA256Digest]) -> Bool {
        let held = withdrawal.map(\.before) ?? current
        if let held, digests.contains(held.fingerprint.sha256) { return true }
        return digests.contains { sum.open[$0, default: 0] > 0 }
    }

    /// Why none of these is what the device gets, where one of them is listed.
    func obstacle(to digests: [SHA256Digest]) -> NotEligible? {
        digests.compactMap { sum.closed[$0] }.min().flatMap { verdicts[$0] }
    }

    /// The version that would be taken is not, for this reason.
    ///
    /// - Parameter isHeldBack: whether that goes back to the server's own word on another patch.
    mutating func passOverPicked(because why: NotEligible, isHeldBack: Bool = false) {
        guard let pickedIndex else { preconditionFailure("nothing is picked") }
        verdicts[pickedIndex] = why
        if isHeldBack {
            heldThroughOthers.versions.insert(pickedIndex)
            heldThroughOthers.contents.insert(versions[pickedIndex].fingerprint.sha256)
        }
        if why == .notReceived {
            sum = VerdictSum(verdicts, of: versions)
        } else {
            sum.close(pickedIndex, verdicts, of: versions)
        }
    }

    /// What the device has counts as not listed, for this reason: what is listed below it is looked at too.
    mutating func loseCurrent(because why: NotEligible, under context: EligibilityContext) {
        guard let place else { preconditionFailure("it is not listed") }
        if let before { withdrawal = Withdrawal(before: before) }
        verdicts.append(why)
        verdicts += versions[(place + 1)...].map { context.obstacle(to: $0, over: current) }
        self.place = nil
        sum = VerdictSum(verdicts, of: versions)
    }

    /// Every version that could be taken is passed over for this reason, all but one of them.
    mutating func passOverAll(but kept: Int?, because why: NotEligible) {
        for index in verdicts.indices where index != kept && verdicts[index] == nil { verdicts[index] = why }
        sum = VerdictSum(verdicts, of: versions)
    }

    var pickedIndex: Int? { sum.firstOpen < sum.stop ? sum.firstOpen : nil }

    /// Behind a version that did not come nothing is looked at.
    private var stop: Int { sum.stop }
}

/// What is asked of the verdicts on one id's versions, kept at hand.
private struct VerdictSum: Sendable {
    /// See ``Candidates``.
    let stop: Int
    /// The first version that nothing speaks against.
    private(set) var firstOpen: Int
    /// Above the stop: by content, how many versions nothing speaks against.
    private(set) var open: [SHA256Digest: Int] = [:]
    /// By content, the first version that something speaks against.
    private(set) var closed: [SHA256Digest: Int] = [:]
    /// What is said above the stop, of any version.
    private(set) var keepsTheOld = false
    private(set) var isHeldBack = false
    /// Contents that the server's own word keeps away, of all versions.
    private(set) var held: Set<SHA256Digest> = []

    init(_ verdicts: [NotEligible?], of versions: [PatchEntry]) {
        stop = verdicts.firstIndex { $0 == .notReceived }.map { $0 + 1 } ?? verdicts.endIndex
        firstOpen = verdicts.firstIndex { $0 == nil } ?? verdicts.endIndex
        for (index, verdict) in verdicts.enumerated() {
            if let verdict {
                note(verdict, index, of: versions)
            } else if index < stop {
                open[versions[index].fingerprint.sha256, default: 0] += 1
            }
        }
    }

    /// The version that was the first open one has a verdict now.
    mutating func close(_ index: Int, _ verdicts: [NotEligible?], of versions: [PatchEntry]) {
        open[versions[index].fingerprint.sha256, default: 0] -= 1
        if let verdict = verdicts[index] { note(verdict, index, of: versions) }
        while firstOpen < verdicts.endIndex, verdicts[firstOpen] != nil { firstOpen += 1 }
    }

    private mutating func note(_ verdict: NotEligible, _ index: Int, of versions: [PatchEntry]) {
        let sha256 = versions[index].fingerprint.sha256
        closed[sha256] = min(index, closed[sha256] ?? index)
        let isHeld = verdict.isOfTheServer(holding: versions[index])
        if isHeld { held.insert(sha256) }
        guard index < stop else { return }
        keepsTheOld = keepsTheOld || verdict.keepsTheOld
        isHeldBack = isHeldBack || isHeld
    }
}
