/// Named values that an operator sends to every device of a channel: a banner's text, a number, whether something is shown.
///
/// They are signed by the online key through the dial's role, so the server's operator can change them at once. They never select a
/// version.
package struct OnlineParameters: Hashable, Sendable {
    package static let format = "patchline-parameters-v1"

    package let app: AppID
    package let channel: ChannelName
    package let values: [ParameterName: ParameterValue]

    package init(app: AppID, channel: ChannelName, values: [ParameterName: ParameterValue] = [:]) {
        self.app = app
        self.channel = channel
        self.values = values
    }

    package init(_ bytes: [UInt8], named document: String = "parameters") throws(FormatError) {
        let fields = try Fields(
            try JSON.document(bytes, named: document, limit: Limits.parameters),
            of: document
        )
        try fields.constant("format", Self.format)
        app = try fields.name("app")
        channel = try fields.name("channel")
        values = try fields.parameters("parameters")
    }

    package var json: JSON {
        .fields([
            ("format", .text(Self.format)), ("app", .text(app.text)), ("channel", .text(channel.text)),
            ("parameters", values.json),
        ])
    }
}

/// The value of a parameter: text, an integer, or true or false.
package enum ParameterValue: Hashable, Sendable {
    package static let rule =
        "must be a string of at most \(Limits.parameterText) bytes, an integer below 2^53, or true or false"

    case text(ExactString)
    case integer(Int)
    case bool(Bool)

    package init?(_ json: JSON) {
        switch json {
        case .string(let text) where text.text.utf8.count <= Limits.parameterText: self = .text(text)
        case .integer(let number) where number.magnitude < 1 << 53: self = .integer(number)
        case .bool(let bool): self = .bool(bool)
        case .string, .integer, .null, .array, .object: return nil
        }
    }

    package var json: JSON {
        switch self {
        case .text(let text): .string(text)
        case .integer(let number): .integer(number)
        case .bool(let bool): .bool(bool)
        }
    }
}

extension ParameterValue {
    /// The name of the type: `text`, `integer`, `boolean`.
    package var typeName: String {
        switch self {
        case .text: "text"
        case .integer: "integer"
        case .bool: "boolean"
        }
    }

    /// The value as text for people.
    package var words: String {
        switch self {
        case .text(let text): text.text
        case .integer(let number): "\(number)"
        case .bool(let bool): "\(bool)"
        }
    }
}

extension [ParameterName: ParameterValue] {
    /// Reads an object of names and values.
    package init(_ json: JSON, of document: String) throws(FormatError) {
        self = try Fields(json, of: document).parameters
    }

    /// `{NAME: VALUE}`, sorted by name.
    package var json: JSON {
        .fields(sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.json) })
    }
}

extension Fields {
    /// Reads the names and values of the object at `key`.
    package func parameters(_ key: String) throws(FormatError) -> [ParameterName: ParameterValue] {
        try fields(key).parameters
    }

    fileprivate var parameters: [ParameterName: ParameterValue] {
        get throws(FormatError) {
            guard object.members.count <= Limits.parametersInChannel else {
                throw FormatError(
                    document,
                    field: path,
                    rule: "must hold at most \(Limits.parametersInChannel) members"
                )
            }
            var values: [ParameterName: ParameterValue] = [:]
            for member in object.members {
                guard let name = ParameterName(member.key.text) else {
                    throw FormatError(document, field: path, rule: "has a name that \(ParameterName.rule)")
                }
                guard let value = ParameterValue(member.value) else { throw broken(name.text, ParameterValue.rule) }
                values[name] = value
            }
            return values
        }
    }
}
