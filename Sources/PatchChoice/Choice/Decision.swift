package import PatchFormat

/// What becomes of one patch id (features J3 to J8, and the design's sticky rule).
package enum Choice: Equatable, Sendable {
    /// A listed version above the one the device has.
    case take(PatchEntry, over: InstalledPatch?)
    /// What it has, while that is listed.
    case keep(InstalledPatch)
    /// Nothing of this id, yet.
    case none
    /// What it has is no longer listed for it, and nothing else is: gone at the next launch.
    ///
    /// What was withdrawn by name makes room for what stood before it, where nothing that is listed runs here.
    case withdraw(InstalledPatch, for: InstalledPatch? = nil)

    /// What the device has of this id afterwards.
    package var content: PatchContent? {
        switch self {
        case .take(let entry, over: _): entry.content
        case .keep(let patch): patch.content
        case .withdraw(_, for: let before): before?.content
        case .none: nil
        }
    }
}

/// A choice and why the versions before it were passed over.
package struct Decision: Equatable, Sendable {
    package let patchID: PatchID
    package let choice: Choice
    package let passedOver: [PassedOver]
    /// What the server had to do with it: nil where the list and its rules alone decided.
    package var server: ServerPart?

    package enum ServerPart: Equatable, Sendable {
        /// It chose this one among the versions that the device may have.
        case chose
        /// The same, and a running app switches at once.
        case forced
    }

    /// The version that is newly taken.
    var taken: PatchEntry? {
        guard case .take(let entry, over: _) = choice else { return nil }
        return entry
    }

    package struct PassedOver: Equatable, Sendable {
        package let version: VersionLabel
        package let why: NotEligible
    }
}
