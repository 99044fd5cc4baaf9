package import HTTPFiles
package import PatchFormat
package import SystemPackage

/// How one store is kept.
package struct StoreSettings: Equatable, Sendable {
    /// The root of trust that a store is made with at the first start, and the server and channel that it follows.
    package struct Origin: Equatable, Sendable {
        package let server: ServerURL
        package var root: FilePath
        /// Nil: `production` for a new store, and an existing store's own.
        package let channel: ChannelName?

        package init(server: ServerURL, root: FilePath, channel: ChannelName?) {
            (self.server, self.root, self.channel) = (server, root, channel)
        }
    }

    /// When online parameters are looked for beside the syncs.
    package enum ParametersLook: Equatable, Sendable {
        /// At the usual interval; the daemon never more often than it syncs.
        case standard
        case every(Duration)
        case never
    }

    /// A field of every answer; without a value the default one is dropped.
    package struct Header: Equatable, Sendable {
        package let name: String
        package let value: String?
    }

    package let name: String
    package var store: FilePath
    package var origin: Origin?
    /// Nil: only when a page or a person asks, and until there is a first version.
    package var syncEvery: Duration? = .seconds(900)
    /// Whether the server is asked at all, unless a person asks for it.
    package var syncs = true
    package var parametersLook = ParametersLook.standard
    /// The longest sync.
    package var deadline: Duration?
    /// The longest time without a byte.
    package var stallTimeout: Duration?
    /// How often a failed request is repeated.
    package var retries: Int?
    /// Whether pages are served; else versions are only fetched and applied.
    package var serves = true
    /// Nil: the app's own.
    package var port: Int?
    package var bundle: PatchID?
    package var appBuild: AppBuild?
    package var startupTimeout = Duration.seconds(20)
    /// Whether the startup timeout begins with the launch, and not with the first page.
    package var countsLaunch = false
    package var urlFile: FilePath?
    /// Whether the URL is printed into a journal too.
    package var printsURL = false
    /// The app's own folder, asked after the bundle.
    package var www: FilePath?
    /// The folder of `/local-filesystem/`.
    package var localFiles: FilePath?
    /// A folder that who has the access token may change; no link.
    package var uploads: FilePath?
    /// Whether every program of this machine is let in, without the access token.
    package var isOpen = false
    /// Other origins whose pages may ask and read (CORS).
    package var origins: [String] = []
    package var headers: [Header] = []
    package var charset: String?
    /// The type of files by their ending, in lower case.
    package var types: [String: String] = [:]
    package var dialect = Dialect.rfc9110
    /// `/api/.*=https://api.example.com`, each a rule.
    package var proxy: [String] = []
    /// A file with more rules, which come after; read when the store starts.
    package var proxies: FilePath?
    /// Certificates in PEM that servers behind the proxy must show.
    package var proxyCA: FilePath?
    /// How long a server behind the proxy may send nothing.
    package var proxyTimeout: Duration?
    /// What the file sets in the store itself.
    package var device: [DeviceSetting: SettingValue] = [:]

    package init(name: String, store: FilePath) {
        (self.name, self.store) = (name, store)
    }
}
