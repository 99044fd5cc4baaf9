package import PatchFormat
package import PatchServer
package import PatchStore
import PatchCrypto
import PatchTrust
package import ReleaseFolder
package import SystemPackage

import PatchTesting

/// A server with one app, and the pipeline that feeds it.
package struct TestingServer {
    package static let start = UTCTime(seconds: 1_795_000_000)

    package let files: any FileOperations
    package let repository: AppRepository
    package let key: OnlineKey
    package let factory: ReleaseFactory

    package var folder: ServerFolder { repository.folder }

    /// A file of the published tree.
    package func treePath(_ name: String) -> FilePath { folder.tree(of: repository.app).appending(name) }

    /// - Parameters:
    ///   - root: an absolute path; the server's folder is `srv` below it.
    ///   - storage: where the tree lies, if not in the server's folder.
    package init(
        files: any FileOperations = FaultyFiles(),
        root: FilePath = "/",
        storage: (any TreeStorage)? = nil,
        at now: UTCTime = start,
        threshold: Int = 1
    ) throws {
        self.files = files
        factory = ReleaseFactory(
            files: files,
            folder: root.appending("pipeline"),
            now: now,
            productionThreshold: threshold
        )
        let file = try TestingKey.online.online
        key = try OnlineKey(file.bytes, passphrase: nil, from: file.path)
        let trust = try RootOfTrust(
            root: try factory.root().fileBytes,
            targets: try factory.targets().fileBytes,
            at: now
        )
        repository = try CreateApp(
            trust,
            onlineKey: key,
            in: ServerFolder(root.appending("srv")),
            files: files,
            storage: storage,
            allowsTestingKeys: true
        ).run(at: now)
    }

    private init(_ other: TestingServer, files: any FileOperations) throws {
        self.files = files
        factory = other.factory
        key = other.key
        repository = try AppRepository(
            other.repository.app,
            in: other.folder,
            files: files,
            allowsTestingKeys: true
        )
    }

    /// The same server asked with another online key.
    package init(_ other: TestingServer, key: TestingKey) throws {
        files = other.files
        factory = other.factory
        repository = other.repository
        self.key = try other.onlineKey(key)
    }

    /// The same server on another state of its disk.
    package func on(_ files: any FileOperations) throws -> TestingServer {
        try TestingServer(self, files: files)
    }

    /// At the factory's time, or at that of the newest signature if a test signed later.
    @discardableResult
    package func publish(_ release: SignedRelease) throws(ServerError) -> PublishOutcome {
        let now = try repository.signedAt().map { max($0, factory.now) } ?? factory.now
        return try PublishRelease(release, in: repository, signing: key, at: now).run()
    }

    @discardableResult
    package func refresh(at now: UTCTime) throws(ServerError) -> RefreshedVersions {
        try RefreshRoles(of: repository, signing: key, at: now).run()
    }

    package func check() throws(ServerError) -> TreeReport { try CheckTree(of: repository).run() }

    package func repair() throws(ServerError) -> TreeReport { try RepairTree(of: repository).run() }

    /// Every file below the server's folder, by path.
    package func everything() throws -> [String: [UInt8]] {
        try contents(of: folder.root)
    }

    package func treeFiles() throws -> Set<String> {
        let tree = folder.tree(of: repository.app)
        return Set(try contents(of: tree).keys.map { String($0.dropFirst(tree.string.count + 1)) })
    }

    private func contents(of directory: FilePath) throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for name in try files.list(directory) {
            let path = directory.appending(name)
            switch try files.status(of: path)?.kind {
            case .directory: found.merge(try contents(of: path)) { first, _ in first }
            case .file: found[path.string] = try files.read(path, limit: Limits.object)
            case .symbolicLink, .other, nil: break
            }
        }
        return found
    }
}
