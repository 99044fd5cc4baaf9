import COpenSSL

/// Why bytes could not be decrypted.
package enum AESError: Error, Equatable, Sendable {
    /// The length is zero or not a multiple of 16 bytes.
    case length(Int)
    /// The padding is not valid: the bytes were encrypted with another key, or altered.
    case padding
}

extension AESError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .length(let count): "has \(count) bytes, not a multiple of 16"
        case .padding: "does not open with this key: its padding is not valid"
        }
    }
}

/// A key of AES-128 in CBC mode with PKCS#7 padding and a zero initialization vector, as in `openssl enc -aes-128-cbc -K KEY -iv
/// 00000000000000000000000000000000`.
///
/// The encryption hides the bytes but does not authenticate them: callers must check a signature first. Because of the zero vector,
/// equal texts give equal bytes, and a common beginning of two texts is visible.
package struct AESKey: Sendable, CustomStringConvertible {
    package static let size = 16
    package static let rule = "must be \(size) bytes"
    private let bytes: [UInt8]

    package var description: String { "‹key›" }

    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Encrypts to whole blocks, 1 to 16 bytes longer than `plain`.
    package func encrypted(_ plain: [UInt8]) -> [UInt8] {
        guard
            let out = unsafe run(
                plain,
                room: plain.count + Self.size,
                EVP_EncryptInit_ex,
                EVP_EncryptUpdate,
                EVP_EncryptFinal_ex
            )
        else { preconditionFailure("libcrypto could not encrypt") }
        return out
    }

    package func decrypted(_ bytes: [UInt8]) throws(AESError) -> [UInt8] {
        guard !bytes.isEmpty, bytes.count.isMultiple(of: Self.size) else { throw .length(bytes.count) }
        guard let out = unsafe run(bytes, room: bytes.count, EVP_DecryptInit_ex, EVP_DecryptUpdate, EVP_DecryptFinal_ex)
        else { throw .padding }
        return out
    }

    private typealias Beginning = (
        OpaquePointer?, OpaquePointer?, OpaquePointer?, UnsafePointer<UInt8>?, UnsafePointer<UInt8>?
    ) -> Int32
    private typealias Step = (
        OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int32>?, UnsafePointer<UInt8>?, Int32
    ) -> Int32
    private typealias End = (OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int32>?) -> Int32

    /// Returns nil if the padding is not valid.
    private func run(
        _ input: [UInt8],
        room: Int,
        _ begin: Beginning,
        _ step: Step,
        _ end: End
    ) -> [UInt8]? {
        precondition(room <= Int(Int32.max), "libcrypto counts in 32 bits")
        guard let context = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("libcrypto has no memory") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let vector = [UInt8](repeating: 0, count: Self.size)
        guard unsafe begin(context, EVP_aes_128_cbc(), nil, bytes, vector) == 1 else {
            preconditionFailure("libcrypto has not this cipher")
        }
        var isWhole = false
        let output = unsafe [UInt8](unsafeUninitializedCapacity: room) { space, count in
            var (written, rest): (Int32, Int32) = (0, 0)
            guard unsafe step(context, space.baseAddress, &written, input, Int32(input.count)) == 1 else { return }
            isWhole = unsafe end(context, space.baseAddress.map { unsafe $0 + Int(written) }, &rest) == 1
            count = isWhole ? Int(written + rest) : 0
        }
        if !isWhole { _ = lastOpenSSLError() }
        return isWhole ? output : nil
    }
}
