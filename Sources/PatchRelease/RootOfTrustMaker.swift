package import PatchFormat
package import PatchStore
package import PatchTrust
package import SystemPackage

/// Makes the keys and the root of trust of an app in a folder, whole or not at all.
///
/// ```
/// NAME.key       PKCS#8, 0600; encrypted unless its protection says otherwise
/// NAME.pub       0644
/// targets.json   root.json last, so that a folder with a root has all the rest
/// ```
package struct RootOfTrustMaker: Sendable {
    /// How a private key is written.
    package enum Protection: Sendable {
        case passphrase(String)
        case none
    }

    package let plan: RootOfTrustPlan
    package let folder: FilePath
    package let files: any FileOperations

    /// - Throws: `.exists` when any file to be made is there already.
    package init(_ plan: RootOfTrustPlan, in folder: FilePath, files: any FileOperations) throws(SigningError) {
        self.plan = plan
        self.folder = folder
        self.files = files
        for name in fileNames {
            let path = folder.appending(name)
            if try onDisk({ () throws(FileError) in try files.status(of: path) }) != nil { throw .exists(path) }
        }
    }

    /// In the order in which they get their names.
    package var fileNames: [String] {
        plan.keyNames.flatMap { ["\($0).key", "\($0).pub"] } + [RootOfTrust.targetsFile, RootOfTrust.rootFile]
    }

    /// New keys, on all cores.
    package func makeKeys(bits: Int, progress: ProgressStart) async throws(SigningError) -> [String: PrivateKey] {
        guard (2_048...8_192).contains(bits) else { throw .plan(.bits(bits)) }
        let folder = folder
        let made = try await mapOnAllCores(plan.keyNames, chunk: 1, progress: progress) { (name) throws(SigningError) in
            do throws(KeyError) {
                return (name, try PrivateKey.generateRSA(bits: bits))
            } catch { throw .key(folder.appending("\(name).key"), error) }
        }
        return Dictionary(made) { first, _ in first }
    }

    /// Writes keys and roles.
    ///
    /// Afterwards: all files stand under their names, durably; after an error none does.
    /// - Parameter protection: of each key, by its name.
    package func write(
        _ keys: [String: PrivateKey],
        at time: UTCTime,
        protection: (String) -> Protection
    ) throws(SigningError) {
        var contents: [(name: String, bytes: [UInt8], permissions: FilePermissions)] = []
        do throws(KeyError) {
            for name in plan.keyNames {
                guard let key = keys[name] else { preconditionFailure("no key \(name) was made") }
                contents.append(("\(name).key", try protection(name).pem(of: key), .privateFile))
                contents.append(("\(name).pub", Array(key.publicKey.pem.utf8), .publicFile))
            }
            let roles = try plan.roles(keys: keys, at: time)
            contents.append((RootOfTrust.targetsFile, roles.targets.fileBytes, .publicFile))
            contents.append((RootOfTrust.rootFile, roles.root.fileBytes, .publicFile))
        } catch { throw .key(folder, error) }
        do throws(FileError) { try commit(contents) } catch { throw .file(error) }
    }

    private func commit(
        _ contents: [(name: String, bytes: [UInt8], permissions: FilePermissions)]
    ) throws(FileError) {
        try files.makeDirectory(folder)
        let staging = folder.appending(".init.new")
        try files.removeTree(staging)
        var named: [FilePath] = []
        do throws(FileError) {
            try files.makeDirectory(staging)
            for (name, bytes, permissions) in contents {
                try files.write(bytes, to: staging.appending(name), permissions: permissions)
            }
            for (name, _, _) in contents {
                // link(2) refuses a name that somebody else has taken meanwhile; rename(2) would replace it.
                try files.link(staging.appending(name), to: folder.appending(name))
                named.append(folder.appending(name))
            }
            try files.syncDirectory(folder)
        } catch {
            for path in named { try? files.remove(path) }
            try? files.removeTree(staging)
            throw error
        }
        try files.removeTree(staging)
        try files.syncDirectory(folder)
    }
}

extension FilePermissions {
    /// 0644: what everybody may read.
    static let publicFile = FilePermissions(rawValue: 0o644)
}
