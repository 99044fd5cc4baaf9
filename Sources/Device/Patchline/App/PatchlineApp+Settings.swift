import APIProxy
public import Logging
import PatchChoice
import PatchFetch
import PatchFormat
import PatchSync

extension PatchlineApp {
    public struct Settings: Sendable {
        /// Nil: the app's own, the same at every start, for cookies and storage belong to it; 0: any free one.
        public var port: Int?
        /// The name under which pages are served (see <doc:PageAPI>).
        ///
        /// Nil: as the store was made, which is a name of its own. Kept in the store; the storage of pages does not move along.
        public var host: PatchlineStore.Host?
        /// The setting before ``host``: true for ``PatchlineStore/Host/own``, false for ``PatchlineStore/Host/loopbackAddress``.
        public var ownHost: Bool? {
            get { host.map { $0 == .own } }
            set { host = newValue.map { $0 ? .own : .loopbackAddress } }
        }
        /// Between syncs; nil: only when somebody asks, and until there is a first version.
        public var syncInterval: Duration?
        /// Whether it syncs at all.
        public var syncs = true
        /// Of each sync.
        public var limits = PatchlineStore.Limits()
        /// Between looks for online parameters, where syncs come less often; nil: only with a sync.
        public var parametersEvery: Duration? = .seconds(1_800)
        /// How long a new version has to confirm.
        public var startupTimeout = Duration.seconds(20)
        /// From when on that goes, and a launch counts against a new version.
        public var startupTimer = StartupTimer.firstPage
        /// Which bundle is served, where there are several; nil: the first by id.
        public var bundle: String?
        /// Whether this program runs script patches: what is new in scripts alone then starts at once.
        public var runsScripts = false
        /// Whether there are pages; without them ``PatchlineApp/start()`` listens nowhere and returns an empty text.
        public var servesPages = true
        /// The build of this app, where it ships a bundle.
        public var appBuild: String?
        /// Which requests of the pages go on to other servers: `/api/.*=https://api.example.com` (see <doc:Proxy>); none if
        /// nothing is said.
        public var proxyRules: [String] = []
        /// The bytes of a file with more such rules, and what only such a file can say (see <doc:Proxy>, <doc:LivePages>); they
        /// come after.
        public var proxyFile: [UInt8]?
        /// Whose certificates those servers may show, in PEM; nil for the system's authorities.
        public var proxyAuthorities: [UInt8]?

        /// Hears every event, in words and with its level; nil: nobody does.
        public var logger: Logger?
        /// Called with what happens to patches, from many threads, besides the events of the app.
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

        /// Nil without a rule.
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

    /// From when on a new version has to prove itself.
    public enum StartupTimer: Sendable {
        /// From its first page that is shown on; what ends the process before says nothing of it.
        case firstPage
        /// From the launch on: for programs that show no pages.
        case launch
    }
}
