import DeviceOutput
import PatchChoice
import PatchFetch
import PatchFormat
import PatchSync
import PatchTrust

/// A change of what `patchsync set` sets, as a merge patch says it (RFC 7396): null forgets, and what is not named stays.
///
/// Unknown members were refused before (``ControlNames``).
struct DeviceSettings: Sendable {
    private var facts = FactChanges()
    private var mirrors: [ServerURL]?
    private var pins: [PublicKeyPin]?
    /// Nil inside: the system's.
    private var authorities: String??
    private var isMetered: Bool?
    private var allowance: Int?
    /// Nil inside: as fast as it comes.
    private var rate: Int??
    private var consent = FactChanges.Change<Consent>.keep
    private var postponeLimit = FactChanges.Change<Duration>.keep
    private var windows: [MaintenanceWindows.Window]?
    private var windowZone = FactChanges.Change<WindowZone>.keep

    /// - Throws: for the first member that breaks a rule.
    init(_ fields: Fields) throws(FormatError) {
        facts.appVersion = try Self.change("appVersion", in: fields, AppVersion.rule) { AppVersion($0) }
        facts.user = try Self.change("user", in: fields, PatchFormat.UserID.rule) { PatchFormat.UserID($0) }
        try readData(fields)
        try readPlatform(fields)
        facts.keep = try Self.change("keep", in: fields) { (fields, key) throws(FormatError) in
            try fields.integer(key, in: SelectionMachine.keepRange)
        }
        let bool: (Fields, String) throws(FormatError) -> Bool = { (fields, key) throws(FormatError) in
            try fields.bool(key)
        }
        facts.answers = try Self.change("answers", in: fields, read: bool)
        facts.express = try Self.change("express", in: fields, read: bool)
        facts.entrySignatures = try Self.change("entrySignatures", in: fields, EntrySignatures.rule) {
            EntrySignatures(rawValue: $0)
        }
        switch try Self.change("ownHost", in: fields, read: bool) {
        case .keep: break
        case .set(true), .forget: facts.host = .set(.make())
        case .set(false): facts.host = .forget
        }
        mirrors = try Self.list("mirrors", in: fields, limit: ServerAccess.mirrorsLimit, ServerURL.rule) {
            ServerURL($0)
        }
        pins = try Self.list("pins", in: fields, limit: ServerAccess.pinsLimit, PublicKeyPin.rule) { PublicKeyPin($0) }
        if fields.has("ca") { authorities = fields.isNull("ca") ? .some(nil) : try fields.string("ca") }
        try readNetwork(fields)
        try readPolicy(fields)
    }

    /// - Throws: where the servers cannot be reached in this way.
    func apply(to configuration: inout DeviceConfiguration) throws(SyncError) {
        facts.apply(to: &configuration)
        if let mirrors { configuration.access.mirrors = mirrors }
        if let pins { configuration.access.pins = pins }
        if let authorities { configuration.access.authorities = authorities }
        if let isMetered { configuration.network.isMetered = isMetered }
        if let allowance { configuration.network.allowance = allowance }
        if let rate { configuration.network.rate = rate }
        let standard = UpdatePolicy()
        consent.change(&configuration.policy.consent, else: standard.consent)
        postponeLimit.change(&configuration.policy.postponeLimit, else: standard.postponeLimit)
        if let windows { configuration.policy.windows.windows = windows }
        windowZone.change(&configuration.policy.windows.zone, else: standard.windows.zone)
        do throws(TLSFault) { try configuration.access.check(configuration.server) } catch { throw .fetch(.tls(error)) }
    }

    private mutating func readData(_ fields: Fields) throws(FormatError) {
        guard fields.has("data") else { return }
        let data = try Fields(fields.object["data"], of: fields.document, at: "data")
        for member in data.object.members {
            guard let key = ConditionKey(member.key.text) else {
                throw fields.broken("data", "holds a key that \(ConditionKey.rule)")
            }
            facts.data[key] = try Self.change(key.text, in: data, ConditionValue.rule) { ConditionValue($0) }
        }
    }

    private mutating func readPlatform(_ fields: Fields) throws(FormatError) {
        guard fields.has("platform") else { return }
        guard !fields.isNull("platform") else {
            facts.platform = .forget
            return
        }
        let given = try Fields(fields.object["platform"], of: fields.document, at: "platform")
        guard
            let platform = Platform(name: try given.string("name"), compatibility: try given.string("compatibility"))
        else { throw fields.broken("platform", Platform.rule) }
        facts.platform = .set(platform)
    }

    private mutating func readNetwork(_ fields: Fields) throws(FormatError) {
        guard fields.has("network") else { return }
        let network = try Fields(fields.object["network"], of: fields.document, at: "network")
        if network.has("metered") { isMetered = network.isNull("metered") ? false : try network.bool("metered") }
        if network.has("allowance") {
            allowance = network.isNull("allowance") ? 0 : try network.integer("allowance", in: 0...NetworkUse.most)
        }
        if network.has("limitRate") {
            rate =
                network.isNull("limitRate")
                ? .some(nil) : try network.integer("limitRate", in: Deadlines.leastRate...NetworkUse.most)
        }
    }

    private mutating func readPolicy(_ fields: Fields) throws(FormatError) {
        guard fields.has("policy") else { return }
        let policy = try Fields(fields.object["policy"], of: fields.document, at: "policy")
        consent = try Self.change("consent", in: policy, Consent.rule) { Consent(rawValue: $0) }
        postponeLimit = try Self.change("postponeLimit", in: policy) { (fields, key) throws(FormatError) in
            .seconds(try fields.integer(key, in: 0...Int(UpdatePolicy.longestLimit.components.seconds)))
        }
        let rule = MaintenanceWindows.Window.rule
        windows = try Self.list("windows", in: policy, limit: MaintenanceWindows.most, rule) {
            MaintenanceWindows.Window($0)
        }
        windowZone = try Self.change("windowZone", in: policy, WindowZone.rule) { WindowZone($0) }
        if case .set(let zone) = windowZone {
            do throws(ZoneFault) { _ = try SystemZones().rules(of: zone) } catch {
                throw policy.broken("windowZone", "is not a zone of this machine: \(error); \(error.hint)")
            }
        }
    }

    private static func change<Value>(
        _ key: String,
        in fields: Fields,
        read: (Fields, String) throws(FormatError) -> Value
    ) throws(FormatError) -> FactChanges.Change<Value> {
        guard fields.has(key) else { return .keep }
        return fields.isNull(key) ? .forget : .set(try read(fields, key))
    }

    private static func change<Value>(
        _ key: String,
        in fields: Fields,
        _ rule: String,
        _ parse: (String) -> Value?
    ) throws(FormatError) -> FactChanges.Change<Value> {
        try change(key, in: fields) { (fields, key) throws(FormatError) in
            guard let value = parse(try fields.string(key)) else { throw fields.broken(key, rule) }
            return value
        }
    }

    private static func list<Value>(
        _ key: String,
        in fields: Fields,
        limit: Int,
        _ rule: String,
        _ parse: (String) -> Value?
    ) throws(FormatError) -> [Value]? {
        guard fields.has(key) else { return nil }
        guard !fields.isNull(key) else { return [] }
        var values: [Value] = []
        for text in try fields.strings(key, limit: limit) {
            guard let value = parse(text) else { throw fields.broken(key, rule) }
            values.append(value)
        }
        return values
    }
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

extension Fields {
    fileprivate func isNull(_ key: String) -> Bool { object[key] == .null }
}

extension DeviceSettings {
    /// Of what is told and of what may be said: a reader of the one finds no null, and whoever says something may.
    static var schema: ControlSchema {
        func type(_ names: String...) -> ControlSchema {
            .inline(.fields([("type", .array((names + ["null"]).map { .text($0) }))]))
        }
        func told(_ name: String) -> ControlSchema {
            .inline(.fields([("type", .text(name)), ("readOnly", .bool(true))]))
        }
        func object(_ members: [(String, ControlSchema)]) -> ControlSchema {
            .inline(
                .fields([
                    ("type", .array([.text("object"), .text("null")])),
                    ("properties", .fields(members.map { ($0.0, $0.1.json) })),
                ])
            )
        }
        return .object([
            ("appVersion", type("string")), ("user", type("string")),
            ("data", .inline(.fields([("type", .text("object")), ("additionalProperties", type("string").json)]))),
            ("platform", object([("name", .text), ("compatibility", .text)])), ("keep", type("integer")),
            ("answers", type("boolean")), ("express", type("boolean")), ("entrySignatures", type("string")),
            ("mirrors", type("array")), ("pins", type("array")), ("ownHost", type("boolean")),
            ("ca", type("boolean", "string")), ("embedded", told("string")), ("debug", told("boolean")),
            (
                "network",
                .object([("metered", type("boolean")), ("allowance", type("integer")), ("limitRate", type("integer"))])
            ),
            (
                "policy",
                .object([
                    ("consent", type("string")), ("postponeLimit", type("integer")), ("windows", type("array")),
                    ("windowZone", type("string")),
                ])
            ),
        ])
    }
}
