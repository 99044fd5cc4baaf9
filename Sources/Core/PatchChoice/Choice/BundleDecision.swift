package import PatchFormat

/// What becomes of a bundle that the choice fell on, once its manifest is known: Meteor's order (M3).
package enum BundleDecision: Equatable, Sendable {
    package enum Known: Equatable, Sendable {
        /// A download of it runs.
        case downloading
        case current
        case pending
    }

    package enum Refusal: Equatable, Sendable {
        /// It failed its trials here.
        case blacklisted(until: UTCTime)
        /// No asset of it is fetched.
        case incompatible(Platform, needs: String?)
    }

    package enum Source: Equatable, Sendable {
        /// It ships inside the app.
        case embedded
        case disk
    }

    case ignore(Known)
    case refuse(Refusal)
    case ready(Source)
    case download

    /// What this device knows of the bundle that is offered.
    package struct Facts: Sendable {
        package var downloading: PatchContent?
        package var current: PatchContent?
        package var pending: PatchContent?
        package var blockStatus = TrialBlocks.BlockStatus.free
        /// Of this device; nil when it does not say, and then it does not ask.
        package var platform: Platform?
        package var embedded: PatchContent?
        package var isOnDisk = false

        package init() {}
    }

    /// - Parameter compatibility: by platform, as the manifest lists it.
    package init(_ offered: PatchContent, compatibility: [String: String], facts: Facts) {
        if offered == facts.downloading {
            self = .ignore(.downloading)
        } else if offered == facts.current {
            self = .ignore(.current)
        } else if offered == facts.pending {
            self = .ignore(.pending)
        } else if let until = facts.blockStatus.blockedUntil {
            self = .refuse(.blacklisted(until: until))
        } else if let platform = facts.platform, !platform.fits(compatibility) {
            self = .refuse(.incompatible(platform, needs: compatibility[platform.name]))
        } else if offered == facts.embedded {
            self = .ready(.embedded)
        } else {
            self = facts.isOnDisk ? .ready(.disk) : .download
        }
    }
}
