import Linux
import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

extension EmbeddedFolder {
    /// Performs the checks of an installation: every RSA signature of entries and assets, and every file's size and digests.
    ///
    /// - Returns: the identity of the file for each digest, to be recorded.
    /// - Throws: the first error, with the name of the invalid file.
    package func verify(files: any FileOperations) throws(ReleaseError) -> VerifiedRecords {
        var check = EmbeddedCheck(folder: self, files: files)
        for patch in document.patches { try check.patch(patch) }
        return check.records
    }
}

/// A verification of an embedded folder.
private struct EmbeddedCheck {
    let folder: EmbeddedFolder
    let files: any FileOperations
    var records = VerifiedRecords()
    private var directories: Set<String> = []

    init(folder: EmbeddedFolder, files: any FileOperations) {
        self.folder = folder
        self.files = files
    }

    mutating func patch(_ patch: EmbeddedDocument.Patch) throws(ReleaseError) {
        let (entry, document) = (patch.entry, folder.document)
        do throws(EntryFault) {
            let statement = entry.statement(app: document.app, channel: document.channel)
            try document.entryKeys.check(entry.signature, over: statement, entry: entry.label.description)
        } catch { throw .trust(.entry(error)) }
        switch entry.kind {
        case .script: try script(entry)
        case .bundle: try bundle(entry, column: patch.column)
        }
    }

    private mutating func script(_ entry: PatchEntry) throws(ReleaseError) {
        let (name, label) = (EmbeddedLayout.script(entry.patchID), entry.label.description)
        try file(name, entry.fingerprint, entry: label)
        let bytes = try read(name, limit: entry.fingerprint.size)
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw .trust(.entry(EntryFault(entry: label, rule: .unreadable("is not UTF-8 text"))))
        }
    }

    private mutating func bundle(_ entry: PatchEntry, column: SHA256Digest?) throws(ReleaseError) {
        let (id, label) = (entry.patchID, entry.label.description)
        let manifestBytes = try document(EmbeddedLayout.manifest(id), entry.fingerprint.sha256, entry.fingerprint.size)
        let columnName = EmbeddedLayout.signatureColumn(id)
        let columnBytes = try document(columnName, column, Limits.signatureColumn)
        let manifest: AssetManifest
        do throws(TrustError) {
            manifest = try VerifiedManifest(
                manifestBytes,
                column: columnBytes,
                of: entry,
                app: folder.document.app,
                keys: folder.document.entryKeys
            ).manifest
        } catch { throw .trust(error) }
        for asset in manifest.assets {
            try file(EmbeddedLayout.asset(asset.path, of: id), asset.fingerprint, entry: "\(label) \(asset.path)")
        }
    }

    /// Reads a manifest or signature column, and records it under its required digest.
    private mutating func document(_ name: String, _ digest: SHA256Digest?, _ limit: Int) throws(ReleaseError)
        -> [UInt8]
    {
        let identity = try identity(of: name)
        let bytes = try read(name, limit: limit)
        guard let digest, SHA256Digest(of: bytes) == digest else {
            throw .trust(.wrongDigest(name: name, algorithm: "sha256"))
        }
        record(identity, digest)
        return bytes
    }

    private mutating func file(_ name: String, _ expected: Fingerprint, entry: String) throws(ReleaseError) {
        let identity = try identity(of: name)
        func differs(_ field: String) -> ReleaseError {
            .trust(.entry(EntryFault(entry: entry, rule: .differs(field))))
        }
        guard identity.size == expected.size else { throw differs("size") }
        let found: Fingerprint
        do throws(FileError) {
            found = try files.fingerprint(of: folder.path.at(name), limit: expected.size)
        } catch { throw .file(error) }
        if let field = found.firstDifference(from: expected) { throw differs(field) }
        record(identity, expected.sha256)
    }

    /// The first file of each content is used, as in ``EmbeddedFolder/paths(files:healed:)``.
    private mutating func record(_ identity: FileIdentity, _ digest: SHA256Digest) {
        if records[digest] == nil { records[digest] = identity }
    }

    private func read(_ name: String, limit: Int) throws(ReleaseError) -> [UInt8] {
        try EmbeddedFolder.read(name, limit: limit, in: folder.path, files)
    }

    /// The identity of a regular file.
    ///
    /// Neither the file nor a folder above it may be a symbolic link.
    private mutating func identity(of name: String) throws(ReleaseError) -> FileIdentity {
        do throws(FileError) {
            let parts = name.split(separator: "/")
            for count in 1..<max(1, parts.count) {
                let directory = parts.prefix(count).joined(separator: "/")
                guard !directories.contains(directory) else { continue }
                let path = folder.path.at(directory)
                guard let status = try files.status(of: path) else { break }
                guard status.kind == .directory else { throw FileError.notDirectory(.inspect, path) }
                directories.insert(directory)
            }
            guard let status = try files.status(of: folder.path.at(name)) else {
                throw FileError.notFound(.read, folder.path.at(name))
            }
            guard status.kind == .file else { throw FileError.notRegular(.read, folder.path.at(name)) }
            return status.identity
        } catch .notFound {
            throw .missing(name)
        } catch { throw .file(error) }
    }
}
