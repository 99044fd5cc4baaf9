import PatchFormat
import CommandKit

/// Reads and formats a server's answer, from a folder or over HTTP.
///
/// Missing members read as empty, because an older server may not send newer ones.
extension JSON {
    /// A text, number or truth value in printable form.
    ///
    /// Empty if it is missing.
    func words(_ key: String) -> String {
        switch self[key] {
        case .string(let text): printable(text.text)
        case .integer(let number): "\(number)"
        case .bool(let value): "\(value)"
        case .null, .array, .object, nil: ""
        }
    }

    func number(_ key: String) -> Int? {
        if case .integer(let number) = self[key] { number } else { nil }
    }

    func isTrue(_ key: String) -> Bool { self[key] == .bool(true) }

    func items(_ key: String) -> [JSON] {
        if case .array(let items) = self[key] { items } else { [] }
    }

    /// The texts of an array, without its other elements.
    func texts(_ key: String) -> [String] {
        items(key).compactMap { if case .string(let text) = $0 { printable(text.text) } else { nil } }
    }

    /// The originator of a change: an ``Actor`` in its JSON form.
    var actor: String {
        switch words("kind") {
        case "token": "\(words("name")) (token \(words("id")))"
        case "local": "\(words("name")) at the server"
        default: "the server"
        }
    }
}
