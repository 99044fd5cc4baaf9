/// What Meteor's client does with a manifest that it has just read.
package enum MeteorDecision: Equatable, Sendable {
    /// It is being downloaded, runs, or waits for its switch.
    case ignore
    /// Nothing has to be fetched: the app brought it, or it was fetched before.
    case ready
    /// A download of another version that runs is cancelled.
    case download

    /// What a device has of a Meteor app.
    package struct Device: Equatable, Sendable {
        /// Of its own platform and plugins.
        package var compatibility: String
        /// What the app brought.
        package var initial: String
        package var current: String
        package var pending: String?
        package var downloading: String?
        package var onDisk: Set<String> = []
        package var blacklisted: Set<String> = []

        package init(compatibility: String, initial: String, current: String) {
            self.compatibility = compatibility
            self.initial = initial
            self.current = current
        }
    }

    /// In the order of Meteor's client.
    package init(_ manifest: MeteorManifest, on device: Device) throws(MeteorError) {
        let version = manifest.version
        if version == device.downloading || version == device.current || version == device.pending {
            self = .ignore
            return
        }
        guard !device.blacklisted.contains(version) else { throw .blacklisted }
        guard manifest.compatibility == device.compatibility else { throw .incompatible }
        self = version == device.initial || device.onDisk.contains(version) ? .ready : .download
    }
}

/// Where an asset of a new version comes from.
package enum MeteorSource: Equatable, Sendable {
    /// The app's own bundle, where it lies.
    case initial
    /// A folder that was downloaded before, by its place in the list given.
    case held(Int)
    case download

    /// Assets by their URL, of which a version has each once.
    package typealias Assets = [String: MeteorAsset]

    /// - Parameters:
    ///   - initial: what the app brought.
    ///   - held: of each downloaded version, and of a download that was broken off last, the assets whose files are there.
    package init(of asset: MeteorAsset, initial: Assets, held: [Assets]) {
        self =
            if asset.canBe(initial[asset.url]) {
                .initial
            } else if let place = held.firstIndex(where: { asset.canBe($0[asset.url]) }) {
                .held(place)
            } else { .download }
    }
}

extension MeteorAsset {
    /// By Meteor's rule, of one URL: one hash; without a hash, as of a source map, only where the URL may be kept.
    fileprivate func canBe(_ other: MeteorAsset?) -> Bool {
        guard let other else { return false }
        return hash == other.hash && (other.isCacheable || other.hash != nil)
    }
}
