package import PatchFormat

/// A server's proof that it knows a token, sent before it receives the token.
///
/// HMAC-SHA256 (RFC 2104) of the caller's nonce, keyed with the SHA-256 of the token's secret. The server stores only this digest,
/// not the secret. The proof reveals neither.
package enum TokenProof {
    package static let nonceBytes = 32

    private static let block = 64
    private static let purpose = "patchline-token-proof-v1\n"

    package static func make(_ token: TokenText, nonce: [UInt8]) -> SHA256Digest {
        make(id: token.id, secretDigest: SHA256Digest(of: token.secret), nonce: nonce)
    }

    package static func make(id: String, secretDigest: SHA256Digest, nonce: [UInt8]) -> SHA256Digest {
        mac(key: secretDigest.bytes, Array("\(purpose)\(id)\n".utf8) + nonce)
    }

    /// - Parameter key: at most 64 bytes.
    package static func mac(key: [UInt8], _ message: [UInt8]) -> SHA256Digest {
        let padded = key + Array(repeating: 0, count: max(0, block - key.count))
        let inner = SHA256Digest(of: padded.map { $0 ^ 0x36 } + message)
        return SHA256Digest(of: padded.map { $0 ^ 0x5C } + inner.bytes)
    }
}
