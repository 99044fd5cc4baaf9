import Linux
import PatchCrypto
package import PatchFormat
package import PatchStore
import PatchTrust
package import SystemPackage

/// One app on a server: its tree, the keys that may sign there, and its records.
///
/// Each verb is a type of its own: ``PublishRelease``, ``TakeTrust``, ``TurnDial``, ``SetParameters``, ``RefreshRoles``,
/// ``ExportTree``, ``CheckTree``, ``CollectGarbage``, ``MakePacks`` and others. Callers of a verb that changes something hold the
/// folder's lock.
package struct AppRepository: Sendable {
    package let tree: AppTree
    /// Whether keys with public private halves may sign: in tests and the demo.
    let allowsTestingKeys: Bool
    /// The maximum size of the record of labels, for reading and writing.
    package var labelsLimit = Limits.stateFile
    /// The number of earlier versions of a bundle from which packs are made when it is published.
    package var packBases = 3
    /// Reports the progress of work on many files.
    package var progress: TreeProgress = { _, _ in { _ in } }

    /// - Parameter storage: the storage of its published tree; nil for the server's folder.
    /// - Throws: `unknownApp` unless `init` has finished for it; `treeFileMissing` if the timestamp was lost since.
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

    /// Whether the tree has a role of a channel, even one of an interrupted publish: `init` writes none.
    func hasReleases() throws(ServerError) -> Bool { try !storage.listing().channels.isEmpty }

    var lostTimestamp: ServerError { .treeFileMissing(app, "tree/\(app)/\(TreePath(app, .timestamp).path)") }

    /// An app whose tree may lack any file, for checks only.
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

    // MARK: Keys

    /// Checks that this key signs the roles that the tree's root of trust leaves to a server.
    package func check(_ key: OnlineKey) throws(ServerError) {
        try checkOnlineKey(key, in: try PublishedState(of: self))
    }

    func checkOnlineKey(_ key: OnlineKey, in state: PublishedState) throws(ServerError) {
        try refuseTestingKey(key.publicKey, of: "online key")
        try key.check(root: state.root, targets: state.targets)
    }

    func refuseTestingKey(_ key: PublicKey, of use: String) throws(ServerError) {
        if !allowsTestingKeys, TestingKeys.contains(key) { throw .testingKey(use) }
    }

    func refuseTestingKeys(of role: String, _ keys: RoleKeys) throws(ServerError) {
        if !allowsTestingKeys, keys.holdsTestingKey { throw .testingKey(role) }
    }

    func refuseTestingKeys(in trust: RootOfTrust) throws(ServerError) {
        for role in RootRole.roleNames { try refuseTestingKeys(of: role, trust.root.keys(of: role)) }
        for delegation in trust.targets.delegations {
            try refuseTestingKeys(of: delegation.name, delegation.keys)
        }
    }

    func refuseTestingKeys(_ keys: EntryKeys, of use: String) throws(ServerError) {
        for key in keys.keys.values { try refuseTestingKey(key, of: use) }
    }

    /// Rejects an online key that another app of the folder has, by its key id or by its material.
    ///
    /// An app whose tree does not verify is compared by the keys in its own root of trust.
    func refuseSharedKey(_ key: PublicKey) throws(ServerError) {
        // The testing keys are public, so apps may share them.
        guard !allowsTestingKeys || !TestingKeys.contains(key) else { return }
        for other in try folder.givenApps(files: files) where other != app {
            let repository = AppRepository(suspecting: other, in: folder, files: files)
            guard let root = repository.rootForKeys() else { continue }
            for role in ["timestamp", "snapshot"] {
                let keys = root.keys(of: role)
                guard keys.entry(of: key) == nil, keys.keys[TUFKey(key).id] == nil else {
                    throw .sharedOnlineKey(with: other)
                }
            }
        }
    }

    private func rootForKeys() -> RootRole? {
        if let state = try? PublishedState(of: self) { return state.root }
        guard let bytes = try? files.read(tree.anchorFile, limit: Limits.root) else { return nil }
        return try? TrustedRoot(anchor: bytes).role
    }

    // MARK: Labels

    func labels() throws(ServerError) -> PublishedLabels {
        let bytes = try tree.read(tree.labelsFile, limit: labelsLimit)
        do throws(FormatError) { return try PublishedLabels(bytes) } catch { throw .record(app, error) }
    }

    /// The size of the record of labels in bytes; nil if it does not exist.
    package func labelsSize() throws(ServerError) -> Int? {
        do throws(FileError) { return try files.status(of: tree.labelsFile)?.identity.size } catch {
            throw .file(error)
        }
    }

    /// Whether the record of all labels is lost.
    package func hasLostLabels() throws(ServerError) -> Bool {
        try !tree.exists(tree.labelsFile)
    }

    /// Rejects records too large to be read again: nothing could be published afterwards.
    func checkSize(of labels: PublishedLabels) throws(ServerError) {
        let size = labels.fileBytes.count
        guard size <= labelsLimit else { throw .labelsFull(app, size: size, limit: labelsLimit) }
    }
}

extension PublishedState {
    /// Reads and verifies every role of an app's tree.
    package init(of repository: AppRepository) throws(ServerError) { try self.init(of: repository.tree) }
}

/// Work on a published tree that may take long.
package enum TreeWork: Sendable {
    /// Checks the objects of an offered release.
    case verifying
    /// Compresses the files of a release before it is published.
    case compressing
    /// Makes packs from earlier versions to it.
    case packing
    /// Makes small forms and packs of a published release.
    case optimizing
    case writing
    case checking
    /// Removes garbage.
    case removing
}

/// Receives the start of such work and its number of files; each kind may begin several times.
package typealias TreeProgress = @Sendable (_ work: TreeWork, _ total: Int) -> Progress
