import PatchFormat

/// The text of a token, which shows a release service who asks.
///
/// It prints as its id; the secret leaves only in a request's Authorization field.
package struct ServiceToken: Sendable, CustomStringConvertible {
    package static let rule = "must be one line: plt_, 16 hex digits, _ and 64 hex digits"
    /// More than any token has.
    package static let fileLimit = 1_024

    private let text: String
    /// What `patchsrv token list` shows of it.
    package let id: String

    /// - Parameter text: as `patchsrv token new` printed it; a line end behind it does not matter.
    package init?(_ text: String) {
        let text = String(text.drop(while: \.isWhitespace).prefix { !$0.isWhitespace })
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "plt", parts[1].utf8.count == 16, parts[2].utf8.count == 64,
            Hex.bytes(String(parts[1])) != nil, Hex.bytes(String(parts[2])) != nil
        else { return nil }
        self.text = text
        id = String(parts[1])
    }

    package var description: String { "token \(id)" }

    var authorization: String { "Bearer \(text)" }
}
