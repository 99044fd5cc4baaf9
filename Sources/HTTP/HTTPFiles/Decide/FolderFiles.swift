package import SystemPackage

/// Why a folder could not say whether it has a file: the reader is out of descriptors, lacks a right, or the disk fails.
package struct FolderFilesError: Error, Equatable, Sendable {
    package let path: FilePath
    package let reason: Errno
}

/// The regular files below one folder, as a request path finds them.
///
/// Never leaves the folder and follows no symlink below it, also when the tree changes meanwhile: each name is opened
/// in the folder opened before it. Names that begin with a dot do not exist here, and folders are not listed.
package struct FolderFiles: Sendable {
    /// Itself trusted; may be a symlink.
    package let root: FilePath

    package init(root: FilePath) {
        self.root = root
    }

    /// A file that was there when it was looked up.
    package struct Found: Equatable, Sendable {
        package let root: FilePath
        package let path: FilePath
        /// Bytes.
        package let size: Int
        /// Last modification, since 1970.
        package let modified: Duration
    }

    /// The file at `path`; nil for everything that is not served: nothing, a folder, a symlink on the way, a dot-file,
    /// a path that ends in a slash.
    ///
    /// Blocks for as long as the disk takes.
    /// - Parameter suffix: what the file's name has after the path's last; no slash in it.
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
