package import PatchFormat

extension Failure {
    /// Writes `error: …` and `hint: …` lines.
    package func report(to console: Console) {
        console.write(lines(on: console).map { $0 + "\n" }.joined())
    }

    /// The lines of ``report(to:)``, with text from outside made ``printable(_:)``.
    package func lines(on console: Console) -> [String] {
        let hints = hint?.split(separator: "\n", omittingEmptySubsequences: true) ?? []
        return [console.styled("error:", .bold, .red) + " " + printable(message)]
            + hints.map { console.styled("hint:", .cyan) + " " + printable(String($0)) }
    }

    /// The failure as one line for scripts: `{"error":{"message":"…","hint":"…","kind":"refused","exitCode":3}}`.
    package var json: String {
        let hint = hint.map { ",\"hint\":\(jsonString($0))" } ?? ""
        return "{\"error\":{\"message\":\(jsonString(message))\(hint),"
            + "\"kind\":\"\(code)\",\"exitCode\":\(code.rawValue)}}"
    }
}

/// Quotes a text (RFC 8259 §7).
///
/// Everything outside printable ASCII is escaped too, so that the line is safe in any terminal and log.
private func jsonString(_ text: String) -> String {
    var result = "\""
    for unit in text.utf16 {
        switch unit {
        case 0x22: result += "\\\""
        case 0x5C: result += "\\\\"
        case 0x0A: result += "\\n"
        case 0x20...0x7E: result.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
        default:
            let digits = String(unit, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
    return result + "\""
}
