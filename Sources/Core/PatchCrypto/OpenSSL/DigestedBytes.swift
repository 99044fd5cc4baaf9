package import PatchFormat

/// Digests what another source gives, as it gives it.
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

    /// The size and digests of all that was given.
    ///
    /// Call once.
    package func finish() -> Fingerprint {
        guard let digester = digester.take() else { preconditionFailure("finished twice") }
        return digester.finish()
    }
}

extension SHA256Digest {
    /// SHA-256 alone, of a document that comes piece by piece.
    package init(of source: some ByteSource) {
        let digest = MessageDigest(.sha256)
        while let piece = source.next() { digest.update(piece) }
        guard let found = SHA256Digest(hex: digest.finish()) else { preconditionFailure("libcrypto could not digest") }
        self = found
    }
}
