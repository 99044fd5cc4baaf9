package import HTTPFiles
package import PatchFormat
package import SystemPackage

/// The settings of one store.
package struct StoreSettings: Equatable, Sendable {
    /// The root of trust with which the store is created at the first start, and the server and channel that it follows.
    package struct Origin: Equatable, Sendable {
        package let server: ServerURL
        package var root: FilePath
        /// The channel; nil for `production` in a new store, and for an existing store's own.
        package let channel: ChannelName?

        package init(server: ServerURL, root: FilePath, channel: ChannelName?) {
            (self.server, self.root, self.channel) = (server, root, channel)
        }
    }

    /// When online parameters are checked in addition to syncs.
    package enum ParametersPolling: Equatable, Sendable {
        /// At the usual interval, but in the daemon not more often than it syncs.
        case standard
        case every(Duration)
        case never
    }

    /// A field of every response.
    ///
    /// Without a value, the default field is removed.
    package struct Header: Equatable, Sendable {
        package let name: String
        package let value: String?
    }

    package let name: String
    package var store: FilePath
    package var origin: Origin?
    /// The time between syncs; nil to sync only on request, and until a first version is installed.
    package var syncEvery: Duration? = .seconds(900)
    /// Whether the server is contacted without a person's request.
    package var syncs = true
    package var parametersPolling = ParametersPolling.standard
    /// The longest duration of a sync.
    package var deadline: Duration?
    /// The longest time without data.
    package var stallTimeout: Duration?
    /// The number of times that a failed request is repeated.
    package var retries: Int?
    /// Whether pages are served.
    ///
    /// If false, versions are only downloaded and applied.
    package var serves = true
    /// The port, or nil for the app's own.
    package var port: Int?
    package var bundle: PatchID?
    package var appBuild: AppBuild?
    package var startupTimeout = Duration.seconds(20)
    /// Whether the startup timeout begins at launch instead of at the first page.
    package var countsLaunch = false
    package var urlFile: FilePath?
    /// Whether the URL is printed even into a journal.
    package var printsURL = false
    /// The app's own folder, searched after the bundle.
    package var www: FilePath?
    /// The folder served under `/local-filesystem/`.
    package var localFiles: FilePath?
    /// A folder that clients with the access token may change.
    ///
    /// It must not be a symbolic link.
    package var uploads: FilePath?
    /// Whether every program of this machine has access without the token.
    package var isOpen = false
    /// Other origins whose pages have access (CORS).
    package var origins: [String] = []
    package var headers: [Header] = []
    package var charset: String?
    /// The content types of files by their extension, in lower case.
    package var types: [String: String] = [:]
    package var dialect = Dialect.rfc9110
    /// The proxy rules, such as `/api/.*=https://api.example.com`.
    package var proxy: [String] = []
    /// A file with more rules, which follow ``proxy``.
    ///
    /// It is read when the store starts.
    package var proxies: FilePath?
    /// The certificate authorities for servers behind the proxy, in PEM.
    package var proxyCA: FilePath?
    /// The longest time without data from a server behind the proxy.
    package var proxyTimeout: Duration?
    /// The settings of the file that are saved in the store itself.
    package var device: [DeviceSetting: SettingValue] = [:]

    package init(name: String, store: FilePath) {
        (self.name, self.store) = (name, store)
    }
}
