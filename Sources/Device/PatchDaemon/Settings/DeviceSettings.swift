import PatchChoice
import PatchFetch
import PatchFormat
package import PatchSync
import PatchCrypto

/// A change of a store's saved settings.
///
/// Settings that are not named stay.
package struct DeviceSettings: Sendable {
    package private(set) var facts = FactChanges()
    private var mirrors: [ServerURL]?
    private var pins: [PublicKeyPin]?
    /// The inner nil selects the system's authorities.
    private var authorities: String??
    private var isMetered: Bool?
    private var allowance: Int?
    /// The inner nil removes the limit.
    private var rate: Int??
    /// The inner nil selects the default.
    private var reserve: Int??
    private var consent = FactChanges.Change<Consent>.keep
    private var postponeLimit = FactChanges.Change<Duration>.keep
    private var windows: [MaintenanceWindows.Window]?
    private var windowZone = FactChanges.Change<WindowZone>.keep
    /// Platform and compatibility as they were given.
    ///
    /// An empty text resets them.
    private var platform: (name: String?, compatibility: String?)

    package init() {}

    /// - Parameter values: The values. For a certificate file, the value is its text instead of its path.
    /// - Throws: The first fault, with the name of its setting.
    package init(_ values: [DeviceSetting: SettingValue]) throws(NamedSettingFault) {
        self.init()
        for setting in DeviceSetting.allCases {
            guard let value = values[setting] else { continue }
            do throws(SettingFault) { try take(value, for: setting) } catch {
                throw NamedSettingFault(setting: setting, fault: error)
            }
        }
        do throws(SettingFault) { try finish() } catch { throw NamedSettingFault(setting: .platform, fault: error) }
    }

    package mutating func take(_ value: SettingValue, for setting: DeviceSetting) throws(SettingFault) {
        let isOn: Bool? = if case .flag(let isOn) = value { isOn } else { nil }
        switch setting {
        case .appVersion: facts.appVersion = try change(value, setting) { AppVersion($0) }
        case .user: facts.user = try change(value, setting) { PatchFormat.UserID($0) }
        case .data: try takeData(value)
        case .platform: platform.name = value.text ?? ""
        case .compatibility: platform.compatibility = value.text ?? ""
        case .keep: facts.keep = value.number.map { .set($0) } ?? .forget
        case .reserve: reserve = .some(value.number)
        case .answers: facts.answers = isOn.map { .set($0) } ?? .forget
        case .express: facts.express = isOn.map { .set($0) } ?? .forget
        case .entrySignatures: facts.entrySignatures = try change(value, setting) { EntrySignatures(rawValue: $0) }
        case .mirror: mirrors = try value.given.items(setting) { ServerURL($0) }
        case .pin: pins = try value.given.items(setting) { PublicKeyPin($0) }
        case .host:
            facts.host =
                try value.text.map { text throws(SettingFault) in
                    guard let host = PagesHost(rawValue: text) else { throw SettingFault(setting.rule) }
                    return host
                } ?? .own
        case .ca: authorities = .some(value.text)
        case .debug: facts.debug = isOn.map { .set($0) } ?? .forget
        case .metered: isMetered = isOn ?? false
        case .allowance: allowance = value.number ?? 0
        case .limitRate: rate = .some(value.number)
        case .consent: consent = try change(value, setting) { Consent(rawValue: $0) }
        case .postponeLimit: postponeLimit = value.time.map { .set($0) } ?? .forget
        case .window: windows = try value.given.items(setting) { MaintenanceWindows.Window($0) }
        case .windowZone:
            windowZone = try change(value, setting) { WindowZone($0) }
            if case .set(let zone) = windowZone {
                do throws(ZoneFault) { _ = try SystemZones().rules(of: zone) } catch {
                    throw SettingFault("is not a zone of this machine: \(error); \(error.hint)")
                }
            }
        }
    }

    /// Combines platform and compatibility, which are one value in two settings.
    package mutating func finish() throws(SettingFault) {
        switch (platform.name, platform.compatibility) {
        case (nil, nil): break
        case ("", nil), ("", ""): facts.platform = .forget
        case (let name?, let compatibility?):
            guard let platform = Platform(name: name, compatibility: compatibility) else {
                throw SettingFault("and compatibility \(Platform.rule)")
            }
            facts.platform = .set(platform)
        case (_?, nil), (nil, _?): throw SettingFault("and compatibility go together")
        }
    }

    private mutating func takeData(_ value: SettingValue) throws(SettingFault) {
        guard case .table(let rows) = value else { return }
        for (name, text) in rows.sorted(by: { $0.key < $1.key }) {
            guard let key = ConditionKey(name) else { throw SettingFault("holds a key that \(ConditionKey.rule)") }
            guard let text, !text.isEmpty else {
                facts.data[key] = .forget
                continue
            }
            guard let value = ConditionValue(text) else {
                throw SettingFault("of \(key) \(ConditionValue.rule)")
            }
            facts.data[key] = .set(value)
        }
    }

    private func change<Value>(
        _ value: SettingValue,
        _ setting: DeviceSetting,
        _ parse: (String) -> Value?
    ) throws(SettingFault) -> FactChanges.Change<Value> {
        guard let text = value.text else { return .forget }
        guard let value = parse(text) else { throw SettingFault(setting.rule) }
        return .set(value)
    }
}

extension DeviceSettings {
    /// - Throws: An error if these settings cannot be used with the servers.
    package func apply(to configuration: inout DeviceConfiguration) throws(SyncError) {
        applyUnchecked(to: &configuration)
        do throws(TLSFault) { try configuration.access.check(configuration.server) } catch { throw .fetch(.tls(error)) }
    }

    func applyUnchecked(to configuration: inout DeviceConfiguration) {
        facts.apply(to: &configuration)
        configuration.access = access(configuration.access)
        if let isMetered { configuration.network.isMetered = isMetered }
        if let allowance { configuration.network.allowance = allowance }
        if let rate { configuration.network.rate = rate }
        if let reserve { configuration.reserve = reserve }
        let standard = UpdatePolicy()
        consent.change(&configuration.policy.consent, else: standard.consent)
        postponeLimit.change(&configuration.policy.postponeLimit, else: standard.postponeLimit)
        if let windows { configuration.policy.windows.windows = windows }
        windowZone.change(&configuration.policy.windows.zone, else: standard.windows.zone)
    }

    /// Returns the changed access.
    ///
    /// Mirrors, authorities and pins are each replaced as a whole.
    package func access(_ before: ServerAccess) -> ServerAccess {
        var access = before
        if let mirrors { access.mirrors = mirrors }
        if let pins { access.pins = pins }
        if let authorities { access.authorities = authorities }
        return access
    }

    /// Whether mirrors, authorities or pins are changed.
    package var changesAccess: Bool { mirrors != nil || pins != nil || authorities != nil }
}

/// A fault with its setting.
package struct NamedSettingFault: Error, Equatable, Sendable {
    package let setting: DeviceSetting
    package let fault: SettingFault
}

extension SettingValue {
    /// The list without empty items.
    ///
    /// A single empty item resets the list.
    fileprivate var given: SettingValue { .list(items.filter { !$0.isEmpty }) }
}

extension FactChanges.Change {
    fileprivate func change(_ value: inout Value, else standard: Value) {
        switch self {
        case .keep: break
        case .set(let new): value = new
        case .forget: value = standard
        }
    }
}
