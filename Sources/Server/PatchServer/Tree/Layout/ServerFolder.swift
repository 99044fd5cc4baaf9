package import PatchFormat
package import PatchStore
package import SystemPackage

/// The layout of a server's folder.
///
/// ```
/// lock                          locked during any change below
/// serving                       shared lock of the serving processes
/// tree/APP/metadata, targets, objects     the served files, and no others; any static file server can serve it
/// apps/APP/root.json            the root of trust given to `init`, by which the tree is verified
/// apps/APP/online.key           the key of snapshot, timestamp and dial (0600)
/// apps/APP/labels.json          every label ever published, with its content
/// apps/APP/versions.json        versions of exported trees and of deleted roles, and those skipped by a restore; missing
///                               if there are none
/// apps/APP/optimize.json        channels with missing small forms and packs; missing if there are none
/// records.sqlite                tokens, history, proposals and the audit log; with SQLite's own files beside it (0600)
/// uploads/APP/                  releases being uploaded, never served
/// drafts/APP/CHANNEL/VERSION/   signed releases below their threshold, never served
/// restoring/                    a backup being restored, until it is complete
/// optimizing                    locked by the process that makes small forms and packs of published releases
/// incoming/                     half-written files; emptied by the next change
/// compressing.NUMBER/           compressed forms and packs of a release that is about to be published
/// compressing.optimizing/       the same of a published release
/// ```
package struct ServerFolder: Hashable, Sendable {
    package let root: FilePath
    /// When the running program was built.
    ///
    /// A clock that shows an earlier time is wrong; see ``ClockBehind``.
    package let build: UTCTime

    package init(_ root: FilePath, build: UTCTime = UTCTime(seconds: 0)) {
        (self.root, self.build) = (root, build)
    }

    package var lock: FilePath { root.at("lock") }
    package var serving: FilePath { root.at("serving") }
    package var optimizing: FilePath { root.at("optimizing") }
    package var tree: FilePath { root.at("tree") }
    package var incoming: FilePath { root.at("incoming") }
    package static let compressing = "compressing."
    package var recordsFile: FilePath { root.at("records.sqlite") }
    package var uploads: FilePath { root.at("uploads") }
    package var apps: FilePath { root.at("apps") }

    package func tree(of app: AppID) -> FilePath { tree.at(app.text) }
    /// The storage of an app's published tree, for all reads and writes except serving.
    package func storage(of app: AppID, files: any FileOperations) -> any TreeStorage {
        FolderStorage(app: app, tree: tree(of: app), incoming: incoming, files: files)
    }

    package func records(of app: AppID) -> FilePath { apps.at(app.text) }

    package func onlineKey(of app: AppID) -> FilePath { records(of: app).at("online.key") }

    package func drafts(of app: AppID) -> FilePath { root.at("drafts").at(app.text) }

    package func drafts(of app: AppID, channel: ChannelName) -> FilePath {
        drafts(of: app).at(channel.text)
    }

    /// Creates the folder, unless it exists.
    package func make(files: any FileOperations) throws(ServerError) {
        do throws(FileError) { try files.makeDirectory(root, permissions: .sharedDirectory) } catch {
            throw .file(error)
        }
    }

    /// Acquires the lock, or throws at once.
    ///
    /// Every function of this module that changes files requires its caller to hold it.
    package func locked(files: any FileOperations) throws(ServerError) -> StoreLock {
        try make(files: files)
        do throws(StoreLockError) { return try StoreLock(lock) } catch { throw .locked(error) }
    }

    /// Acquires the lock, after waiting for its holder.
    package func locked(waitingUpTo deadline: Duration) async throws(ServerError) -> StoreLock {
        do throws(StoreLockError) {
            return try await StoreLock(lock, waitingUpTo: deadline, clock: .continuous)
        } catch { throw .locked(error) }
    }

    /// The apps given to `init`, even if some of their files were lost since.
    package func givenApps(files: any FileOperations) throws(ServerError) -> [AppID] {
        let finished = Set(try allApps(files: files))
        do throws(FileError) {
            guard try files.status(of: apps) != nil else { return [] }
            var found: [AppID] = []
            for app in try files.list(apps).compactMap(AppID.init) {
                let root = try files.status(of: records(of: app).at("root.json"))
                let key = try files.status(of: onlineKey(of: app))
                if finished.contains(app) || root != nil || key != nil { found.append(app) }
            }
            return found
        } catch { throw .file(error) }
    }

    /// The apps that `init` has finished, by name.
    package func allApps(files: any FileOperations) throws(ServerError) -> [AppID] {
        let names: [String]
        do throws(FileError) {
            names = try files.status(of: apps) == nil ? [] : try files.list(apps)
        } catch { throw .file(error) }
        var found: [AppID] = []
        for app in names.compactMap(AppID.init) where try storage(of: app, files: files).status(of: .timestamp) != nil {
            found.append(app)
        }
        return found
    }
}

extension StoreLock {
    /// Releases the lock before its owner ends.
    package consuming func release() {}
}

extension FilePermissions {
    /// 0755: every directory above and of the tree, which a web server may read as another user.
    static let sharedDirectory = FilePermissions(rawValue: 0o755)
    /// 0644: every file of the tree except objects.
    package static let sharedFile = FilePermissions(rawValue: 0o644)
}
