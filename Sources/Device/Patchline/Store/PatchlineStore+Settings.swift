import PatchChoice
import PatchFetch
import PatchFormat
import PatchSync
import PatchCrypto
import SystemPackage

extension PatchlineStore {
    /// A device's facts about itself, and its access to the servers: the settings of `patchsync set`.
    ///
    /// None of them are sent, except the hash of the user if ``asksServer`` is set.
    public struct Settings: Equatable, Sendable {
        /// The version of the app's native part, for rules such as `>=2.1 <3`: `2.1`.
        public var appVersion: String?
        /// The user of the device, for rules that name users; at most 256 bytes.
        public var user: String?
        /// The values for conditions, such as `["region": "eu"]`.
        public var data: [String: String] = [:]
        /// The native part that bundles must be compatible with.
        public var platform: Platform?
        /// The number of previously confirmed selections to keep on disk, 0 to 10.
        public var keep = 1
        /// Whether the device asks the server for its choice for ``user``.
        public var asksServer = false
        /// The signatures that a bundle's files need.
        public var entrySignatures = EntrySignatures.required
        /// The name under which pages are served.
        public var host = Host.own
        /// The setting that preceded ``host``: whether it is ``PatchlineStore/Host/own``.
        public var ownHost: Bool {
            get { host == .own }
            set { if newValue != ownHost { host = newValue ? .own : .loopbackAddress } }
        }
        /// Other servers with the same tree, used in this order after the first; at most 16.
        public var mirrors: [String] = []
        /// The accepted certificate authorities of the servers, in PEM; nil for the system's.
        public var authorities: String?
        /// The accepted public keys of servers.
        ///
        /// A server needs one of them. Each is `sha256/BASE64` of its SubjectPublicKeyInfo. At most 16.
        public var pins: [String] = []
        /// Whether the present network is metered.
        ///
        /// A sync then downloads mandatory versions with their requirements, and other versions only within ``allowance``. The rest
        /// waits. An app sets this when the system reports a change, also while it runs.
        public var isMetered = false
        /// The bytes that one sync may download for versions that are not mandatory, while ``isMetered`` is true; at most 10^12.
        public var allowance = 0
        /// The maximum rate of each sync in bytes per second, at least 1,000; nil for no limit.
        public var bytesPerSecond: Int?
        /// The new versions that install without approval.
        ///
        /// Others are not downloaded before ``PatchlineStore/approve(_:version:)``.
        public var consent = Consent.automatic
        /// The longest continuous delay that ``PatchlineStore/postpone(for:)`` may cause; at most a year.
        public var postponeLimit = Duration.seconds(7 * 86_400)
        /// The times at which new versions start: `mon-fri 02:00-04:00`, or `22:00-06:00` for every day.
        ///
        /// At most 32. Empty for any time.
        public var windows: [String] = []
        /// The time zone of ``windows``: `UTC`, an offset such as `+01:00`, a time zone of this machine such as `Europe/Berlin`, or
        /// `local`.
        public var windowZone = "UTC"
        /// The absolute path of a folder made by `patchsign embed`.
        ///
        /// It is used from the app's next start.
        public var embedded: String?

        public init() {}
    }

    /// The signatures that a bundle's files need, in addition to those of the release.
    public enum EntrySignatures: String, Equatable, Sendable {
        /// The signature of the list entry, and one for each entry of the manifest.
        case required
        /// The signature of the list entry alone, which covers the manifest's digests. The other signatures are neither downloaded
        /// nor verified.
        case manifest
    }

    /// The native part of an app.
    public struct Platform: Equatable, Sendable {
        /// The platform's name, such as `linux`.
        public var name: String
        /// The compatibility hash that a bundle must list for this platform.
        public var compatibility: String

        public init(name: String, compatibility: String) {
            self.name = name
            self.compatibility = compatibility
        }
    }
}

extension PatchlineStore.EntrySignatures {
    fileprivate init(_ signatures: PatchSync.EntrySignatures) {
        self =
            switch signatures {
            case .required: .required
            case .manifest: .manifest
            }
    }

    fileprivate var ofDevice: PatchSync.EntrySignatures {
        switch self {
        case .required: .required
        case .manifest: .manifest
        }
    }
}

extension PatchlineStore.Settings {
    init(_ configuration: DeviceConfiguration) {
        appVersion = configuration.appVersion?.text
        user = configuration.user?.text
        data = Dictionary(configuration.data.map { ($0.key.text, $0.value.text) }) { first, _ in first }
        platform = configuration.platform.map { .init(name: $0.name, compatibility: $0.compatibility) }
        keep = configuration.keep
        asksServer = configuration.answers
        entrySignatures = .init(configuration.entrySignatures)
        host = .init(configuration.pages.host)
        mirrors = configuration.access.mirrors.map(\.text)
        authorities = configuration.access.authorities
        pins = configuration.access.pins.map(\.description)
        embedded = configuration.embedded?.string
        isMetered = configuration.network.isMetered
        allowance = configuration.network.allowance
        bytesPerSecond = configuration.network.rate
        consent = .init(rawValue: configuration.policy.consent.rawValue) ?? .automatic
        postponeLimit = configuration.policy.postponeLimit
        windows = configuration.policy.windows.windows.map(\.description)
        windowZone = configuration.policy.windows.zone.description
    }

    /// The facts for a new store.
    var facts: FactChanges {
        get throws(PatchlineError) {
            func change<Value>(_ value: Value?) -> FactChanges.Change<Value> { value.map { .set($0) } ?? .keep }
            let parsed = try Parsed(self)
            var facts = FactChanges()
            facts.appVersion = change(parsed.appVersion)
            facts.user = change(parsed.user)
            facts.platform = change(parsed.platform)
            facts.data = parsed.data.mapValues { .set($0) }
            if keep != Self().keep { facts.keep = .set(keep) }
            if asksServer { facts.answers = .set(true) }
            if entrySignatures != .required { facts.entrySignatures = .set(entrySignatures.ofDevice) }
            if host != .own { facts.host = host.ofDevice }
            return facts
        }
    }

    /// The access to the servers, or nil if no setting concerns it.
    var access: ServerAccess? {
        get throws(PatchlineError) {
            let access = try Parsed(self).access
            return access == ServerAccess() ? nil : access
        }
    }

    func applied(to configuration: DeviceConfiguration) throws(PatchlineError) -> DeviceConfiguration {
        let parsed = try Parsed(self)
        do throws(TLSFault) { try parsed.access.check(configuration.server) } catch {
            throw PatchlineError(.fetch(.tls(error)))
        }
        var changed = configuration
        changed.appVersion = parsed.appVersion
        changed.user = parsed.user
        changed.data = parsed.data
        changed.platform = parsed.platform
        changed.keep = keep
        changed.answers = asksServer
        changed.entrySignatures = entrySignatures.ofDevice
        changed.access = parsed.access
        changed.pages = configuration.pages.changed(to: host.ofDevice)
        changed.embedded = parsed.embedded
        changed.network = parsed.network
        changed.policy = parsed.policy
        return changed
    }
}

/// The parsed and validated settings.
private struct Parsed {
    let appVersion: AppVersion?
    let user: PatchFormat.UserID?
    var data: [ConditionKey: ConditionValue] = [:]
    let platform: PatchChoice.Platform?
    var access = ServerAccess()
    let embedded: FilePath?
    var network = NetworkUse()
    let policy: UpdatePolicy

    init(_ settings: PatchlineStore.Settings) throws(PatchlineError) {
        appVersion = try Self.parsed(settings.appVersion, "appVersion \(AppVersion.rule)") { AppVersion($0) }
        user = try Self.parsed(settings.user, "user \(PatchFormat.UserID.rule)") { PatchFormat.UserID($0) }
        for (name, text) in settings.data {
            guard let key = ConditionKey(name) else {
                throw PatchlineError("data: the key '\(name)' \(ConditionKey.rule)")
            }
            guard let value = ConditionValue(text) else {
                throw PatchlineError("data: the value of \(key) \(ConditionValue.rule)")
            }
            data[key] = value
        }
        platform = try Self.parsed(settings.platform, "platform \(PatchChoice.Platform.rule)") {
            PatchChoice.Platform(name: $0.name, compatibility: $0.compatibility)
        }
        guard SelectionMachine.keepRange.contains(settings.keep) else {
            throw PatchlineError("keep must be from 0 to \(SelectionMachine.keepRange.upperBound)")
        }
        guard settings.mirrors.count <= ServerAccess.mirrorsLimit, settings.pins.count <= ServerAccess.pinsLimit else {
            throw PatchlineError(
                "mirrors and pins must be at most \(ServerAccess.mirrorsLimit) and \(ServerAccess.pinsLimit)"
            )
        }
        guard 0...NetworkUse.most ~= settings.allowance else {
            throw PatchlineError("allowance must be from 0 to \(NetworkUse.most) bytes")
        }
        if let rate = settings.bytesPerSecond, !(Deadlines.leastRate...NetworkUse.most ~= rate) {
            throw PatchlineError("bytesPerSecond must be from \(Deadlines.leastRate) to \(NetworkUse.most)")
        }
        policy = try UpdatePolicy(settings)
        network.isMetered = settings.isMetered
        (network.allowance, network.rate) = (settings.allowance, settings.bytesPerSecond)
        for mirror in settings.mirrors {
            guard let url = ServerURL(mirror) else { throw PatchlineError("mirrors: '\(mirror)' \(ServerURL.rule)") }
            access.mirrors.append(url)
        }
        for text in settings.pins {
            guard let pin = PublicKeyPin(text) else { throw PatchlineError("pins: '\(text)' \(PublicKeyPin.rule)") }
            access.pins.append(pin)
        }
        access.authorities = settings.authorities
        embedded = try Self.parsed(settings.embedded, "embedded must be an absolute path") { text in
            let path = FilePath(text)
            return path.isAbsolute ? path : nil
        }
    }

    private static func parsed<Given, Value>(
        _ given: Given?,
        _ rule: String,
        _ parse: (Given) -> Value?
    ) throws(PatchlineError) -> Value? {
        guard let given else { return nil }
        guard let value = parse(given) else { throw PatchlineError(rule) }
        return value
    }
}
