import PatchFormat
import PatchCrypto

/// The text of a token, which shows a release service who asks.
///
/// It prints as its id; the secret leaves only in a request's Authorization field.
package struct ServiceToken: Sendable, CustomStringConvertible {
    /// More than any token has.
    package static let fileLimit = 1_024

    private let text: TokenText
    /// What `patchsrv token list` shows of it.
    package var id: String { text.id }

    /// - Parameter text: as `patchsrv token new` printed it; a line end behind it does not matter.
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
