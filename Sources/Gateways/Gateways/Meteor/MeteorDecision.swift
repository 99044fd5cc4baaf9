/// The decision of Meteor's client on a manifest that it has read.
package enum MeteorDecision: Equatable, Sendable {
    /// The version is being downloaded, active or pending.
    case ignore
    /// All files are on the device: the version is embedded in the app or was downloaded before.
    case ready
    /// The version is downloaded. A running download of another version is cancelled.
    case download

    /// The versions of a Meteor app on a device.
    package struct Device: Equatable, Sendable {
        /// The hash of the app's own platform and plugin versions.
        package var compatibility: String
        /// The version embedded in the app.
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

    /// Decides in the order of Meteor's client.
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

/// The source of an asset of a new version.
package enum MeteorSource: Equatable, Sendable {
    /// The app's own bundle. The file is used in place.
    case initial
    /// A downloaded folder, by its index in the given list.
    case held(Int)
    case download

    /// The assets of a version by URL, which is unique in a version.
    package typealias Assets = [String: MeteorAsset]

    /// - Parameters:
    ///   - initial: The assets embedded in the app.
    ///   - held: The assets whose files exist, of each downloaded version and of the last interrupted download.
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
    /// Whether two assets of one URL have the same content, by Meteor's rule: equal hashes.
    ///
    /// Assets without a hash, such as source maps, must also have a cacheable URL.
    fileprivate func canBe(_ other: MeteorAsset?) -> Bool {
        guard let other else { return false }
        return hash == other.hash && (other.isCacheable || other.hash != nil)
    }
}
