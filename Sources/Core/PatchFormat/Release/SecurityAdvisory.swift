/// A description of the security hole that an entry fixes.
///
/// An entry without one is not a security version.
///
/// ```
/// { "text": "Names in a chat could run scripts.", "url": "https://example.com/advisories/7" }
/// ```
/// It is not a rule: a reader that does not know it installs the entry like any other.
package struct SecurityAdvisory: Hashable, Sendable {
    /// One line, for the person who approves the version.
    package let text: String
    /// A page with details.
    package let url: String?

    package init(_ fields: Fields) throws(FormatError) {
        text = try fields.string("text")
        guard text.unicodeScalars.count <= Limits.advisoryText, text.isOneLine(upTo: 4 * Limits.advisoryText) else {
            throw fields.broken("text", Self.textRule)
        }
        url = try fields.optionalString("url")
        if let url, !Self.isLink(url) { throw fields.broken("url", Self.urlRule) }
    }

    package var json: JSON { .fields([("text", .text(text)), ("url", url.map { .text($0) })]) }

    package static let textRule = "must be 1 to \(Words.grouped(Limits.advisoryText)) characters on one line"
    package static let urlRule =
        "must be https:// and a host, of at most \(Words.grouped(Limits.advisoryURL)) bytes; no user"

    private static func isLink(_ text: String) -> Bool {
        guard text.hasPrefix("https://"), text.utf8.count <= Limits.advisoryURL else { return false }
        let authority = text.dropFirst("https://".count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let forbidden = Set("\\\"<>^`{|}".utf8)
        return !authority.isEmpty && !authority.hasPrefix(":") && !authority.contains("@")
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !forbidden.contains($0) }
    }
}

extension SecurityAdvisory: CustomStringConvertible {
    package var description: String { text + (url.map { " (\($0))" } ?? "") }
}
