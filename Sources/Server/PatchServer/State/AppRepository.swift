package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// One app on a server, and everything that a server does with it: publish, turn, refresh, export, check, clean up.
///
/// Whoever calls a function that changes something holds the folder's lock.
package struct AppRepository: Sendable {
    package let tree: AppTree
    /// Whether keys whose private halves everybody has may sign: in tests and the demo.
    let allowsTestingKeys: Bool
    /// How large the record of labels is read, and therefore written.
    package var labelsLimit = Limits.stateFile
    /// From how many earlier versions of a bundle packs are made when it is published.
    package var packBases = 3
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
        tree = AppTree(
            app: app,
            folder: folder,
            files: files,
            storage: storage ?? folder.storage(of: app, files: files)
        )
        self.allowsTestingKeys = allowsTestingKeys
    }

    package var app: AppID { tree.app }
    package var folder: ServerFolder { tree.folder }
    var files: any FileOperations { tree.files }
    package var storage: any TreeStorage { tree.storage }
    package var onlineKeyFile: FilePath { tree.onlineKeyFile }
}

extension PublishedState {
    /// Reads and verifies every role of an app's tree.
    package init(of repository: AppRepository) throws(ServerError) { try self.init(of: repository.tree) }
}
