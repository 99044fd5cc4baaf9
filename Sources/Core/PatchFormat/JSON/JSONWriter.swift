extension JSON {
    /// OLPC canonical JSON, the form that is signed.
    ///
    /// UTF-8; keys sorted by their UTF-8 bytes; no white space. Strings escape only `"` and `\`, so control characters are written
    /// unescaped. The canonical form of a PEM key, which contains newlines, is therefore not valid JSON and is never written to a
    /// file.
    package var canonicalBytes: [UInt8] {
        var out: [UInt8] = []
        write(into: &out, escapingControls: false)
        return out
    }

    /// The form that is written to files: canonical JSON with escaped control characters, which is valid JSON.
    ///
    /// For a document without control characters both forms have the same bytes.
    package var fileBytes: [UInt8] {
        var out: [UInt8] = []
        write(into: &out, escapingControls: true)
        return out
    }

    private func write(into out: inout [UInt8], escapingControls: Bool) {
        switch self {
        case .null: out += "null".utf8
        case .bool(let value): out += (value ? "true" : "false").utf8
        case .integer(let value): out += String(value).utf8
        case .string(let value): Self.write(value, into: &out, escapingControls: escapingControls)
        case .array(let values):
            out.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                value.write(into: &out, escapingControls: escapingControls)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let object):
            out.append(UInt8(ascii: "{"))
            for (index, member) in object.members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                Self.write(member.key, into: &out, escapingControls: escapingControls)
                out.append(UInt8(ascii: ":"))
                member.value.write(into: &out, escapingControls: escapingControls)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ string: ExactString, into out: inout [UInt8], escapingControls: Bool) {
        out.append(UInt8(ascii: "\""))
        for byte in string.text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                out.append(UInt8(ascii: "\\"))
                out.append(byte)
            case 0x0A where escapingControls:
                out += "\\n".utf8
            case 0..<0x20 where escapingControls:
                out += "\\u00".utf8
                out += Hex.text([byte]).utf8
            default:
                out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}

extension JSON {
    /// A form for people: members in insertion order, two spaces for each level.
    package func pretty(indent: String = "") -> String {
        let inner = indent + "  "
        switch self {
        case .array(let values) where !values.isEmpty:
            return "[\n" + values.map { inner + $0.pretty(indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let object) where !object.members.isEmpty:
            let rows = object.members.map { member in
                let key = String(decoding: JSON.string(member.key).fileBytes, as: UTF8.self)
                return "\(inner)\(key): \(member.value.pretty(indent: inner))"
            }
            return "{\n" + rows.joined(separator: ",\n") + "\n\(indent)}"
        case .null, .bool, .integer, .string, .array, .object:
            return String(decoding: fileBytes, as: UTF8.self)
        }
    }
}
