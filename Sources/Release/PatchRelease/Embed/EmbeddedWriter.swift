package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// Writes the embedded folder of an app, verified like a device verifies it.
///
/// The folder is written completely or not at all.
package struct EmbeddedWriter: Sendable {
    package let output: FilePath
    private let files: any FileOperations
    private let replaces: Bool

    /// - Parameter force: Whether a folder from a newer release or of another app may be replaced.
    /// - Throws: `.exists` if the output exists and is not an older embedded folder of this app and channel.
    package init(
        _ output: FilePath,
        of release: VerifiedRelease,
        force: Bool,
        files: any FileOperations
    ) throws(SigningError) {
        self.output = output
        self.files = files
        replaces = try onDisk { () throws(FileError) in try files.status(of: output) } != nil
        guard replaces else { return }
        // Only embedded folders are ever replaced.
        guard let there = try? EmbeddedFolder(output, files: files).document else { throw .exists(output) }
        let header = release.release.header
        let isOlder =
            (there.app, there.channel) == (header.app, header.channel)
            && there.roleVersion <= release.role.header.version
        guard isOlder || force else { throw .exists(output) }
    }

    /// Writes the folder.
    ///
    /// Afterwards the folder is at ``output``, durably; after an error the previous one is unchanged.
    ///
    /// - Parameters:
    ///   - elsewhere: The location of an object that the release does not contain.
    package func write(
        _ selection: EmbeddedSelection,
        of release: VerifiedRelease,
        root: [UInt8],
        appBuild: AppBuild?,
        elsewhere: (SHA256Digest) -> FilePath?
    ) throws(SigningError) -> EmbeddedDocument {
        let document = EmbeddedDocument(
            app: release.release.header.app,
            channel: release.release.header.channel,
            appBuild: appBuild,
            roleVersion: release.role.header.version,
            patches: selection.entries.map { EmbeddedDocument.Patch($0, column: release.manifests[$0.label]?.column) },
            entryKeys: release.role.entryKeys
        )
        let copies = Self.copies(of: document, release, elsewhere)
        let documents = Self.documents(of: document, release, root: root)
        return try NewFolder(output, replacing: replaces, files: files).made { (new) throws(SigningError) in
            try onDisk { () throws(FileError) in
                try filling(new, with: (copies.map(\.name) + documents.map(\.name))) { () throws(FileError) in
                    for (name, source) in copies { try files.copy(source, to: new.at(name)) }
                    for (name, bytes) in documents {
                        try files.write(bytes, to: new.at(name), permissions: .sealed)
                    }
                }
            }
            do throws(ReleaseError) {
                _ = try EmbeddedFolder(new, files: files).verify(files: files)
            } catch { throw .release(new, error) }
            return document
        }
    }

    /// Every script and asset: its name in the folder and its current location.
    private static func copies(
        of document: EmbeddedDocument,
        _ release: VerifiedRelease,
        _ elsewhere: (SHA256Digest) -> FilePath?
    ) -> [(name: String, source: FilePath)] {
        func source(_ digest: SHA256Digest) -> FilePath {
            guard let path = release.release.objects[digest] ?? elsewhere(digest) else {
                preconditionFailure("verified without \(digest)")
            }
            return path
        }
        return document.patches.flatMap { patch in
            let (entry, id) = (patch.entry, patch.entry.patchID)
            guard entry.kind == .bundle else {
                return [(EmbeddedLayout.script(id), source(entry.fingerprint.sha256))]
            }
            return (release.manifests[entry.label]?.manifest.assets ?? []).map {
                (EmbeddedLayout.asset($0.path, of: id), source($0.fingerprint.sha256))
            }
        }
    }

    private static func documents(
        of document: EmbeddedDocument,
        _ release: VerifiedRelease,
        root: [UInt8]
    ) -> [(name: String, bytes: [UInt8])] {
        let targets = release.release.targets
        var documents = [(EmbeddedLayout.root, root), (EmbeddedLayout.document, document.json.fileBytes)]
        for entry in document.patches.map(\.entry) where entry.kind == .bundle {
            let (channel, id, version) = (document.channel, entry.patchID, entry.version)
            let manifest = TargetPath.manifest(channel: channel, patchID: id, version: version)
            let column = TargetPath.signatureColumn(channel: channel, patchID: id, version: version)
            documents.append((EmbeddedLayout.manifest(id), targets[manifest] ?? []))
            documents.append((EmbeddedLayout.signatureColumn(id), targets[column] ?? []))
        }
        return documents
    }

    /// Creates the folders of `names`, lets `body` fill them, and makes their names durable.
    private func filling(_ folder: FilePath, with names: [String], _ body: () throws(FileError) -> Void)
        throws(FileError)
    {
        let parts = Set(names.map { $0.split(separator: "/").dropLast().joined(separator: "/") })
        let folders = parts.sorted().map { $0.isEmpty ? folder : folder.at($0) }
        for folder in folders { try files.makeDirectory(folder, permissions: .readableDirectory) }
        try body()
        for folder in folders { try files.syncDirectory(folder) }
    }
}

extension FilePermissions {
    /// 0755: other users may read the files that an app embeds.
    fileprivate static let readableDirectory = FilePermissions(rawValue: 0o755)
}

extension ReleaseTrust {
    /// Returns the root that an app embeds: this one, or a newer or older one of the same app.
    ///
    /// - Parameter file: Another root.json. It must be signed by its own keys and be for this app.
    package func shippedRoot(_ file: FilePath?, files: any FileOperations) throws(SigningError) -> [UInt8] {
        let path = file ?? folder.at(Self.rootFile)
        let bytes = try onDisk { () throws(FileError) in try files.read(path, limit: Limits.root) }
        do throws(TrustError) {
            let root = try TrustedRoot(anchor: bytes)
            guard root.app == app else {
                throw .foreign(
                    document: "root.json",
                    field: "app",
                    found: root.app?.text ?? "none",
                    expected: app.text
                )
            }
        } catch { throw .rootOfTrust(path, error) }
        return bytes
    }
}
