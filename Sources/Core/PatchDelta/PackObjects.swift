package import PatchFormat
import PatchCrypto

/// The source of contents by digest: a store, a folder, a test.
package struct PackObjects {
    private let open: (SHA256Digest) -> (any ByteSource)?

    /// - Parameter open: returns nil for a missing content.
    package init(_ open: @escaping (SHA256Digest) -> (any ByteSource)?) {
        self.open = open
    }

    /// Returns a content in memory.
    ///
    /// Throws if it is missing or differs from the fingerprint.
    func bytes(of fingerprint: Fingerprint) throws(PackError) -> [UInt8] {
        guard fingerprint.size <= PackLimits.held, let source = open(fingerprint.sha256) else {
            throw .object(fingerprint.sha256)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(fingerprint.size)
        while bytes.count <= fingerprint.size, let piece = source.next() { bytes += piece }
        guard bytes.count == fingerprint.size, SHA256Digest(of: bytes) == fingerprint.sha256 else {
            throw .object(fingerprint.sha256)
        }
        return bytes
    }

    /// Returns a content of any size.
    ///
    /// Its digest can be checked only at its end.
    func source(of fingerprint: Fingerprint) throws(PackError) -> DigestedBytes {
        guard let source = open(fingerprint.sha256) else { throw .object(fingerprint.sha256) }
        return DigestedBytes(source)
    }
}
