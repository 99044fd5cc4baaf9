import Linux
package import PatchFormat
import SystemPackage

/// What came of an object's compressed form, kept beside its part in `INCOMING/<sha256>.zst` or `.gz`, so that a later request
/// goes on at its byte.
///
/// The part itself is made anew from it. What the server calls the form stands in `….zst.tag`, and is written before the
/// form's first byte: one without a name is not gone on with. Only a hint, as an ``ObjectValidator``: nothing here is ever
/// durable, for whatever it gives is compared with the entry.
package struct KeptForm {
    /// Fewer bytes are not worth a file: a form that breaks off before them begins anew.
    package static let worthKeeping = 65_536

    package let format: CompressionFormat
    /// The server's strong name for the form; nil where it has none, or the disk no room: nothing is kept then.
    package private(set) var validator: String?
    /// How many bytes came.
    package private(set) var size = 0
    /// Whether a later request can go on with them.
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

    /// Takes the next bytes of the form.
    ///
    /// On a full disk what is kept goes: the object itself needs the room.
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

    /// What is kept, from its first byte.
    package func reader() throws(StoreError) -> any FileReader {
        do throws(FileError) { return try store.files.open(store.form(format, digest), limit: size) } catch {
            throw .file(error)
        }
    }

    /// Goes on with what an earlier process kept; nil where it cannot.
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
    /// What is here of a compressed form of the object; whatever cannot be gone on with is removed.
    package func keptForm(of expected: ExpectedFile) throws(StoreError) -> KeptForm? {
        var isThere = false
        do throws(FileError) {
            for format in CompressionFormat.allCases {
                guard let status = try files.status(of: form(format, expected.sha256)) else { continue }
                isThere = true
                if let kept = try KeptForm(reopening: format, status, of: expected, in: self) { return kept }
            }
        } catch { throw .file(error) }
        if isThere { try removeForms(of: expected.sha256) }
        return nil
    }

    /// How many bytes of an object are here in part, in the form in which they came; about what no request asks for again.
    package func received(of digest: SHA256Digest) throws(FileError) -> Int {
        for format in CompressionFormat.allCases {
            if let status = try files.status(of: form(format, digest)) { return status.identity.size }
        }
        return try files.status(of: part(of: digest))?.identity.size ?? 0
    }

    /// How many bytes of an object itself are here in part.
    package func bytesOfPart(of digest: SHA256Digest) throws(FileError) -> Int {
        try files.status(of: part(of: digest))?.identity.size ?? 0
    }

    /// A form begins with its first byte.
    ///
    /// - Precondition: nothing is here of any (``removeForms(of:)``).
    package func beginForm(
        _ format: CompressionFormat,
        validator: String?,
        of expected: ExpectedFile
    ) -> KeptForm {
        KeptForm(format, validator, of: expected.sha256, in: self)
    }

    /// Removes what is here of the object's compressed forms.
    package func removeForms(of digest: SHA256Digest) throws(StoreError) {
        do throws(FileError) {
            for format in CompressionFormat.allCases {
                // A tag without its form is not read; a form without its tag would be removed.
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
