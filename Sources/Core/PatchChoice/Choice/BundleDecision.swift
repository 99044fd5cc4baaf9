package import PatchFormat

/// The decision about a chosen bundle once its manifest is known, in Meteor's order (M3).
package enum BundleDecision: Equatable, Sendable {
    package enum Known: Equatable, Sendable {
        /// It is being downloaded.
        case downloading
        case current
        case pending
    }

    package enum Refusal: Equatable, Sendable {
        /// It failed its trials on this device.
        case blacklisted(until: UTCTime)
        /// None of its assets are downloaded.
        case incompatible(Platform, needs: String?)
    }

    package enum Source: Equatable, Sendable {
        /// It is embedded in the app.
        case embedded
        case disk
    }

    case ignore(Known)
    case refuse(Refusal)
    case ready(Source)
    case download

    /// The facts of this device about the offered bundle.
    package struct Facts: Sendable {
        package var downloading: PatchContent?
        package var current: PatchContent?
        package var pending: PatchContent?
        package var blockStatus = TrialBlocks.BlockStatus.free
        /// The device's native part, or nil if it is not set.
        ///
        /// Compatibility is then not checked.
        package var platform: Platform?
        package var embedded: PatchContent?
        package var isOnDisk = false

        package init() {}
    }

    /// - Parameter compatibility: The compatibility hashes in the manifest, by platform.
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
