import COpenSSL
package import PatchFormat

/// MD5, SHA-1 and SHA-256 of a stream in one pass.
@safe
package struct Digester: ~Copyable {
    private let md5: OpaquePointer
    private let sha1: OpaquePointer
    private let sha256: OpaquePointer
    private var size = 0

    package init() {
        unsafe md5 = Self.context(DigestFunctions.md5)
        unsafe sha1 = Self.context(DigestFunctions.sha1)
        unsafe sha256 = Self.context(DigestFunctions.sha256)
    }

    deinit {
        unsafe EVP_MD_CTX_free(md5)
        unsafe EVP_MD_CTX_free(sha1)
        unsafe EVP_MD_CTX_free(sha256)
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let done = unsafe (
            EVP_DigestUpdate(md5, bytes.baseAddress, bytes.count),
            EVP_DigestUpdate(sha1, bytes.baseAddress, bytes.count),
            EVP_DigestUpdate(sha256, bytes.baseAddress, bytes.count)
        )
        precondition(done == (1, 1, 1), "libcrypto could not digest")
        size += bytes.count
    }

    package mutating func update(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    /// The size and digests of all bytes of the stream.
    package consuming func finish() -> Fingerprint {
        guard let md5 = unsafe MD5Digest(bytes: Self.final(md5)),
            let sha1 = unsafe SHA1Digest(bytes: Self.final(sha1)),
            let sha256 = unsafe SHA256Digest(bytes: Self.final(sha256))
        else { preconditionFailure("libcrypto gave a digest of another length") }
        return Fingerprint(size: size, md5: md5, sha1: sha1, sha256: sha256)
    }

    static func context(_ algorithm: OpaquePointer?) -> OpaquePointer {
        guard let context = unsafe EVP_MD_CTX_new(), unsafe EVP_DigestInit_ex(context, algorithm, nil) == 1 else {
            preconditionFailure("libcrypto has no memory or not this digest")
        }
        return unsafe context
    }

    static func final(_ context: OpaquePointer) -> [UInt8] {
        var length: UInt32 = 0
        var out = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        let done = unsafe EVP_DigestFinal_ex(context, &out, &length)
        precondition(done == 1, "libcrypto could not finish a digest")
        return Array(out.prefix(Int(length)))
    }
}

/// The digest functions, fetched only once: with `EVP_sha256()` and the like, libcrypto searches by name for every digest
/// (EVP_MD_fetch(3)).
///
/// `nonisolated(unsafe)`: libcrypto shares them between threads, and they are never changed or freed.
enum DigestFunctions {
    nonisolated(unsafe) static let md5 = unsafe fetched("MD5")
    nonisolated(unsafe) static let sha1 = unsafe fetched("SHA1")
    nonisolated(unsafe) static let sha256 = unsafe fetched("SHA2-256")

    private static func fetched(_ name: String) -> OpaquePointer? {
        CryptoLibrary.outliveExit()
        return unsafe EVP_MD_fetch(nil, name, nil)
    }
}

extension Fingerprint {
    package init(of bytes: [UInt8]) {
        var digester = Digester()
        digester.update(bytes)
        self = digester.finish()
    }
}

/// SHA-1 of a stream, alone.
@safe
package struct SHA1Digester: ~Copyable {
    private let context: OpaquePointer

    package init() {
        unsafe context = Digester.context(DigestFunctions.sha1)
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    package mutating func update(_ bytes: Span<UInt8>) {
        let done = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(done == 1, "libcrypto could not digest")
    }

    package consuming func finish() -> SHA1Digest {
        guard let digest = unsafe SHA1Digest(bytes: Digester.final(context)) else {
            preconditionFailure("libcrypto gave a digest of another length")
        }
        return digest
    }
}

extension SHA1Digest {
    /// Computes only SHA-1.
    package init(of bytes: [UInt8]) {
        var digester = SHA1Digester()
        digester.update(bytes.span)
        self = digester.finish()
    }
}

extension SHA256Digest {
    /// Computes only SHA-256.
    package init(of bytes: [UInt8]) {
        let context = unsafe Digester.context(DigestFunctions.sha256)
        defer { unsafe EVP_MD_CTX_free(context) }
        let done = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        guard done == 1, let digest = unsafe SHA256Digest(bytes: Digester.final(context)) else {
            preconditionFailure("libcrypto could not digest")
        }
        self = digest
    }
}
