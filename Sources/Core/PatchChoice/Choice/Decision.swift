package import PatchFormat

/// The choice for one patch id (features J3 to J8, and the design's sticky rule).
package enum Choice: Equatable, Sendable {
    /// A listed version above the device's version.
    case take(PatchEntry, over: InstalledPatch?)
    /// The device's version, while it is listed.
    case keep(InstalledPatch)
    /// No version of this id yet.
    case none
    /// The device's version is no longer listed for it, and no other version is. It is removed at the next launch.
    ///
    /// A version that was withdrawn by name is replaced by the one before it, if no listed version is chosen.
    case withdraw(InstalledPatch, for: InstalledPatch? = nil)

    /// The version of this id after the choice.
    package var versionAfter: VersionLabel? {
        switch self {
        case .take(let entry, over: _): entry.version
        case .keep(let patch): patch.version
        case .withdraw(_, for: let before): before?.version
        case .none: nil
        }
    }

    /// The content of this id after the choice.
    package var content: PatchContent? {
        switch self {
        case .take(let entry, over: _): entry.content
        case .keep(let patch): patch.content
        case .withdraw(_, for: let before): before?.content
        case .none: nil
        }
    }
}

/// A choice and the obstacles to the versions that were passed over.
package struct Decision: Equatable, Sendable {
    package let patchID: PatchID
    package let choice: Choice
    package let passedOver: [PassedOver]
    /// The server's part in the choice, or nil if the list and its rules alone decided.
    package var server: ServerPart?

    package enum ServerPart: Equatable, Sendable {
        /// The server chose this version among those that are eligible for the device.
        case chose
        /// The server chose this version, and a running app switches at once.
        case forced
    }

    /// The newly chosen version.
    var taken: PatchEntry? {
        guard case .take(let entry, over: _) = choice else { return nil }
        return entry
    }

    package struct PassedOver: Equatable, Sendable {
        package let version: VersionLabel
        package let why: NotEligible
    }
}
