package import Gateways
import PatchFormat
import PatchStore
package import PatchCrypto
import PatchTrust
package import SystemPackage

/// Packs script files into a package of JSPatch's platform, and writes the sync file that names it.
///
/// ```
/// www/0a1b2c3d/2.1/file3
/// www/0a1b2c3d/2.1/index.html     {"v":3}
/// ```
package struct PlatformPacking: Sendable {
    /// The result of packing.
    package struct Packed: Equatable, Sendable {
        package let package: LoaderPacking.Packed
        package let syncFile: FilePath
        /// The previous sync file; nil if there was none.
        package let before: PlatformSyncFile?
    }

    private let output: FilePath
    private let scripts: LoaderScripts
    private let syncFile: PlatformSyncFile

    /// - Parameters:
    ///   - output: The new package.
    ///   - origin: The app version and number that the package states; nil for none.
    ///   - syncFile: The content of the sync file, which names the package to devices.
    package init(
        _ files: [FilePath],
        to output: FilePath,
        for origin: LoaderPlace?,
        telling syncFile: PlatformSyncFile
    ) throws(SigningError) {
        self.output = output
        self.syncFile = syncFile
        scripts = try LoaderScripts(files: files, for: origin, in: output)
    }

    /// Reads the encryption key of scripts from a file.
    package static func key(_ file: FilePath) throws(SigningError) -> AESKey {
        let bytes = try onDisk { () throws(FileError) in try DiskFiles().read(file, limit: Limits.keyFile) }
        guard let key = AESKey(bytes) else { throw .encryptionKey(file, bytes: bytes.count) }
        return key
    }

    /// Signs the package, verifies it as a client does, and writes it.
    ///
    /// Then replaces the sync file. Afterwards both files are stored, durably. After an error there is neither, or only the
    /// package, which no device requests.
    package func pack(signedBy signer: JSPatchSigner, encryptedBy key: AESKey) throws(SigningError) -> Packed {
        let place = output.parent.at(PlatformPlace.indexName)
        let before = try Self.replaced(place)
        let bytes = try Self.bytes(scripts, of: output, signedBy: signer, encryptedBy: key)
        try DiskFiles().writeNew(bytes, to: output, permissions: .publicFile)
        try onDisk { () throws(FileError) in
            try DiskFiles().replace(
                PlatformPlace.indexName,
                in: output.parent,
                with: syncFile.bytes,
                permissions: .publicFile
            )
        }
        return Packed(
            package: .init(file: output, scripts: scripts.scripts.count, size: bytes.count, place: scripts.place),
            syncFile: place,
            before: before
        )
    }

    /// Returns a package that was verified as a client does.
    ///
    /// - Parameter file: Its name in messages.
    static func bytes(
        _ scripts: LoaderScripts,
        of file: FilePath,
        signedBy signer: JSPatchSigner,
        encryptedBy key: AESKey
    ) throws(SigningError) -> [UInt8] {
        let encrypted = try packing(file) { () throws(PlatformError) in try scripts.encrypted(with: key) }
        let signature = try signer.sign(.md5, of: LoaderPackage.fingerprint(of: encrypted))
        return try packing(file) { () throws(PlatformError) in
            let bytes = try PlatformPackage(scripts: encrypted, signature: signature).bytes()
            let read = try OpenedPlatformPackage(
                PlatformPackage(bytes),
                by: signer.publicKey,
                openedWith: key
            )
            precondition(read.scripts == scripts, "a package does not unpack to its scripts")
            return bytes
        }
    }

    /// Rewrites the sync file of a folder.
    ///
    /// - Parameter change: Returns the new content. It must name a version or be a deletion.
    /// - Returns: the previous and the new content.
    package static func changeSyncFile(
        _ folder: FilePath,
        _ change: (PlatformSyncFile) -> PlatformSyncFile
    ) throws(SigningError) -> (before: PlatformSyncFile, now: PlatformSyncFile) {
        let place = folder.at(PlatformPlace.indexName)
        guard let before = try replaced(place) else { throw .missingSyncFile(place) }
        let now = change(before)
        guard now.isDeleted || now.version != nil else { throw .missingSyncFile(place) }
        try onDisk { () throws(FileError) in
            try DiskFiles().replace(PlatformPlace.indexName, in: folder, with: now.bytes, permissions: .publicFile)
        }
        return (before, now)
    }

    /// Only a sync file is replaced: any other file, such as a web page, is an error.
    private static func replaced(_ place: FilePath) throws(SigningError) -> PlatformSyncFile? {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try DiskFiles().read(place, limit: Limits.platformSyncFile) } catch .notFound {
            return nil
        } catch { throw .file(error) }
        do throws(FormatError) { return try PlatformSyncFile(bytes) } catch { throw .noSyncFile(place) }
    }

    private static func packing<Value>(
        _ file: FilePath,
        _ work: () throws(PlatformError) -> Value
    ) throws(SigningError) -> Value {
        do throws(PlatformError) { return try work() } catch { throw .platform(file, error) }
    }
}
