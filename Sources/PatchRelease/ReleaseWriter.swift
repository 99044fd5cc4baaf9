import PatchFormat
package import PatchStore
import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// Writes a signed release under its name once it has been read back and verified.
package struct ReleaseWriter: Sendable {
    package let output: FilePath
    package let replaces: Bool
    package let files: any FileOperations

    /// - Throws: `.exists` when something stands at `output` and may not be replaced.
    package init(_ output: FilePath, replaces: Bool, files: any FileOperations) throws(SigningError) {
        self.output = output
        self.replaces = replaces
        self.files = files
        guard !replaces else { return }
        if try onDisk({ () throws(FileError) in try files.status(of: output) }) != nil { throw .exists(output) }
    }

    /// Afterwards: the whole release stands at ``output``, durably; after an error what stood there before.
    ///
    /// A device or server will judge what was written, so exactly that is verified, before it gets its name.
    package func write(
        _ release: SignedRelease,
        rootOfTrust: RootOfTrust,
        base: BaseRelease?
    ) throws(SigningError) -> VerifiedRelease {
        let name = output.lastComponent?.string ?? "release"
        let parent = output.removingLastComponent()
        let new = parent.appending(".\(name).new")
        do throws(SigningError) {
            let linking = base.map { [$0.folder] } ?? []
            try onDisk { () throws(FileError) in
                try files.removeTree(new)
                try release.write(to: new, files: files, linking: linking)
            }
            let verified = try VerifiedRelease(folder: new, rootOfTrust: rootOfTrust, files: files)
            try onDisk { () throws(FileError) in try files.putFolder(new, at: output, replaces: replaces) }
            return verified
        } catch {
            try? files.removeTree(new)
            throw error
        }
    }
}
