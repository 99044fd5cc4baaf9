import HTTPAPI
import PatchFormat

extension DeviceSettings {
    /// Reads a merge patch (RFC 7396).
    ///
    /// Null resets a setting. Settings that are not named stay.
    ///
    /// ``ControlNames`` has rejected unknown members before.
    ///
    /// - Throws: An error for the first member that violates a rule.
    init(_ fields: Fields) throws(FormatError) {
        self.init()
        for setting in DeviceSetting.allCases {
            guard let member = setting.member else { continue }
            let path = member.split(separator: ".").map(String.init)
            var (parent, key) = (fields, path[0])
            if path.count == 2 {
                guard fields.has(path[0]) else { continue }
                if setting == .platform || setting == .compatibility, fields.isNull(path[0]) {
                    // Null resets the whole object.
                    do throws(SettingFault) { try take(.unset, for: setting) } catch {
                        throw fields.broken(key, error.rule)
                    }
                    continue
                }
                parent = try Fields(fields.object[path[0]], of: fields.document, at: path[0])
                key = path[1]
            }
            guard let value = try setting.form.value(parent, key) else { continue }
            do throws(SettingFault) { try take(value, for: setting) } catch { throw parent.broken(key, error.rule) }
        }
        do throws(SettingFault) { try finish() } catch { throw fields.broken("platform", error.rule) }
        try takeOwnHost(fields)
    }

    /// Reads the member that preceded `host`.
    ///
    /// If both exist, `host` applies.
    private mutating func takeOwnHost(_ fields: Fields) throws(FormatError) {
        guard fields.has("ownHost"), !fields.has("host") else { return }
        let isOwn = fields.isNull("ownHost") ? true : try fields.bool("ownHost")
        do throws(SettingFault) { try take(.text(isOwn ? "own" : "127.0.0.1"), for: .host) } catch {
            throw fields.broken("ownHost", error.rule)
        }
    }
}

extension SettingForm {
    /// Returns the value, or nil if the member is missing.
    fileprivate func value(_ fields: Fields, _ key: String) throws(FormatError) -> SettingValue? {
        guard fields.has(key) else { return nil }
        guard !fields.isNull(key) else { return .unset }
        return switch self {
        case .flag: .flag(try fields.bool(key))
        case .text, .path, .file, .choice: .text(try fields.string(key))
        case .count(let range), .bytes(let range): .number(try fields.integer(key, in: range))
        case .time(let range, _, _):
            .time(
                .seconds(
                    try fields.integer(
                        key,
                        in: Int(range.lowerBound.components.seconds)...Int(range.upperBound.components.seconds)
                    )
                )
            )
        case .list(let most): .list(try fields.strings(key, limit: most))
        case .table: .table(try Self.table(fields, key))
        }
    }

    private static func table(_ fields: Fields, _ key: String) throws(FormatError) -> [String: String?] {
        let rows = try Fields(fields.object[key], of: fields.document, at: key)
        var table: [String: String?] = [:]
        for member in rows.object.members {
            let name = member.key.text
            table[name] = .some(rows.isNull(name) ? nil : try rows.string(name))
        }
        return table
    }
}

extension Fields {
    fileprivate func isNull(_ key: String) -> Bool { object[key] == .null }
}

extension DeviceSettings {
    /// The schema of responses and requests.
    ///
    /// Only requests may contain null.
    static var schema: APISchema {
        func readOnly(_ name: String) -> APISchema {
            APISchema(json: .fields([("type", .text(name)), ("readOnly", .bool(true))]))
        }
        var members: [(String, APISchema)] = []
        var inner: [String: [(String, APISchema)]] = [:]
        for setting in DeviceSetting.allCases {
            guard let path = setting.member?.split(separator: ".").map(String.init) else { continue }
            if path.count == 1 {
                members.append((path[0], setting.schema))
            } else {
                if inner[path[0]] == nil { members.append((path[0], .document)) }
                inner[path[0], default: []].append((path[1], setting.schema))
            }
        }
        members = members.map { name, schema in
            (name, inner[name].map { object($0, canBeNull: name == "platform") } ?? schema)
        }
        return .object(
            [],
            optional: members + [
                ("ownHost", .type("boolean")), ("embedded", readOnly("string")), ("debug", readOnly("boolean")),
            ],
            more: true
        )
    }

    private static func object(_ members: [(String, APISchema)], canBeNull: Bool) -> APISchema {
        guard canBeNull else { return .object([], optional: members, more: true) }
        return APISchema(
            json:
                .fields([
                    ("type", .array([.text("object"), .text("null")])),
                    ("properties", .fields(members.map { ($0.0, $0.1.json) })),
                ])
        )
    }
}

extension APISchema {
    fileprivate static func type(_ names: String...) -> APISchema {
        APISchema(json: .fields([("type", .array((names + ["null"]).map { .text($0) }))]))
    }
}

extension DeviceSetting {
    fileprivate var schema: APISchema {
        switch form {
        case .flag: .type("boolean")
        // A response contains only whether authorities are set.
        case .file: .type("boolean", "string")
        case .text, .path, .choice: .type("string")
        case .count, .bytes, .time: .type("integer")
        case .list: .type("array")
        case .table:
            APISchema(
                json: .fields([
                    ("type", .text("object")), ("additionalProperties", APISchema.type("string").json),
                ])
            )
        }
    }
}
