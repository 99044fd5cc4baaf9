import COpenSSL

/// An `EVP_PKEY` and its lifetime.
///
/// `@unchecked`: an EVP_PKEY is reference counted and, once made, only read. libcrypto allows that from many threads.
@safe
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes ownership of one reference.
    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    var kind: KeyKind? {
        switch unsafe EVP_PKEY_get_base_id(pointer) {
        case EVP_PKEY_RSA: return .rsa(bits: Int(unsafe EVP_PKEY_get_bits(pointer)))
        case EVP_PKEY_ED25519: return .ed25519
        case EVP_PKEY_EC:
            var name = [CChar](repeating: 0, count: 64)
            var length = 0
            let known = unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &length)
            let group = name.prefix(length).map { UInt8(bitPattern: $0) }
            return known == 1 && group.elementsEqual("prime256v1".utf8) ? .p256 : nil
        default: return nil
        }
    }
}

extension KeyHandle {
    /// Whether an RSA key's public exponent has at most 32 bits.
    var hasShortExponent: Bool {
        var exponent: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(pointer, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 else {
            _ = lastOpenSSLError()
            return false
        }
        defer { unsafe BN_free(exponent) }
        return unsafe BN_num_bits(exponent) <= 32
    }

    /// Normalises an elliptic-curve key before it is shared: the curve by name, the point uncompressed.
    ///
    /// Otherwise one key in two encodings would count as two towards a threshold.
    func normalizeCurve() throws(KeyError) {
        guard
            unsafe EVP_PKEY_set_utf8_string_param(pointer, OSSL_PKEY_PARAM_EC_ENCODING, OSSL_PKEY_EC_ENCODING_GROUP)
                == 1,
            unsafe EVP_PKEY_set_utf8_string_param(
                pointer,
                OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
                OSSL_PKEY_EC_POINT_CONVERSION_FORMAT_UNCOMPRESSED
            ) == 1
        else { throw .failed(lastOpenSSLError()) }
    }
}

/// The callback with which libcrypto asks for a passphrase.
///
/// A callback is always passed, because libcrypto's default asks at the terminal or reads standard input. It would do so even for a
/// public key in metadata that has the header of an encrypted key.
enum PassphraseCallback {
    static let refuse: @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 =
        {
            _,
            _,
            _,
            _ in -1
        }
}

/// The kind of a key.
package enum KeyKind: Equatable, Sendable {
    case rsa(bits: Int)
    case ed25519
    case p256

    static let anyRSA = "RSA"

    /// - Throws: `unfit` for a key that is not RSA. Entries and JSPatch's form need RSA.
    package func checkRSA() throws(KeyError) {
        guard case .rsa = self else { throw .unfit(self, wanted: Self.anyRSA) }
    }

    /// The scheme with which a key of this kind signs roles.
    package var roleScheme: SignatureScheme {
        switch self {
        case .rsa: .rsaPSS
        case .ed25519: .ed25519
        case .p256: .ecdsaP256
        }
    }
}

extension KeyKind: CustomStringConvertible {
    package var description: String {
        switch self {
        case .rsa(let bits): "RSA, \(bits) bits"
        case .ed25519: "Ed25519"
        case .p256: "P-256"
        }
    }
}

/// A memory BIO and its lifetime.
@safe
struct MemoryBIO: ~Copyable {
    let pointer: OpaquePointer

    init() {
        CryptoLibrary.outliveExit()
        guard let pointer = unsafe BIO_new(BIO_s_mem()) else { preconditionFailure("libcrypto has no memory") }
        unsafe self.pointer = pointer
    }

    init(_ bytes: [UInt8]) {
        self.init()
        let written = unsafe BIO_write(pointer, bytes, Int32(bytes.count))
        precondition(written == bytes.count || bytes.isEmpty, "libcrypto has no memory")
    }

    deinit {
        unsafe BIO_free_all(pointer)
    }

    consuming func bytes() -> [UInt8] {
        var out: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe BIO_read(pointer, &chunk, Int32(chunk.count))
            guard count > 0 else { return out }
            out += chunk.prefix(Int(count))
        }
    }
}

/// The reason of libcrypto's last failure on this thread.
///
/// Empties its error queue.
func lastOpenSSLError() -> String {
    var reason = "unknown"
    while true {
        let code = ERR_get_error()
        guard code != 0 else { return reason }
        if let text = unsafe ERR_reason_error_string(code) { reason = unsafe String(cString: text) }
    }
}
