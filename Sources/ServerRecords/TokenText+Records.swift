package import PatchFormat
import PatchTrust

extension TokenText {
    /// A new token and its text.
    package static func make(
        name: String,
        grants: [AccessGrant],
        by creator: String,
        at now: UTCTime,
        expires: UTCTime
    ) -> (token: AccessToken, text: TokenText) {
        let text = TokenText(id: SecureRandom.bytes(8), secret: SecureRandom.bytes(32))
        let token = AccessToken(
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

    /// Whether this is the token's own text; takes as long for a wrong one.
    package func belongs(to token: AccessToken) -> Bool {
        SecretBytes.areEqual(SHA256Digest(of: secret).bytes, token.secretDigest.bytes) && id == token.id
    }
}
