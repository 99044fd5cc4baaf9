import COpenSSL
import PatchFormat

/// The algorithms of `hashes` in TUF metadata that are computed here.
enum HashAlgorithm: String, Sendable {
    case sha256
    case sha512

    var hexDigits: Int {
        switch self {
        case .sha256: 64
        case .sha512: 128
        }
    }
}

/// One digest of a stream.
@safe
final class MessageDigest {
    let algorithm: HashAlgorithm
    private let context: OpaquePointer

    init(_ algorithm: HashAlgorithm) {
        self.algorithm = algorithm
        switch algorithm {
        case .sha256: unsafe context = Digester.context(EVP_sha256())
        case .sha512: unsafe context = Digester.context(EVP_sha512())
        }
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    func update(_ bytes: [UInt8]) {
        let done = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(done == 1, "libcrypto could not digest")
    }

    /// Lowercase hex; nothing can be added afterwards.
    func finish() -> String {
        Hex.text(unsafe Digester.final(context))
    }
}
