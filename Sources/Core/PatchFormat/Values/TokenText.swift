/// The text of a release service's token, which is shown once and kept by its owner: `plt_<id>_<secret>`.
package struct TokenText: Hashable, Sendable {
    /// Lets secret scanners recognise a token.
    package static let prefix = "plt_"
    package static let rule = "must be one line: plt_, 16 hex digits, _ and 64 hex digits"

    /// 16 hex digits, which are not secret.
    package let id: String
    /// 32 bytes.
    package let secret: [UInt8]

    /// Nil if the text does not have the form of a token.
    ///
    /// Does not check whether the token exists.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 16, parts[1].utf8.count == 64,
            let secret = Hex.bytes(String(parts[1])), Hex.bytes(String(parts[0])) != nil
        else { return nil }
        id = String(parts[0])
        self.secret = secret
    }

    /// A new token from random bytes.
    package init(id: [UInt8], secret: [UInt8]) {
        precondition(id.count == 8 && secret.count == 32)
        self.id = Hex.text(id)
        self.secret = secret
    }

    package var text: String { "\(Self.prefix)\(id)_\(Hex.text(secret))" }
}
