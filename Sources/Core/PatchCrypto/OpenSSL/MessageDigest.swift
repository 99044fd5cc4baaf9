import COpenSSL
import PatchFormat

/// The supported algorithms of `hashes` in TUF metadata.
package enum HashAlgorithm: String, Sendable {
    case sha256
    case sha512

    package var hexDigits: Int {
        switch self {
        case .sha256: 64
        case .sha512: 128
        }
    }
}

/// One digest of a stream.
@safe
package final class MessageDigest {
    package let algorithm: HashAlgorithm
    private let context: OpaquePointer

    package init(_ algorithm: HashAlgorithm) {
        self.algorithm = algorithm
        switch algorithm {
        case .sha256: unsafe context = Digester.context(EVP_sha256())
        case .sha512: unsafe context = Digester.context(EVP_sha512())
        }
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    package func update(_ bytes: [UInt8]) {
        let done = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(done == 1, "libcrypto could not digest")
    }

    /// Returns the digest in lowercase hex and ends the stream.
    package func finish() -> String {
        Hex.text(unsafe Digester.final(context))
    }
}
