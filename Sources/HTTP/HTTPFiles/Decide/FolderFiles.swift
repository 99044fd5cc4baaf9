package import HTTPCore
package import SystemPackage

/// Why a file could not be looked up: the process is out of descriptors, a permission is missing, or the disk fails.
package struct FolderFilesError: Error, Equatable, Sendable {
    package let path: FilePath
    package let reason: Errno
}

/// The regular files below one folder, looked up by request path.
///
/// Lookups never leave the folder and follow no symlink below it, even when the tree changes meanwhile: each name is opened in the
/// folder opened before it. Names that begin with a dot are hidden, and folders are not listed.
package struct FolderFiles: Sendable {
    /// The root folder.
    ///
    /// It is trusted and may be a symlink.
    package let root: FilePath

    package init(root: FilePath) {
        self.root = root
    }

    /// A file that existed when it was looked up.
    package struct Found: Equatable, Sendable {
        package let root: FilePath
        package let path: FilePath
        /// The size in bytes.
        package let size: Int
        /// The last modification, since 1970.
        package let modified: Duration
    }

    /// Returns the file at `path`, or nil if it is not served: a missing file, a folder, a path through a symlink, a dot-file, or a
    /// path that ends in a slash.
    ///
    /// Blocks for as long as the disk takes.
    /// - Parameter suffix: Appended to the last name of the path. Contains no slash.
    package func lookUp(_ path: RequestPath, suffix: String = "") throws(FolderFilesError) -> Found? {
        // A segment without a dot, a slash and a NUL adds one name.
        guard !path.hasTrailingSlash,
            path.segments.allSatisfy({
                !$0.isEmpty && !$0.hasPrefix(".") && !$0.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
            })
        else { return nil }
        let file = FilePath("\(root.string)/\(path.segments.joined(separator: "/"))\(suffix)")
        do throws(OpenFileError) {
            let open = try OpenFile(file, below: root)
            return Found(root: root, path: file, size: open.size, modified: open.modified)
        } catch {
            switch error {
            case .notFound, .shrank: return nil
            case .failed(let reason): throw FolderFilesError(path: file, reason: reason)
            }
        }
    }
}
