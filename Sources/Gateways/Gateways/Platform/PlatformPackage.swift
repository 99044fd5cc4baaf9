import PatchCompression
import PatchFormat
package import PatchCrypto

/// `fileN` as a client of JSPatch's platform fetches it: an archive of encrypted scripts and a signature over their MD5.
///
/// A device stores the scripts encrypted as received: see ``OpenedPlatformPackage``.
package struct PlatformPackage: Equatable, Sendable {
    /// The longest name of a script, in bytes.
    package static let scriptNameBytes = TarHeader.nameSize

    package static let scriptsName = "scripts"
    package static let signatureName = "key"
    private static let bounds = TarArchive.Bounds(archive: Limits.loaderPackage, entries: 2)
    /// The limits of the archive of scripts, which may contain other files too.
    static let scriptBounds = TarArchive.Bounds(
        archive: Limits.loaderScripts,
        entries: 2 * Limits.scriptsInLoaderPackage
    )

    /// The encrypted archive of scripts.
    package let scripts: [UInt8]
    /// The signature, as long as its key's modulus.
    package let signature: [UInt8]

    package init(scripts: [UInt8], signature: [UInt8]) {
        self.scripts = scripts
        self.signature = signature
    }

    /// The package as a file.
    ///
    /// Equal scripts give equal bytes.
    package func bytes() throws(PlatformError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(TarError) {
            bytes = try TarArchive([.init(Self.scriptsName, scripts), .init(Self.signatureName, signature)]).bytes
        } catch { throw .archive(error) }
        guard bytes.count <= Limits.loaderPackage else { throw .tooLarge(limit: Limits.loaderPackage) }
        return bytes
    }

    /// Reads a package without checking its signature.
    package init(_ bytes: [UInt8]) throws(PlatformError) {
        let archive: TarArchive
        do throws(TarError) { archive = try TarArchive(reading: bytes, within: Self.bounds) } catch {
            throw .archive(error)
        }
        let names = [Self.scriptsName, Self.signatureName]
        if let other = archive.files.first(where: { !names.contains($0.name.text) }) { throw .unknown(other.name.text) }
        guard let scripts = archive[Self.scriptsName] else { throw .noScripts }
        guard let signature = archive[Self.signatureName] else { throw .noKey }
        self.init(scripts: scripts, signature: signature)
    }
}

/// A package whose signature is valid, and the scripts decrypted with the app's key.
package struct OpenedPlatformPackage: Equatable, Sendable {
    package let package: PlatformPackage
    package let scripts: LoaderScripts

    /// Checks the signature before it decrypts anything.
    package init(
        _ package: PlatformPackage,
        by signer: JSPatchPublicKey,
        openedWith key: AESKey
    ) throws(PlatformError) {
        do throws(JSPatchError) {
            try signer.check(package.signature, digest: .md5, of: LoaderPackage.fingerprint(of: package.scripts))
        } catch { throw .signature(error) }
        self.package = package
        scripts = try LoaderScripts(encrypted: package.scripts, with: key)
    }
}

extension LoaderScripts {
    /// `scripts`: an archive of the scripts without folders and the record of their place, compressed with gzip and encrypted with
    /// AES.
    package func encrypted(with key: AESKey) throws(PlatformError) -> [UInt8] {
        var files: [TarArchive.File] = []
        let archive: TarArchive
        do throws(TarError) {
            for (name, bytes) in scripts { files.append(try .init(name.text, bytes)) }
            if let place { files.append(try .init(LoaderPlace.recordName, place.record)) }
            archive = try TarArchive(files)
        } catch { throw .scriptArchive(error) }
        let bytes = archive.bytes
        guard bytes.count <= PlatformPackage.scriptBounds.archive else {
            throw .scriptArchive(.tooLarge(limit: PlatformPackage.scriptBounds.archive))
        }
        do throws(CompressionError) {
            return key.encrypted(try CompressionFormat.gzip.compressed(bytes))
        } catch { throw .compression(error) }
    }

    /// Reads `scripts`, limited to the unpacked size of an archive.
    init(encrypted bytes: [UInt8], with key: AESKey) throws(PlatformError) {
        let packed: [UInt8]
        do throws(AESError) { packed = try key.decrypted(bytes) } catch { throw .encryption(error) }
        let plain: [UInt8]
        do throws(CompressionError) {
            plain = try CompressionFormat.gzip.decompressed(packed, limit: PlatformPackage.scriptBounds.archive)
        } catch { throw .compression(error) }
        let archive: TarArchive
        do throws(TarError) {
            archive = try TarArchive(reading: plain, within: PlatformPackage.scriptBounds)
        } catch { throw .scriptArchive(error) }
        do throws(LoaderError) {
            try self.init(archive.files.map { ($0.name.text, $0.bytes) }, record: archive[LoaderPlace.recordName])
        } catch { throw .scripts(error) }
    }
}
