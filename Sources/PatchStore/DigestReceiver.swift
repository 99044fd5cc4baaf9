package import PatchFormat
import PatchTrust
import SystemPackage

/// One object on its way in of which only the SHA-256 is known, and how large it may be.
///
/// It is never resumed: nothing says whether what lies there is a beginning of it.
package struct DigestReceiver: ~Copyable {
    private let digest: SHA256Digest
    private let limit: Int
    private let store: ObjectStore
    private let part: FilePath
    private let writer: any FileWriter
    private var digester = Digester()

    fileprivate init(_ digest: SHA256Digest, limit: Int, into store: ObjectStore) throws(FileError) {
        part = store.incoming.appending("\(digest).new")
        try store.files.removeTree(part)
        writer = try store.files.create(part, permissions: .sealed)
        (self.digest, self.limit, self.store) = (digest, limit, store)
    }

    /// Takes the next bytes.
    ///
    /// Afterwards: not durable. After an error let the receiver go.
    package mutating func append(_ bytes: [UInt8]) throws(StoreError) {
        guard bytes.count <= limit - writer.offset else { throw refusal("size") }
        do throws(FileError) { try writer.append(bytes) } catch { throw .file(error) }
        digester.update(bytes)
    }

    /// Afterwards: the object is durable.
    package consuming func finish() throws(StoreError) -> FileIdentity {
        let (digest, store, part, writer) = (digest, store, part, writer)
        guard digester.finish().sha256 == digest else {
            try? store.files.remove(part)
            throw .mismatch(digest, field: "sha256")
        }
        do throws(FileError) {
            try store.files.makeDirectory(store.directory(of: digest), permissions: store.directoryPermissions)
            try writer.finish()
            return try store.commit(part, as: digest)
        } catch { throw .file(error) }
    }

    private func refusal(_ field: String) -> StoreError {
        try? store.files.remove(part)
        return .mismatch(digest, field: field)
    }
}

extension ObjectStore {
    /// Starts to receive an object of at most `limit` bytes.
    package func receive(_ digest: SHA256Digest, limit: Int) throws(StoreError) -> DigestReceiver {
        do throws(FileError) {
            return try DigestReceiver(digest, limit: limit, into: self)
        } catch { throw .file(error) }
    }

    /// An object as the source of a document.
    package func bytes(of digest: SHA256Digest, limit: Int) throws(FileError) -> FileBytes {
        FileBytes(try files.open(path(of: digest), limit: limit))
    }
}
