import PatchFormat
import PatchCrypto

/// A token, which authenticates the caller to a release service.
///
/// Its description is its id. The secret is only used in a request's Authorization field.
package struct ServiceToken: Sendable, CustomStringConvertible {
    /// A limit above the size of every token.
    package static let fileLimit = 1_024

    private let text: TokenText
    /// The id that `patchsrv token list` shows.
    package var id: String { text.id }

    /// - Parameter text: The output of `patchsrv token new`. Leading white space and all text after the token are ignored.
    package init?(_ text: String) {
        guard let text = TokenText(String(text.drop(while: \.isWhitespace).prefix { !$0.isWhitespace })) else {
            return nil
        }
        self.text = text
    }

    package var description: String { "token \(id)" }

    func proof(nonce: [UInt8]) -> SHA256Digest { TokenProof.make(text, nonce: nonce) }

    var authorization: String { "Bearer \(text.text)" }
}
