package import PatchFormat
package import PatchStore
import PatchTrust
package import SystemPackage

/// One app on a server: its published tree, its drafts, and what the server keeps to publish more.
///
/// Whoever calls a function that changes something holds the folder's lock; reading needs none, because every file but
/// the timestamp is written once.
package struct AppRepository: Sendable {
    package let app: AppID
    package let folder: ServerFolder
    /// For all but the tree: records and drafts.
    let files: any FileOperations
    package let storage: any TreeStorage
    /// Whether keys whose private halves everybody has may sign: in tests and the demo.
    let allowsTestingKeys: Bool
    /// How large the record of labels is read, and therefore written.
    package var labelsLimit = Limits.stateFile
    /// Hears of work on many files.
    package var progress: TreeProgress = { _, _ in { _ in } }

    /// - Parameter storage: where its published tree lies; nil for the server's folder.
    /// - Throws: `unknownApp` unless `init` has finished for it; `treeFileMissing` where the timestamp was lost since.
    package init(
        _ app: AppID,
        in folder: ServerFolder,
        files: any FileOperations,
        storage: (any TreeStorage)? = nil,
        allowsTestingKeys: Bool = false
    ) throws(ServerError) {
        self.init(
            unchecked: app,
            in: folder,
            files: files,
            storage: storage,
            allowsTestingKeys: allowsTestingKeys
        )
        guard try self.storage.status(of: .timestamp) != nil else {
            throw try hasReleases() ? lostTimestamp : .unknownApp(app)
        }
    }

    /// Whether the tree has a role of a channel, be it one that an interrupted publish left: `init` writes none.
    func hasReleases() throws(ServerError) -> Bool { try !storage.listing().channels.isEmpty }

    var lostTimestamp: ServerError { .treeFileMissing(app, "tree/\(app)/\(TreePath(app, .timestamp).path)") }

    /// One whose tree may have lost anything: to be checked, and nothing else.
    package init(suspecting app: AppID, in folder: ServerFolder, files: any FileOperations) {
        self.init(unchecked: app, in: folder, files: files, allowsTestingKeys: false)
    }

    /// - Parameter storage: nil for the server's folder.
    init(
        unchecked app: AppID,
        in folder: ServerFolder,
        files: any FileOperations,
        storage: (any TreeStorage)? = nil,
        allowsTestingKeys: Bool
    ) {
        self.app = app
        self.folder = folder
        self.files = files
        self.storage = storage ?? folder.storage(of: app, files: files)
        self.allowsTestingKeys = allowsTestingKeys
    }

    var records: FilePath { folder.records(of: app) }
    var anchorFile: FilePath { records.at("root.json") }
    var labelsFile: FilePath { records.at("labels.json") }
    package var onlineKeyFile: FilePath { folder.onlineKey(of: app) }

    func exists(_ path: FilePath) throws(ServerError) -> Bool {
        do throws(FileError) { return try files.status(of: path) != nil } catch { throw .file(error) }
    }

    func read(_ path: FilePath, limit: Int) throws(ServerError) -> [UInt8] {
        do throws(FileError) { return try files.read(path, limit: limit) } catch { throw .file(error) }
    }

    /// A file that the published tree needs.
    func read(_ file: TreePath.File, limit: Int) throws(ServerError) -> [UInt8] {
        guard let bytes = try storage.read(file, limit: limit) else {
            throw .treeFileMissing(app, "tree/\(app)/\(TreePath(app, file).path)")
        }
        return bytes
    }

    /// Of what stands in the tree under a name; nil when nothing does.
    func digest(of file: TreePath.File) throws(ServerError) -> SHA256Digest? {
        try storage.read(file, limit: Limits.targetsRole).map { SHA256Digest(of: $0) }
    }

    /// Which versions of snapshot and dial have a file: a publish that was interrupted left some that nothing refers to,
    /// and a number is used once.
    func usedVersions() throws(ServerError) -> UsedVersions {
        var used = UsedVersions()
        for file in try storage.roles() { used.insert(file) }
        used.insert(try versionRecord())
        return used
    }
}
