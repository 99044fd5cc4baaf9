import Gateways
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// The sites of a server's apps, made anew after each change.
///
/// They are not stored on disk: files are sent from the published tree, and derived documents are kept in memory.
actor GatewaySites {
    /// The content that one app's gateways serve, valid until its timestamp is replaced.
    struct App: Sendable {
        let origin: FileOrigin
        let channels: [ChannelName: Channel]
        /// The files for JSPatch's clients, by the path below the gateway's folder.
        let packages: [Gateway: [ChannelName: [String: PackageFile]]]
    }

    enum PackageFile: Sendable {
        case package(Fingerprint)
        case syncFile(ServedBytes)
    }

    struct Channel: Sendable {
        let site: MeteorSite
        let manifest: ServedBytes
        let index: ServedBytes
    }

    private let folder: ServerFolder
    private nonisolated let known = NIOLockedValueBox<[AppID: App]>([:])

    init(_ folder: ServerFolder) {
        self.folder = folder
    }

    nonisolated var tree: FilePath { folder.tree }

    /// The content made earlier, or nil if there is none or it is outdated.
    nonisolated func current(_ app: AppID) -> App? {
        guard let found = known.withLockedValue({ $0[app] }), found.origin.isCurrent else { return nil }
        return found
    }

    /// Makes the content of one app at a time.
    ///
    /// Callers after a change wait for the first and receive its result.
    ///
    /// - Returns: nil for an app that does not exist.
    func made(_ app: AppID) throws(ServerError) -> App? {
        if let current = current(app) { return current }
        let repository: AppRepository
        do throws(ServerError) { repository = try AppRepository(app, in: folder, files: DiskFiles()) } catch .unknownApp
        {
            return nil
        }
        // Recorded before the read, so that a concurrent change is noticed at the next request.
        guard let origin = FileOrigin(at: folder.tree(of: app).at(URLLayout.timestamp).string) else { return nil }
        let state = try PublishedState(of: repository)
        let published = PublishedSites(of: state, in: repository)
        let sites = try published.meteor()
        var packages: [Gateway: [ChannelName: [String: PackageFile]]] = [:]
        for (channel, sites) in try published.packages() {
            for site in sites {
                packages[site.gateway, default: [:]][channel] = site.files.mapValues { PackageFile($0, from: origin) }
            }
        }
        let channels = sites.mapValues { Channel($0, from: origin) }
        let made = App(origin: origin, channels: channels, packages: packages)
        known.withLockedValue { $0[app] = made }
        return made
    }
}

extension GatewaySites.Channel {
    fileprivate init(_ site: MeteorSite, from origin: FileOrigin) {
        self.site = site
        func bytes(_ bytes: [UInt8], _ type: String) -> ServedBytes {
            ServedBytes(
                bytes: bytes,
                entityTag: Fingerprint(of: bytes).sha1.hex,
                contentType: type,
                headers: ["X-Content-Type-Options": "nosniff"],
                origin: origin
            )
        }
        manifest = bytes(site.manifest, "application/json; charset=UTF-8")
        index = bytes(site.index, "text/html; charset=UTF-8")
    }
}

extension GatewaySites.PackageFile {
    fileprivate init(_ file: PackageSite.File, from origin: FileOrigin) {
        switch file {
        case .package(let fingerprint): self = .package(fingerprint)
        case .syncFile(let syncFile):
            let bytes = syncFile.bytes
            self = .syncFile(
                ServedBytes(
                    bytes: bytes,
                    entityTag: Fingerprint(of: bytes).sha1.hex,
                    contentType: "application/json",
                    headers: ["X-Content-Type-Options": "nosniff"],
                    origin: origin
                )
            )
        }
    }
}
