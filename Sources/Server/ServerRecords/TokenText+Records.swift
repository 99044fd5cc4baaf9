package import PatchFormat
import PatchCrypto

extension TokenText {
    /// A new token and its text.
    package static func make(
        name: String,
        grants: [AccessGrant],
        by creator: String,
        at now: UTCTime,
        expires: UTCTime
    ) -> (token: APIToken, text: TokenText) {
        let text = TokenText(id: SecureRandom.bytes(8), secret: SecureRandom.bytes(32))
        let token = APIToken(
            id: text.id,
            name: name,
            secretDigest: SHA256Digest(of: text.secret),
            grants: grants,
            created: now,
            createdBy: creator,
            expires: expires
        )
        return (token, text)
    }

    /// Whether this is the token's own text, compared in constant time.
    package func belongs(to token: APIToken) -> Bool {
        SecretBytes.areEqual(SHA256Digest(of: secret).bytes, token.secretDigest.bytes) && id == token.id
    }
}
