import PatchFormat
import CommandKit

/// What is shown of a server's answer, be it of a folder here or of one that was asked over HTTP.
///
/// Members that are not there read as nothing: the answer of another server may lack what is new.
extension JSON {
    /// A member that is text, or a number, made printable; empty where there is none.
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

    /// Text alone.
    func texts(_ key: String) -> [String] {
        items(key).compactMap { if case .string(let text) = $0 { printable(text.text) } else { nil } }
    }

    /// Who did something: an ``Actor`` as it is written down.
    var actor: String {
        switch words("kind") {
        case "token": "\(words("name")) (token \(words("id")))"
        case "local": "\(words("name")) at the server"
        default: "the server"
        }
    }
}
