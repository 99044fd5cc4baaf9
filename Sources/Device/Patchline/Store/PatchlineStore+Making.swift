import PatchFormat
import PatchStore
import PatchSync
import ReleaseFolder
import SystemPackage

extension PatchlineStore {
    /// The origin of a store.
    ///
    /// The app provides all of it, and none is downloaded.
    public struct Origin: Sendable {
        /// The URL of the published tree, such as `https://updates.example.org`.
        public var server: String
        /// The bytes of `root.json`; nil for the root in ``embedded``.
        ///
        /// There is no trust on first use.
        public var root: [UInt8]?
        /// The channel; nil for that of ``embedded``, else `production`.
        public var channel: String?
        /// The absolute path of a folder made by `patchsign embed`.
        ///
        /// It contains a complete version for the first start, offline.
        public var embedded: String?
        /// The build of this app, if it embeds versions.
        public var appBuild: String?
        /// The store's further settings.
        public var settings = Settings()

        /// Creates an origin.
        ///
        /// One of `root` and `embedded` is required.
        public init(server: String, root: [UInt8]? = nil, embedded: String? = nil) {
            self.server = server
            self.root = root
            self.embedded = embedded
        }
    }

    /// The outcome of making a store.
    public enum Making: Equatable, Sendable {
        case made
        /// The store existed with these settings. Nothing was changed.
        case sameAsBefore
        /// The store existed with these differences. Nothing was changed. Use ``PatchlineStore/configure(_:)`` and
        /// ``PatchlineStore/follow(channel:server:)`` to change them.
        case differs([String])
    }

    /// Creates the store if it does not exist.
    ///
    /// An app calls this at each start.
    ///
    /// - Parameters:
    ///   - path: The store's folder. Its parent folder must exist.
    ///   - origin: The root of trust, the app, and the servers.
    /// - Throws: `invalid` for a malformed URL, name or PEM; `refused` for a root or a folder that does not verify; `disk`.
    @discardableResult
    public static func make(_ path: String, from origin: Origin) throws(PatchlineError) -> Making {
        try make(DeviceStore(root: FilePath(given: path), files: DiskFiles()), from: origin)
    }

    static func make(_ store: DeviceStore, from origin: Origin) throws(PatchlineError) -> Making {
        guard let server = ServerURL(origin.server) else { throw PatchlineError("server \(ServerURL.rule)") }
        let channel = try origin.channel.map { text throws(PatchlineError) in
            try parsed(text, "channel") as ChannelName
        }
        let build = try origin.appBuild.map { text throws(PatchlineError) in
            try parsed(text, "appBuild") as AppBuild
        }
        let embedded = try origin.embedded.map { path throws(PatchlineError) in
            let path = FilePath(asNamed: path)
            do throws(ReleaseError) { return try EmbeddedFolder(path, files: DiskFiles()) } catch {
                throw PatchlineError(.embedded(path, error))
            }
        }
        let root: [UInt8]
        if let given = origin.root {
            root = given
        } else {
            guard let embedded else { throw PatchlineError("root or embedded is needed") }
            do throws(ReleaseError) { root = try embedded.root(files: DiskFiles()) } catch {
                throw PatchlineError(.embedded(embedded.path, error))
            }
        }
        let (facts, access) = (try origin.settings.facts, try origin.settings.access)
        let creation = try rethrown { () throws(SyncError) in
            try Device.createOnce(
                store,
                server: server,
                channel: channel,
                facts: facts,
                root: root,
                access: access,
                machine: MachineIdentity.ofThisMachine(),
                embedded: embedded,
                appBuild: build
            )
        }
        return switch creation {
        case .made: .made
        case .unchanged: .sameAsBefore
        case .differs(let names): .differs(names)
        }
    }
}
