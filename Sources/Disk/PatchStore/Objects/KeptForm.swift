import Linux
package import PatchFormat
import SystemPackage

/// The received compressed form of an object, stored next to its part in `INCOMING/<sha256>.zst` or `.gz`, so that a later
/// request can resume it.
///
/// The part itself is made again from it. The server's entity tag is stored in `….zst.tag`, which is written before the form's
/// first byte. A form without a tag is not resumed. Like an ``ObjectValidator`` it is only a hint, so it is never durable: the
/// resulting object is compared with its entry.
package struct KeptForm {
    /// Smaller forms are not stored, and are downloaded again from the start.
    package static let worthKeeping = 65_536

    package let format: CompressionFormat
    /// The server's strong entity tag of the form; nil if it has none or the disk is full.
    ///
    /// Then nothing is stored.
    package private(set) var validator: String?
    /// The number of bytes received.
    package private(set) var size = 0
    /// Whether a later request can resume the form.
    package var isKept: Bool { writer != nil }

    private let store: ObjectStore
    private let digest: SHA256Digest
    private var early: [UInt8] = []
    private var writer: (any FileWriter)?

    fileprivate init(_ format: CompressionFormat, _ validator: String?, of digest: SHA256Digest, in store: ObjectStore)
    {
        self.format = format
        self.validator = validator.flatMap { $0.isPrintable && !$0.isEmpty ? $0 : nil }
        self.digest = digest
        self.store = store
    }

    /// Adds the next bytes of the form.
    ///
    /// If the disk is full, the stored form is removed: the object itself needs the space.
    package mutating func append(_ bytes: [UInt8]) throws(StoreError) {
        size += bytes.count
        guard let validator else { return }
        do throws(StoreError) { try keep(bytes, named: validator) } catch .file(.noSpace) {
            (writer, self.validator, early) = (nil, nil, [])
            try store.removeForms(of: digest)
        }
    }

    private mutating func keep(_ bytes: [UInt8], named validator: String) throws(StoreError) {
        do throws(FileError) {
            if let writer { return try writer.append(bytes) }
            early += bytes
            guard size > Self.worthKeeping else { return }
            let tag = store.tag(of: format, digest)
            try store.files.removeIfPresent(tag)
            try store.files.create(tag, permissions: .privateFile).append(Array(validator.utf8))
            let writer = try store.files.create(store.form(format, digest), permissions: .privateFile)
            try writer.append(early)
            self.writer = writer
            early = []
        } catch { throw .file(error) }
    }

    /// The stored bytes, from the first one.
    package func reader() throws(StoreError) -> any FileReader {
        do throws(FileError) { return try store.files.open(store.form(format, digest), limit: size) } catch {
            throw .file(error)
        }
    }

    /// Continues a form that an earlier process stored; nil if that is not possible.
    fileprivate init?(
        reopening format: CompressionFormat,
        _ status: FileStatus,
        of expected: ExpectedFile,
        in store: ObjectStore
    ) throws(FileError) {
        guard status.kind == .file, status.identity.size > 0, status.identity.size <= expected.size,
            let name = try? store.files.read(store.tag(of: format, expected.sha256), limit: Limits.validator)
        else { return nil }
        self.init(format, String(decoding: name, as: UTF8.self), of: expected.sha256, in: store)
        guard validator != nil else { return nil }
        let writer = try store.files.append(to: store.form(format, expected.sha256))
        (size, self.writer) = (writer.offset, writer)
    }
}

extension ObjectStore {
    /// The stored compressed form of an object, if any.
    ///
    /// A form that cannot be resumed is removed.
    package func keptForm(of expected: ExpectedFile) throws(StoreError) -> KeptForm? {
        var exists = false
        do throws(FileError) {
            for format in CompressionFormat.allCases {
                guard let status = try files.status(of: form(format, expected.sha256)) else { continue }
                exists = true
                if let kept = try KeptForm(reopening: format, status, of: expected, in: self) { return kept }
            }
        } catch { throw .file(error) }
        if exists { try removeForms(of: expected.sha256) }
        return nil
    }

    /// The number of an object's bytes that are stored in part, in their received form.
    ///
    /// The next request asks for about this much less.
    package func received(of digest: SHA256Digest) throws(FileError) -> Int {
        for format in CompressionFormat.allCases {
            if let status = try files.status(of: form(format, digest)) { return status.identity.size }
        }
        return try files.status(of: part(of: digest))?.identity.size ?? 0
    }

    /// The number of bytes in an object's part file.
    package func bytesOfPart(of digest: SHA256Digest) throws(FileError) -> Int {
        try files.status(of: part(of: digest))?.identity.size ?? 0
    }

    /// Begins a form at its first byte.
    ///
    /// - Precondition: No form of the object is stored (``removeForms(of:)``).
    package func beginForm(
        _ format: CompressionFormat,
        validator: String?,
        of expected: ExpectedFile
    ) -> KeptForm {
        KeptForm(format, validator, of: expected.sha256, in: self)
    }

    /// Removes the stored compressed forms of an object.
    package func removeForms(of digest: SHA256Digest) throws(StoreError) {
        do throws(FileError) {
            for format in CompressionFormat.allCases {
                // A tag without its form is ignored; a form without its tag would be removed.
                try files.removeIfPresent(form(format, digest))
                try files.removeIfPresent(tag(of: format, digest))
            }
        } catch { throw .file(error) }
    }

    fileprivate func form(_ format: CompressionFormat, _ digest: SHA256Digest) -> FilePath {
        incoming.at("\(digest)\(format.suffix)")
    }

    fileprivate func tag(of format: CompressionFormat, _ digest: SHA256Digest) -> FilePath {
        incoming.at("\(digest)\(format.suffix).tag")
    }
}

extension String {
    fileprivate var isPrintable: Bool { utf8.allSatisfy { (0x20...0x7E).contains($0) } }
}
