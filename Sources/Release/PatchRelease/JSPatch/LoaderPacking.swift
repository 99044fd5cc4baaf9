package import Gateways
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// Packs script files into a package of JSPatch's loader.
package struct LoaderPacking: Sendable {
    /// The result of packing.
    package struct Packed: Equatable, Sendable {
        package let file: FilePath
        package let scripts: Int
        /// The size of the package, in bytes.
        package let size: Int
        package let place: LoaderPlace?

        package init(file: FilePath, scripts: Int, size: Int, place: LoaderPlace?) {
            self.file = file
            self.scripts = scripts
            self.size = size
            self.place = place
        }
    }

    /// The output file; `.zip` is appended if it is missing.
    package let output: FilePath
    private let scripts: LoaderScripts

    /// Reads the scripts.
    ///
    /// Their names in the package are their file names.
    ///
    /// - Parameter origin: The app version and number that the package states; nil for none.
    package init(_ files: [FilePath], to output: FilePath, for origin: LoaderPlace?) throws(SigningError) {
        let named = output.name ?? ""
        let place = named.hasSuffix(Self.suffix) ? output : output.parent.at("\(named)\(Self.suffix)")
        self.output = place
        scripts = try LoaderScripts(files: files, for: origin, in: place)
    }

    private static let suffix = ".zip"

    /// Signs the package, verifies it as a loader does, and writes it.
    ///
    /// Afterwards the file is stored, durably; after an error it does not exist.
    package func pack(signedBy signer: JSPatchSigner) throws(SigningError) -> Packed {
        let bytes = try Self.bytes(scripts, of: output, signedBy: signer)
        try DiskFiles().writeNew(bytes, to: output, permissions: .publicFile)
        return Packed(file: output, scripts: scripts.scripts.count, size: bytes.count, place: scripts.place)
    }

    /// Returns a package that was verified as a loader does.
    ///
    /// - Parameter file: Its name in messages.
    static func bytes(
        _ scripts: LoaderScripts,
        of file: FilePath,
        signedBy signer: JSPatchSigner
    ) throws(SigningError) -> [UInt8] {
        let archive = try packing(file) { () throws(LoaderError) in try scripts.archive() }
        let signature = try signer.sign(.md5, of: LoaderPackage.fingerprint(of: archive))
        return try packing(file) { () throws(LoaderError) in
            let bytes = try LoaderPackage(scriptArchive: archive, signature: signature).bytes()
            let read = try VerifiedScripts(LoaderPackage(bytes), by: signer.publicKey)
            precondition(read.scripts == scripts, "a package does not unpack to its scripts")
            return bytes
        }
    }

    static func packing<Value>(
        _ file: FilePath,
        _ work: () throws(LoaderError) -> Value
    ) throws(SigningError) -> Value {
        do throws(LoaderError) { return try work() } catch { throw .loader(file, error) }
    }
}

extension LoaderScripts {
    /// Reads the scripts.
    ///
    /// Their names in `package` are their file names.
    init(files: [FilePath], for origin: LoaderPlace?, in package: FilePath) throws(SigningError) {
        var scripts: [ScriptName: [UInt8]] = [:]
        var left = Limits.loaderScripts
        for file in files {
            guard let name = ScriptName(file.name ?? "") else { throw .scriptName(file) }
            let bytes = try onDisk { () throws(FileError) in try DiskFiles().read(file, limit: left) }
            left -= bytes.count
            guard scripts.updateValue(bytes, forKey: name) == nil else { throw .loader(package, .twice(name.text)) }
        }
        self = try LoaderPacking.packing(package) { () throws(LoaderError) in try LoaderScripts(scripts, for: origin) }
    }
}
