package import PatchFormat
package import PatchCrypto

/// `vN.zip` as JSPatch's loader fetches it: an archive of scripts and a signature over its MD5.
package struct LoaderPackage: Equatable, Sendable {
    package static let scriptArchiveName = "script.zip"
    package static let signatureName = "key"
    /// The limits for the package and for the archive in it, which may contain folders and other files besides scripts.
    static let bounds = ZipArchive.Bounds(
        archive: Limits.loaderPackage,
        contents: Limits.loaderScripts,
        entries: 2 * Limits.scriptsInLoaderPackage
    )

    package let scriptArchive: [UInt8]
    /// The signature, as long as its key's modulus.
    package let signature: [UInt8]

    package init(scriptArchive: [UInt8], signature: [UInt8]) {
        self.scriptArchive = scriptArchive
        self.signature = signature
    }

    /// The fingerprint whose MD5 (``JSPatchDigest/md5``) is signed.
    package static func fingerprint(of scriptArchive: [UInt8]) -> Fingerprint { Fingerprint(of: scriptArchive) }

    /// The package as a file.
    package func bytes() throws(LoaderError) -> [UInt8] {
        do throws(ZipError) {
            return try ZipArchive([
                .init(named: Self.scriptArchiveName, scriptArchive), .init(named: Self.signatureName, signature),
            ]).bytes()
        } catch { throw .archive(nil, error) }
    }

    /// Reads a package without checking its signature.
    package init(_ bytes: [UInt8]) throws(LoaderError) {
        let archive = try Self.read(nil, bytes)
        for name in [Self.scriptArchiveName, Self.signatureName] where archive[name] == nil { throw .missing(name) }
        let names = [Self.scriptArchiveName, Self.signatureName]
        if let other = archive.files.first(where: { !names.contains($0.path.text) }) { throw .unknown(other.path.text) }
        scriptArchive = archive[Self.scriptArchiveName] ?? []
        signature = archive[Self.signatureName] ?? []
    }

    /// - Parameter name: The name of an archive in a package, or nil for the package itself.
    static func read(_ name: String?, _ bytes: [UInt8]) throws(LoaderError) -> ZipArchive {
        do throws(ZipError) { return try ZipArchive(reading: bytes, within: bounds) } catch {
            throw .archive(name, error)
        }
    }
}

/// The scripts of a package whose signature is valid.
package struct VerifiedScripts: Equatable, Sendable {
    package let scripts: LoaderScripts

    /// Checks the signature before it opens the archive of scripts.
    package init(_ package: LoaderPackage, by key: JSPatchPublicKey) throws(LoaderError) {
        do throws(JSPatchError) {
            try key.check(package.signature, digest: .md5, of: LoaderPackage.fingerprint(of: package.scriptArchive))
        } catch { throw .signature(error) }
        scripts = try LoaderScripts(archive: package.scriptArchive)
    }
}
