package import Linux
package import PatchFormat
import PatchCrypto
package import SystemPackage

/// The condition of one object on disk.
package enum ObjectCondition: Equatable, Sendable {
    case missing
    /// The object matches its digest. The identity should be recorded.
    case intact(FileIdentity)
    /// The first of kind, size, md5, sha1 and sha256 that is wrong.
    case damaged(field: String)
}

extension ObjectStore {
    /// Whether the object under `digest` is intact.
    ///
    /// A file that is unchanged since it was recorded is intact without hashing. A caller that reads all of it anyway, or
    /// suspects the medium, passes empty records.
    /// - Parameter expected: The entry of the object, if any, to compare size, md5 and sha1 too.
    package func condition(
        of digest: SHA256Digest,
        expected: Fingerprint? = nil,
        records: VerifiedRecords
    ) throws(FileError) -> ObjectCondition {
        try files.condition(of: path(of: digest), digest, expected: expected, recorded: records[digest])
    }

    /// Performs a change that makes or removes hard links of objects, and renews their records.
    ///
    /// Each such change alters a file's ctime and so its ``FileIdentity``. Otherwise every object of a bundle would be hashed
    /// again after the bundle was built, and again after a neighbour was removed. Records that were correct before `change` are
    /// renewed if the content is unchanged; others are kept as they are.
    package func carrying(
        _ records: inout VerifiedRecords,
        of digests: some Collection<SHA256Digest>,
        over change: () throws(FileError) -> Void
    ) throws(FileError) {
        var before: [SHA256Digest] = []
        try look(at: digests) { digest, now in
            if let now, records[digest] == now { before.append(digest) }
        }
        // The files of an interrupted change are hashed again.
        try change()
        try look(at: before) { digest, now in
            if let now, let earlier = records[digest], now.hasContent(of: earlier) { records[digest] = now }
        }
    }

    /// The identities of these objects' files, read a few thousand at a time.
    private func look(
        at digests: some Collection<SHA256Digest>,
        _ body: (SHA256Digest, FileIdentity?) -> Void
    ) throws(FileError) {
        var rest = digests[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(FileIdentity.batch))
            rest = rest.dropFirst(some.count)
            let found = try files.identities(of: some.map { "\(Hex.text($0.bytes.prefix(1)))/\($0.hex)" }, below: root)
            for (digest, identity) in zip(some, found) { body(digest, identity) }
        }
    }
}

extension FileOperations {
    /// Whether the file at `path` contains the bytes of `digest`.
    ///
    /// - Parameters:
    ///   - expected: The entry of that digest, if any, to compare size, md5 and sha1 too.
    ///   - recorded: Its identity when it was last hashed.
    package func condition(
        of path: FilePath,
        _ digest: SHA256Digest,
        expected: Fingerprint? = nil,
        recorded: FileIdentity?
    ) throws(FileError) -> ObjectCondition {
        precondition(expected == nil || expected?.sha256 == digest, "an entry of another object")
        // Read before hashing: a write meanwhile changes the identity, and the file is hashed the next time.
        let status: FileStatus
        do throws(FileError) {
            guard let found = try self.status(of: path) else { return .missing }
            status = found
        } catch .notDirectory {
            return .missing
        }
        guard status.kind == .file else { return .damaged(field: "kind") }
        if let expected, expected.size != status.identity.size { return .damaged(field: "size") }
        if let recorded, recorded == status.identity { return .intact(status.identity) }
        var digester = Digester()
        do throws(FileError) {
            try readChunks(path, limit: status.identity.size) { digester.update($0) }
        } catch .tooLarge {
            return .damaged(field: "size")
        }
        let found = digester.finish()
        if let expected, let field = found.firstDifference(from: expected) { return .damaged(field: field) }
        return found.sha256 == digest ? .intact(status.identity) : .damaged(field: "sha256")
    }
}
