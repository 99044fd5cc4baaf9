package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// An app's files on a server: its published tree, and its records and drafts.
///
/// A function that changes files requires its caller to hold the folder's lock. Reading needs none, because every file but the
/// timestamp is written once.
package struct AppTree: Sendable {
    package let app: AppID
    package let folder: ServerFolder
    /// The operations for records and drafts, not for the tree.
    package let files: any FileOperations
    package let storage: any TreeStorage

    package init(app: AppID, folder: ServerFolder, files: any FileOperations, storage: any TreeStorage) {
        self.app = app
        self.folder = folder
        self.files = files
        self.storage = storage
    }

    package var records: FilePath { folder.records(of: app) }
    package var anchorFile: FilePath { records.at("root.json") }
    package var labelsFile: FilePath { records.at("labels.json") }
    package var onlineKeyFile: FilePath { folder.onlineKey(of: app) }

    package func exists(_ path: FilePath) throws(ServerError) -> Bool {
        do throws(FileError) { return try files.status(of: path) != nil } catch { throw .file(error) }
    }

    package func read(_ path: FilePath, limit: Int) throws(ServerError) -> [UInt8] {
        do throws(FileError) { return try files.read(path, limit: limit) } catch { throw .file(error) }
    }

    /// Reads a file that the published tree needs.
    package func read(_ file: TreePath.File, limit: Int) throws(ServerError) -> [UInt8] {
        guard let bytes = try storage.read(file, limit: limit) else {
            throw .treeFileMissing(app, "tree/\(app)/\(TreePath(app, file).path)")
        }
        return bytes
    }

    /// The digest of a file in the tree; nil if it does not exist.
    package func digest(of file: TreePath.File) throws(ServerError) -> SHA256Digest? {
        try storage.read(file, limit: Limits.targetsRole).map { SHA256Digest(of: $0) }
    }
}
