import APIProxy
public import Logging
import PatchChoice
import PatchFetch
import PatchFormat
import PatchSync

extension PatchlineApp {
    public struct Settings: Sendable {
        /// The port of the pages.
        ///
        /// Nil for the app's own port, which is the same at every start, because cookies and storage depend on it. 0 for any free
        /// port.
        public var port: Int?
        /// The name under which pages are served (see <doc:PageAPI>).
        ///
        /// Nil keeps the store's setting, which is a name of its own in a new store. The value is saved in the store. Changing it
        /// does not move the storage of pages.
        public var host: PatchlineStore.Host?
        /// The setting that preceded ``host``: true for ``PatchlineStore/Host/own``, false for
        /// ``PatchlineStore/Host/loopbackAddress``.
        public var ownHost: Bool? {
            get { host.map { $0 == .own } }
            set { host = newValue.map { $0 ? .own : .loopbackAddress } }
        }
        /// The time between syncs; nil to sync only on request, and until a first version is installed.
        public var syncInterval: Duration?
        /// Whether the app syncs at all.
        public var syncs = true
        /// The limits of each sync.
        public var limits = PatchlineStore.Limits()
        /// The time between checks for online parameters, if syncs are less frequent; nil to check only during a sync.
        public var parametersEvery: Duration? = .seconds(1_800)
        /// The time in which a new version must be confirmed.
        public var startupTimeout = Duration.seconds(20)
        /// When that time begins, and when a launch counts against a new version.
        public var startupTimer = StartupTimer.firstPage
        /// The id of the served bundle, if there are several; nil for the first by id.
        public var bundle: String?
        /// Whether this program runs script patches.
        ///
        /// A selection with only new scripts then starts at once.
        public var runsScripts = false
        /// Whether there are pages.
        ///
        /// If false, ``PatchlineApp/start()`` opens no port and returns an empty string.
        public var servesPages = true
        /// The build of this app, if it embeds a bundle.
        public var appBuild: String?
        /// Rules for requests that are passed on to other servers, such as `/api/.*=https://api.example.com` (see <doc:Proxy>).
        public var proxyRules: [String] = []
        /// The contents of a file with more rules and further proxy settings (see <doc:Proxy>, <doc:LivePages>).
        ///
        /// Its rules follow ``proxyRules``.
        public var proxyFile: [UInt8]?
        /// The certificate authorities accepted for those servers, in PEM; nil for the system's.
        public var proxyAuthorities: [UInt8]?

        /// Receives every event in words, with its level.
        public var logger: Logger?
        /// Called for each event of a patch, from many threads, in addition to the app's events.
        public var patchEvents: (@Sendable (PatchEvent) -> Void)?

        public init() {}

        var own: LocalServer.Settings {
            get throws(PatchlineError) { try ownSettings() }
        }

        private func ownSettings() throws(PatchlineError) -> LocalServer.Settings {
            var own = LocalServer.Settings()
            own.port = port
            own.app.startupTimeout = startupTimeout
            if let bundle { own.app.bundle = try PatchlineStore.parsed(bundle, "bundle") }
            own.deadlines = limits.deadlines
            own.app.startupTimer = startupTimer == .launch ? .launch : .firstPage
            own.app.runsScripts = runsScripts
            own.serves = servesPages
            own.updates.interval = syncInterval
            own.updates.isAllowed = syncs
            own.parametersEvery = parametersEvery
            return own
        }

        private func readProxyFile() throws(PatchlineError) -> ProxyFile? {
            guard let proxyFile else { return nil }
            do throws(FormatError) { return try ProxyFile(proxyFile, named: "proxyFile") } catch {
                throw PatchlineError(error.description)
            }
        }

        /// The proxy's settings, or nil if there are no rules.
        var proxying: APIProxy.Settings? {
            get throws(PatchlineError) {
                let file = try readProxyFile()
                var rules: [ProxyRule] = []
                for text in proxyRules {
                    do throws(ProxyRuleError) { rules.append(try ProxyRule(argument: text)) } catch {
                        throw PatchlineError("the proxy rule '\(text)' \(error)")
                    }
                }
                do throws(ProxySettingsFault) {
                    return try .joining(rules, before: file, authorities: proxyAuthorities)
                } catch .authorities {
                    throw PatchlineError("proxyAuthorities holds no certificate of an authority in PEM")
                } catch {
                    throw PatchlineError("\(error)")
                }
            }
        }
    }

    /// When a new version's trial begins.
    public enum StartupTimer: Sendable {
        /// When its first page is shown. A process that ends earlier does not count against the version.
        case firstPage
        /// At launch, for programs that show no pages.
        case launch
    }
}
