package import PatchFormat
import PatchCrypto

/// Where contents come from, by digest: a store, a folder, a test.
package struct PackObjects {
    private let open: (SHA256Digest) -> (any ByteSource)?

    /// - Parameter open: nil for a content that is not there.
    package init(_ open: @escaping (SHA256Digest) -> (any ByteSource)?) {
        self.open = open
    }

    /// A content that is held: it is the one that its fingerprint says, or there is none.
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

    /// A content of any size; whether it is the right one is known at its end.
    func source(of fingerprint: Fingerprint) throws(PackError) -> DigestedBytes {
        guard let source = open(fingerprint.sha256) else { throw .object(fingerprint.sha256) }
        return DigestedBytes(source)
    }
}
