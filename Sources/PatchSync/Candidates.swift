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
    /// Where the current version stands; nil when it is not listed for this device.
    private(set) var place: Int?
    /// Of the versions above ``place``, or of all: what speaks against it.
    private(set) var verdicts: [NotEligible?]
    /// Those of them that require what the server's own word keeps away.
    private var heldThroughOthers: Set<Int> = []

    /// - Parameter versions: of this id, in list order.
    package init(
        _ patchID: PatchID,
        versions: [PatchEntry],
        hasRefused: Bool = false,
        current: InstalledPatch?,
        under circumstances: Circumstances
    ) {
        self.patchID = patchID
        self.versions = versions
        self.hasRefused = hasRefused
        self.current = current
        let place = current.flatMap { current in
            versions.firstIndex {
                $0.fingerprint.sha256 == current.fingerprint.sha256
                    && $0.rules.appVersionFits(circumstances.device.appVersion)
            }
        }
        self.place = place
        verdicts = versions[..<(place ?? versions.endIndex)].map { circumstances.obstacle(to: $0, over: current) }
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
        if place != nil || hasRefused || verdicts[..<stop].contains(where: { $0?.keepsTheOld == true }) {
            return .keep(current)
        }
        // What came from another channel stays until this one brings a version of that id: it cannot withdraw what it
        // never listed, and a device has something to run.
        if current.channel != nil { return .keep(current) }
        // The online key holds back what is new, and takes nothing away.
        if isHeldBack { return .keep(current) }
        return .withdraw(current)
    }

    /// Whether a version would be taken in place of the current one, did the dial or the server's answer not hold it back, or
    /// what it requires.
    private var isHeldBack: Bool { verdicts[..<stop].indices.contains(where: isHeldBack) }

    private func isHeldBack(_ index: Int) -> Bool {
        guard let why = verdicts[index] else { return false }
        return heldThroughOthers.contains(index) || why.isOfTheServer(holding: versions[index])
    }

    /// Whether the server's own word keeps one of these from the device.
    func isHeldBack(_ digests: [SHA256Digest]) -> Bool {
        verdicts.indices.contains { digests.contains(versions[$0].fingerprint.sha256) && isHeldBack($0) }
    }

    /// The listed row of what the device has.
    var listedCurrent: PatchEntry? { place.map { versions[$0] } }

    /// What the device could still have of this id.
    func couldBe(_ digests: [SHA256Digest]) -> Bool {
        if let current, digests.contains(current.fingerprint.sha256) { return true }
        return zip(versions, verdicts[..<stop]).contains { entry, why in
            why == nil && digests.contains(entry.fingerprint.sha256)
        }
    }

    /// Why none of these is what the device gets, where one of them is listed.
    func obstacle(to digests: [SHA256Digest]) -> NotEligible? {
        zip(versions, verdicts).lazy.first { digests.contains($0.0.fingerprint.sha256) && $0.1 != nil }?.1
    }

    /// The version that would be taken is not, for this reason.
    ///
    /// - Parameter isHeldBack: whether that goes back to the server's own word on another patch.
    mutating func passOverPicked(because why: NotEligible, isHeldBack: Bool = false) {
        guard let pickedIndex else { preconditionFailure("nothing is picked") }
        verdicts[pickedIndex] = why
        if isHeldBack { heldThroughOthers.insert(pickedIndex) }
    }

    /// What the device has counts as not listed, for this reason: what is listed below it is looked at too.
    mutating func loseCurrent(because why: NotEligible, under circumstances: Circumstances) {
        guard let place else { preconditionFailure("it is not listed") }
        verdicts.append(why)
        verdicts += versions[(place + 1)...].map { circumstances.obstacle(to: $0, over: current) }
        self.place = nil
    }

    /// Every version that could be taken is passed over for this reason, all but one of them.
    mutating func passOverAll(but kept: Int?, because why: NotEligible) {
        for index in verdicts.indices where index != kept && verdicts[index] == nil { verdicts[index] = why }
    }

    var pickedIndex: Int? {
        verdicts[..<stop].firstIndex { $0 == nil }
    }

    /// Behind a version that did not come nothing is looked at.
    private var stop: Int {
        verdicts.firstIndex { $0 == .notReceived }.map { $0 + 1 } ?? verdicts.endIndex
    }
}
