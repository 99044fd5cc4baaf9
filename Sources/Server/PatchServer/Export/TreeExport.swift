import Gateways
package import PatchFormat
package import PatchStore
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// The folder that an app's tree is exported to.
///
/// ```
/// FOLDER/APP/…          the tree
/// FOLDER/.incoming/     half-written files, while an export runs or after one that was stopped
/// FOLDER/.lock          locked during an export
/// ```
struct TreeExport {
    let app: AppID
    let folder: FilePath
    let files: any FileOperations
    private let storage: FolderStorage

    /// - Parameter rereading: compares the bytes of every existing file; else files named by their digest are compared by size.
    init(of app: AppID, to folder: FilePath, rereading: Bool, files: any FileOperations) {
        self.app = app
        self.folder = folder
        self.files = files
        storage = FolderStorage(
            app: app,
            tree: folder.at(app.text),
            incoming: folder.at(".incoming"),
            files: files,
            objectPermissions: .sharedFile,
            rereads: rereading
        )
    }

    /// - Parameter anchor: the root of trust that `init` was given.
    func check(anchor: [UInt8], timestamp: Int) throws(ExportError) {
        let isOurs: Bool
        do throws(ServerError) {
            isOurs = try hasNoOther(than: anchor)
        } catch { throw .server(error) }
        guard isOurs else { throw .otherRoot(app, folder) }
        guard let found = try storedTimestamp(), found > timestamp else { return }
        throw .older(app, timestamp: timestamp, inFolder: found)
    }

    private func hasNoOther(than root: [UInt8]) throws(ServerError) -> Bool {
        guard let role = try? RootRole(Envelope(root, role: "root", limit: Limits.root)) else { return true }
        let existing = try storage.read(.root(version: role.header.version), limit: Limits.root)
        return existing == nil || existing == root
    }

    /// The version of the timestamp in the folder, or nil if it is missing or not valid.
    private func storedTimestamp() throws(ExportError) -> Int? {
        do throws(ServerError) {
            guard let bytes = try storage.read(.timestamp, limit: Limits.timestamp) else { return nil }
            return try? TimestampRole(Envelope(bytes, role: "timestamp", limit: Limits.timestamp)).header.version
        } catch .file(.tooLarge) {
            return nil
        } catch { throw .server(error) }
    }

    /// Removes files that clients of other systems must not receive any more, the files that refer to others first.
    ///
    /// Other old files stay for clients in the middle of an update. The removed ones cannot stay, as their names do not depend on
    /// their content.
    private func removeOldSites(beside plan: PublicationPlan) throws(ServerError) {
        let written = Set((plan.writes[.gateways] ?? []).map(\.target))
        let old = try storage.listingOfSites().files.keys.filter { !written.contains(.tree($0)) }
        let namesOthers: (TreePath.File) -> Bool = { file in
            let path = TreePath(app, file).path
            return path.hasSuffix(MeteorSite.manifestName) || path.hasSuffix("/\(PlatformPlace.indexName)")
        }
        try storage.remove(old.filter(namesOthers))
        try storage.remove(old.filter { !namesOthers($0) })
    }

    /// Writes missing and changed files, step by step.
    func carryOut(
        _ plan: PublicationPlan,
        progress: (_ done: Int, _ of: Int) -> Void
    ) throws(ExportError) -> (TreeChange, unchanged: Int) {
        let total = plan.steps.reduce(0) { $0 + $1.writes.count }
        var (change, done) = (TreeChange(), 0)
        do throws(ServerError) {
            _ = try storage.removeHalfWritten()
            let existing = try storage.read(.timestamp, limit: Limits.timestamp)
            for (_, writes) in plan.steps {
                change += try storage.put(writes.compactMap(\.contents)) { progress(done + $0, total) }
                for case .bytes(let timestamp) in writes.filter({ $0.target == .tree(.timestamp) }).map(\.source) {
                    change += try storage.exchange(timestamp, for: existing)
                }
                done += writes.count
                progress(done, total)
            }
            try removeOldSites(beside: plan)
            _ = try storage.removeHalfWritten()
        } catch { throw .server(error) }
        return (change, total - change.files)
    }
}

/// Why a tree was not exported.
///
/// The target folder is unchanged, or has an older complete state.
package enum ExportError: Error, Equatable, Sendable {
    case server(ServerError)
    /// Another process exports to this folder.
    case locked(StoreLockError)
    /// The folder holds a tree of the same app with another first root of trust.
    case otherRoot(AppID, FilePath)
    /// The folder's state is newer than the exported one: devices would reject the export as old.
    case older(AppID, timestamp: Int, inFolder: Int)
}

extension ExportError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .server(let error): error.description
        case .locked(let error): error.description
        case .otherRoot(let app, let path): "\(path) holds a tree of \(app) with another root of trust"
        case .older(let app, let timestamp, let found):
            "timestamp \(timestamp) of \(app) is older than \(found), which the folder has: devices would reject it"
        }
    }
}
