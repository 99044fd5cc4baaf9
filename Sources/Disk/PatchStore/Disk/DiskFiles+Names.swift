import Glibc
package import SystemPackage

/// Operations that change names: links, renames, directories, removal.
extension DiskFiles {
    package func rename(_ source: FilePath, to destination: FilePath) throws(FileError) {
        unsafe try changeNames(source, destination, during: .rename) { unsafe Glibc.rename($0, $1) }
    }

    package func link(_ source: FilePath, to destination: FilePath) throws(FileError) {
        guard try status(of: source).map({ $0.kind == .file }) ?? true else { throw .notRegular(.link, source) }
        unsafe try changeNames(source, destination, during: .link) { unsafe Glibc.link($0, $1) }
    }

    private func changeNames(
        _ source: FilePath,
        _ destination: FilePath,
        during operation: FileError.Operation,
        _ call: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> CInt
    ) throws(FileError) {
        do throws(FileError) {
            try Self.retrying(operation, destination) {
                unsafe source.withPlatformString { source in
                    unsafe destination.withPlatformString { unsafe call(source, $0) }
                }
            }
        } catch .notFound {
            throw .notFound(operation, try status(of: source) == nil ? source : destination)
        }
    }

    package func remove(_ path: FilePath) throws(FileError) {
        try Self.retrying(.remove, path) { unsafe path.withPlatformString { unsafe Glibc.unlink($0) } }
    }

    package func makeDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError) {
        var missing: [FilePath] = []
        var existing = path
        while try !Self.isDirectory(existing) {
            missing.append(existing)
            existing = existing.parent
        }
        // Another user's link in place of a folder could redirect this and later writes.
        guard try status(of: existing)?.kind == .directory else { throw .notDirectory(.makeDirectory, existing) }
        try syncParentIfOurs(of: existing)
        for directory in missing.reversed() {
            try make(directory, permissions)
            try syncDirectory(directory.parent)
        }
    }

    package func addDirectory(_ path: FilePath, permissions: FilePermissions) throws(FileError) {
        try make(path, permissions)
    }

    private func make(_ directory: FilePath, _ permissions: FilePermissions) throws(FileError) {
        let mode = mode_t(permissions.rawValue)
        do throws(FileError) {
            try Self.retrying(.makeDirectory, directory) {
                unsafe directory.withPlatformString { unsafe mkdir($0, mode) }
            }
        } catch .exists {
            // Another process was faster, and sets the permissions. Otherwise it is a dangling link.
            guard try Self.isDirectory(directory) else { throw .notDirectory(.makeDirectory, directory) }
            return
        }
        // mkdir(2) applies the umask to the requested permissions.
        try Self.retrying(.makeDirectory, directory) {
            unsafe directory.withPlatformString { unsafe chmod($0, mode) }
        }
    }

    private func syncParentIfOurs(of directory: FilePath) throws(FileError) {
        guard directory.name != nil else { return }
        do throws(FileError) {
            // The owner of the parent folders may have linked them.
            try syncDirectory(directory.parent.followingLinks)
        } catch .permission, .readOnly {
            return  // A process without access to the parent has not created the directory.
        }
    }

    package func removeTree(_ path: FilePath) throws(FileError) {
        do throws(FileError) {
            let directory = try Self.openDirectory(path, during: .remove)
            try Self.removeContents(of: directory, path)
            try Self.retrying(.remove, path) { unsafe path.withPlatformString { unsafe rmdir($0) } }
        } catch .notDirectory(_, path) {
            try removeIfPresent(path)
        } catch .notRegular(_, path) {
            try removeIfPresent(path)
        } catch .notFound(_, path) {
            return
        }
    }

    /// Removes by descriptor, so that no directory on the path can be replaced by a symbolic link meanwhile.
    private static func removeContents(of directory: borrowing OwnedDescriptor, _ path: FilePath) throws(FileError) {
        for name in try names(in: directory, path, during: .remove) {
            let inner = path.at(name.text)
            do throws(FileError) {
                try unlink(name, in: directory, inner, flags: 0)
            } catch .notRegular {
                let innerDirectory = try openDirectory(name, in: directory, inner)
                try removeContents(of: innerDirectory, inner)
                try unlink(name, in: directory, inner, flags: AT_REMOVEDIR)
            }
        }
    }
}
