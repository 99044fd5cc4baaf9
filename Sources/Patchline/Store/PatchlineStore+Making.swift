import PatchFormat
import PatchStore
import PatchSync
import ReleaseFolder
import SystemPackage

extension PatchlineStore {
    /// What a store is made from: each of these is the app's own, and none comes from the network.
    public struct Origin: Sendable {
        /// Where the published tree is served, as `https://updates.example.org`.
        public var server: String
        /// The bytes of `root.json`; nil: that of ``embedded``.
        ///
        /// There is no trust on first use.
        public var root: [UInt8]?
        /// Nil: that of ``embedded``, else `production`.
        public var channel: String?
        /// The folder of `patchsign embed`, absolute: a complete version from the first start, offline.
        public var embedded: String?
        /// The build of this app, where it ships versions.
        public var appBuild: String?
        /// What the store is told besides.
        public var settings = Settings()

        /// One of `root` and `embedded` is needed.
        public init(server: String, root: [UInt8]? = nil, embedded: String? = nil) {
            self.server = server
            self.root = root
            self.embedded = embedded
        }
    }

    /// What making a store came to.
    public enum Making: Equatable, Sendable {
        case made
        /// There was one, with these settings; nothing was changed.
        case sameAsBefore
        /// There was one that differs in what is named here; nothing was changed. ``PatchlineStore/configure(_:)`` and
        /// ``PatchlineStore/follow(channel:server:)`` change it.
        case differs([String])
    }

    /// Makes the store, once: an app calls it at each start.
    ///
    /// - Parameters:
    ///   - path: the folder; the one above it must be there.
    ///   - origin: whom the store trusts, whose app it is for, and where that is published.
    /// - Throws: `invalid` for what is no URL, name or PEM; `refused` for a root or a folder that does not verify; `disk`.
    @discardableResult
    public static func make(_ path: String, from origin: Origin) throws(PatchlineError) -> Making {
        try make(DeviceStore(root: FilePath(path), files: DiskFiles()), from: origin)
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
            do throws(ReleaseError) { return try EmbeddedFolder(FilePath(path), files: DiskFiles()) } catch {
                throw PatchlineError(.embedded(FilePath(path), error))
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
