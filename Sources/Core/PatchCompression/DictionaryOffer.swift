package import PatchFormat

/// The header fields with which clients and servers negotiate dictionaries (RFC 9842).
package enum DictionaryOffer {
    /// In a server's response: it may serve as the dictionary of later ones.
    package static let offer = "Use-As-Dictionary"
    /// In a client's request: the dictionary that the client has.
    package static let available = "Available-Dictionary"

    /// The value of ``offer`` for requests of this path only (§2.1): a URL pattern, in a string of structured fields.
    ///
    /// - Parameters:
    ///   - path: as in the request's target.
    ///   - destination: the required destination of the request, as in `Sec-Fetch-Dest`; nil for all.
    package static func value(for path: String, destination: String? = nil) -> String {
        let special = Set("*+?:(){}\\")
        let pattern = path.map { special.contains($0) ? "\\\($0)" : "\($0)" }.joined()
        let text = pattern.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : "\($0)" }.joined()
        return "match=\"\(text)\"" + (destination.map { ", match-dest=(\"\($0)\")" } ?? "")
    }

    /// Whether a client accepts content compressed against a dictionary.
    ///
    /// - Parameter codings: the values of `Accept-Encoding`.
    package static func isTaken(_ codings: [String]) -> Bool {
        codings.flatMap { $0.split(separator: ",") }.contains { element in
            let parts = element.lowercased().split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            return parts.first == DictionaryCompressed.coding && !parts.dropFirst().contains { isNone($0) }
        }
    }

    private static func isNone(_ weight: String) -> Bool {
        ["q=0", "q=0.", "q=0.0", "q=0.00", "q=0.000"].contains(weight)
    }

    /// The SHA-256 of a dictionary: a byte sequence of structured fields (RFC 9651 §3.3.5), such as
    /// `:pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=:`.
    package static func digest(in field: String) -> SHA256Digest? {
        let text = field.filter { $0 != " " && $0 != "\t" }
        guard text.utf8.count > 2, text.hasPrefix(":"), text.hasSuffix(":"),
            let bytes = Base64.bytes(String(text.dropFirst().dropLast()))
        else { return nil }
        return SHA256Digest(bytes: bytes)
    }
}
