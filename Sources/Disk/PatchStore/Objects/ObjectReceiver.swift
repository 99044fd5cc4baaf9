package import Linux
package import PatchFormat
import PatchCrypto
import SystemPackage

/// Receives one object.
///
/// The bytes are written to `INCOMING/<sha256>.part` and digested as they arrive. A released receiver keeps the part file, and
/// the next one resumes there. Bytes that do not match the entry are removed, so that no receiver resumes from them.
package struct ObjectReceiver: ~Copyable {
    package let expected: ExpectedFile
    /// The number of bytes in the part file at the start.
    package let resumeOffset: Int
    /// The number of bytes in the part file now.
    package private(set) var received: Int
    /// The server's tag for these bytes.
    ///
    /// It belongs to the request for the rest, `Range: bytes=<received>-`.
    package private(set) var validator: String
    /// Whether all bytes were received, so that only ``finish()`` remains.
    package var isComplete: Bool { received == expected.size }

    private let store: ObjectStore
    private let part: FilePath
    private var writer: any FileWriter
    private var digester: Digester
    /// Set after a failed append.
    ///
    /// The end of the part file is unknown from then on.
    private var failure: StoreError?

    fileprivate init(_ expected: ExpectedFile, into store: ObjectStore) throws(FileError) {
        self.expected = expected
        self.store = store
        part = store.part(of: expected.sha256)
        // `self` cannot be captured before it is initialised.
        var digester = Digester()
        do throws(FileError) {
            writer = try store.files.create(part, permissions: .privateFile)
        } catch .exists {
            if try store.canResume(expected) {
                // The last receiver may have made the file read-only already.
                try store.files.setPermissions(.privateFile, of: part)
                // The existing bytes are digested again, because a power failure may have damaged them.
                try store.files.readChunks(part, limit: expected.size) { digester.update($0) }
                writer = try store.files.append(to: part)
            } else {
                try store.files.removeTree(part)
                writer = try store.files.create(part, permissions: .privateFile)
            }
        }
        self.digester = digester
        resumeOffset = writer.offset
        received = writer.offset
        validator = store.validator(of: expected) ?? ObjectValidator.tag(of: expected.sha256)
    }

    /// Begins an answer with the bytes from `offset` on: ``received``, or 0 to start again.
    ///
    /// - Parameter validator: The server's tag for the object; nil if it has no strong one.
    package mutating func begin(at offset: Int, validator: String?) throws(StoreError) {
        precondition(offset == received || offset == 0)
        if let failure { throw failure }
        if offset == received, received > 0 { return }
        let name = validator ?? ObjectValidator.tag(of: expected.sha256)
        do throws(FileError) {
            if received > 0 {
                try store.files.removeIfPresent(part)
                writer = try store.files.create(part, permissions: .privateFile)
                digester = Digester()
                received = 0
            }
            if name != self.validator { try store.save(name, of: expected) }
        } catch {
            failure = .file(error)
            throw .file(error)
        }
        self.validator = name
    }

    /// Adds the next bytes, not durably.
    ///
    /// - Throws: `mismatch(field: "size")` if there are more bytes than expected. None of these is written. After any error the
    ///   receiver must be released: it throws the same error from then on.
    package mutating func append(_ bytes: [UInt8]) throws(StoreError) {
        if let failure { throw failure }
        do throws(StoreError) {
            guard bytes.count <= expected.size - received else { throw store.refusal(of: expected, "size") }
            try write(bytes)
        } catch {
            failure = error
            throw error
        }
        digester.update(bytes)
        received += bytes.count
    }

    private func write(_ bytes: [UInt8]) throws(StoreError) {
        do throws(FileError) {
            try writer.append(bytes)
        } catch {
            throw .file(error)
        }
    }

    /// Compares size and every known digest, and makes the part an object.
    ///
    /// Afterwards the object is durable.
    /// - Returns: its identity, to be recorded once all links are made.
    @discardableResult
    package consuming func finish() throws(StoreError) -> FileIdentity {
        if let failure { throw failure }
        let (store, part, writer, expected, validator) = (store, part, writer, expected, validator)
        try store.check(digester.finish(), against: expected)
        do throws(FileError) {
            try store.files.makeDirectory(
                store.directory(of: expected.sha256),
                permissions: store.directoryPermissions
            )
            try writer.setPermissions(.sealed)
            try writer.finish()
            let identity = try store.commit(part, as: expected.sha256)
            if validator != ObjectValidator.tag(of: expected.sha256) { store.removeValidator(of: expected) }
            return identity
        } catch {
            throw .file(error)
        }
    }

    /// Compares size and every known digest, and keeps the part for an ``ObjectBatch``.
    ///
    /// Afterwards nothing is durable. The next receiver would find all bytes.
    package consuming func seal() throws(StoreError) -> SealedPart {
        if let failure { throw failure }
        let (store, part, writer, expected, validator) = (store, part, writer, expected, validator)
        try store.check(digester.finish(), against: expected)
        do throws(FileError) {
            try writer.setPermissions(.sealed)
            try writer.close()
            if validator != ObjectValidator.tag(of: expected.sha256) { store.removeValidator(of: expected) }
        } catch {
            throw .file(error)
        }
        return SealedPart(digest: expected.sha256, size: expected.size, path: part)
    }
}

extension ObjectStore {
    /// Starts to receive an object, or resumes after the last receiver.
    package func receive(_ expected: ExpectedFile) throws(StoreError) -> ObjectReceiver {
        do throws(FileError) {
            return try ObjectReceiver(expected, into: self)
        } catch {
            throw .file(error)
        }
    }

    /// Removes the files of interrupted downloads, except those still needed.
    ///
    /// - Parameter wanted: The digests of objects, and of the manifests of bundles whose packs are needed. It is not evaluated if
    ///   there are no files, which is the usual case.
    package func removePartialDownloads(
        except wanted: @autoclosure () -> Set<SHA256Digest> = []
    ) throws(FileError) {
        let names = try files.list(incoming)
        guard !names.isEmpty, case let wanted = wanted() else { return }
        for name in names {
            let digest = Self.endings.lazy.compactMap { Self.digest(in: name, ending: $0) }.first
            if digest.map({ !wanted.contains($0) }) ?? true { try files.removeTree(incoming.at(name)) }
        }
    }

    private static let endings =
        [".part", ".tag"] + CompressionFormat.allCases.flatMap { [$0.suffix, $0.suffix + ".tag"] } + packEndings

    /// The objects that were received in part, in any form.
    package func partialDownloads() throws(FileError) -> Set<SHA256Digest> {
        let endings = [".part"] + CompressionFormat.allCases.map(\.suffix)
        return Set(
            try files.list(incoming).compactMap { name in
                endings.lazy.compactMap { Self.digest(in: name, ending: $0) }.first
            }
        )
    }

    private static func digest(in name: String, ending: String) -> SHA256Digest? {
        name.hasSuffix(ending) ? SHA256Digest(hex: String(name.dropLast(ending.count))) : nil
    }

    /// Removes the received part of an object, and its compressed forms.
    package func removePart(of expected: ExpectedFile) throws(StoreError) {
        try removeForms(of: expected.sha256)
        do throws(FileError) { try files.removeIfPresent(part(of: expected.sha256)) } catch { throw .file(error) }
        removeValidator(of: expected)
    }

    func part(of digest: SHA256Digest) -> FilePath {
        incoming.at("\(digest).part")
    }

    fileprivate func check(_ found: Fingerprint, against expected: ExpectedFile) throws(StoreError) {
        if let field = expected.firstDifference(in: found) { throw refusal(of: expected, field) }
    }

    fileprivate func refusal(of expected: ExpectedFile, _ field: String) -> StoreError {
        try? files.remove(part(of: expected.sha256))
        removeValidator(of: expected)
        return .mismatch(expected.sha256, field: field)
    }

    fileprivate func canResume(_ expected: ExpectedFile) throws(FileError) -> Bool {
        guard let status = try files.status(of: part(of: expected.sha256)) else { return false }
        // After a power failure a finished download may have both names: appending to one would write to the other.
        return status.kind == .file && status.linkCount == 1 && status.identity.size <= expected.size
    }
}
