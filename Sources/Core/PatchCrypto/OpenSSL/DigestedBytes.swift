package import PatchFormat

/// Computes the digests of another source while it is read.
package final class DigestedBytes: ByteSource {
    private let source: any ByteSource
    private var digester: Digester? = Digester()

    package init(_ source: some ByteSource) {
        self.source = source
    }

    package func next() -> [UInt8]? {
        let piece = source.next()
        if let piece { digester?.update(piece) }
        return piece
    }

    /// The size and digests of all bytes that were read.
    ///
    /// Call it only once.
    package func finish() -> Fingerprint {
        guard let digester = digester.take() else { preconditionFailure("finished twice") }
        return digester.finish()
    }
}

extension SHA256Digest {
    /// The SHA-256 of a document that arrives in pieces.
    package init(of source: some ByteSource) {
        let digest = MessageDigest(.sha256)
        while let piece = source.next() { digest.update(piece) }
        guard let found = SHA256Digest(hex: digest.finish()) else { preconditionFailure("libcrypto could not digest") }
        self = found
    }
}
