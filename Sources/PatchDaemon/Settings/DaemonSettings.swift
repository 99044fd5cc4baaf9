package import PatchFormat
package import SystemPackage

/// What one process of a device does: its stores, and the socket that others ask it by.
package struct DaemonSettings: Equatable, Sendable {
    /// Bytes of a settings file.
    package static let limit = 65_536
    package static let standardFile: FilePath = "/etc/patchline/patchsync.yaml"

    package enum Socket: Equatable, Sendable {
        /// In the folder that the service manager gives, else below `/run`.
        case standard
        case at(FilePath)
        case none

        /// - Parameter runtime: RUNTIME_DIRECTORY (systemd.exec(5)).
        package func path(runtime: String?) -> FilePath? {
            switch self {
            case .none: nil
            case .at(let path): path
            case .standard:
                FilePath(runtime.flatMap { $0.isEmpty ? nil : $0 } ?? "/run/patchline").appending("patchsync.sock")
            }
        }
    }

    package var socket = Socket.standard
    /// By their names, in ascending order.
    package var stores: [StoreSettings] = []

    package init() {}
}

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

    package let name: String
    package var store: FilePath
    package var origin: Origin?
    /// Nil: only when somebody asks, and until there is a first version.
    package var syncEvery: Duration? = .seconds(900)
    /// Whether pages are served; else versions are only fetched and applied.
    package var serves = true
    /// Nil: the app's own.
    package var port: Int?
    package var bundle: PatchID?
    package var startupTimeout = Duration.seconds(20)
    /// Whether that goes from the launch on, and not from the first page.
    package var countsLaunch = false
    package var urlFile: FilePath?
    /// A folder that who has the access token may change; no link.
    package var uploads: FilePath?
    /// `/api/.*=https://api.example.com`, each a rule.
    package var proxy: [String] = []
    /// A file with more rules, which come after; read when the store starts.
    package var proxies: FilePath?

    package init(name: String, store: FilePath) {
        (self.name, self.store) = (name, store)
    }
}

/// Why a file holds no settings.
package struct DaemonSettingsFault: Error, Equatable, Sendable, CustomStringConvertible {
    package let file: String
    /// From 1; nil where it is the file's as a whole.
    package let line: Int?
    package let rule: String
    package var hint: String?

    package init(file: String, line: Int?, rule: String, hint: String? = nil) {
        (self.file, self.line, self.rule, self.hint) = (file, line, rule, hint)
    }

    package var description: String { "\(file):\(line.map { "\($0):" } ?? "") \(rule)" }
}

/// What has to be done so that other settings hold.
package struct SettingsChange: Equatable, Sendable {
    /// The names of the stores that end, or start anew with other settings.
    package let stopped: [String]
    package let started: [StoreSettings]

    package init(from before: [StoreSettings], to after: [StoreSettings]) {
        stopped = before.filter { !after.contains($0) }.map(\.name)
        started = after.filter { !before.contains($0) }
    }
}

extension SettingsChange {
    package var isEmpty: Bool { stopped.isEmpty && started.isEmpty }
}
