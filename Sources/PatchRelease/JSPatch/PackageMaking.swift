import Gateways
import PatchFormat
import PatchStore
package import PatchTrust
import ReleaseFolder
import SystemPackage

/// The keys with which packages for JSPatch's clients are made: the pair whose public half such apps have, and what their scripts are
/// encrypted with.
package struct PackageKeys: Sendable {
    package let signer: JSPatchSigner
    /// Of the platform's; the loader's packages are not encrypted.
    package let encryption: AESKey?

    package init(signer: JSPatchSigner, encryption: AESKey?) {
        self.signer = signer
        self.encryption = encryption
    }
}

/// Makes the packages of a draft.
struct PackageMaking: Sendable {
    struct Made: Sendable {
        let gateways: [GatewayPackages]
        /// The packages that are new.
        let objects: [SHA256Digest: [UInt8]]
    }

    /// Nil where nothing new is to be made.
    let keys: PackageKeys?
    let files: any FileOperations
    /// Where a script's bytes lie.
    let object: @Sendable (SHA256Digest) -> FilePath?

    func make(_ draft: PackageDraft) throws(SigningError) -> Made {
        var (gateways, objects): ([GatewayPackages], [SHA256Digest: [UInt8]]) = ([], [:])
        for row in draft.rows {
            var made: GatewayPackages.Package?
            if let new = row.new, let bytes = try package(new, on: row.line) {
                let fingerprint = Fingerprint(of: bytes)
                objects[fingerprint.sha256] = bytes
                made = .init(version: new.version, fingerprint: fingerprint, contents: new.contents)
            }
            if let row = row.packages(made) { gateways.append(row) }
        }
        return Made(gateways: gateways, objects: objects)
    }

    /// Nil for want of a key, where none is required.
    private func package(
        _ new: PackageDraft.New,
        on line: GatewayPackages.Line
    ) throws(SigningError) -> [UInt8]? {
        let place = LoaderPlace(line.appVersion, new.version)
        let name = FilePath(line.path(new.version))
        func missing(_ option: String) throws(SigningError) -> [UInt8]? {
            if new.isRequired { throw .noPackageKey(line, new.version, option: option) }
            return nil
        }
        guard let keys else { return try missing("--jspatch-key") }
        switch line.wire {
        case .loader:
            let scripts = try scripts(new, for: place, in: name)
            return try LoaderPacking.bytes(scripts, of: name, signedBy: keys.signer)
        case .platform:
            guard let encryption = keys.encryption else { return try missing("--aes-key") }
            let scripts = try scripts(new, for: place, in: name)
            return try PlatformPacking.bytes(scripts, of: name, signedBy: keys.signer, encryptedBy: encryption)
        }
    }

    private func scripts(
        _ new: PackageDraft.New,
        for place: LoaderPlace,
        in package: FilePath
    ) throws(SigningError) -> LoaderScripts {
        var scripts: [ScriptName: [UInt8]] = [:]
        var left = Limits.loaderScripts
        for (name, digest) in new.contents.sorted(by: { $0.key < $1.key }) {
            let url = URLLayout.object(digest)
            guard let file = object(digest) else { throw .release(FilePath(url), .missing(url)) }
            let bytes = try onDisk { () throws(FileError) in try files.read(file, limit: left) }
            guard SHA256Digest(of: bytes) == digest else { throw .bundle(.changed(file)) }
            left -= bytes.count
            scripts[name] = bytes
        }
        return try LoaderPacking.packing(package) { () throws(LoaderError) in try LoaderScripts(scripts, for: place) }
    }
}
