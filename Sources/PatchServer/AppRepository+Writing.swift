import PatchFormat
import PatchStore
import PatchTrust
import ReleaseFolder
import SystemPackage

/// What carrying out a plan did to the tree.
package struct TreeChange: Equatable, Sendable {
    /// Files written, and their bytes.
    package var files = 0
    package var bytes = 0
    /// Objects and targets that stood there with other bytes than their name says, by path below the app's folder.
    package var repaired: [String] = []

    package static let nothing = TreeChange()
}

extension AppRepository {
    /// Writes what is missing or different, step by step; what is there already is left alone.
    ///
    /// Afterwards: every file of the plan is durable. When it throws, the steps up to some point are, and readers see
    /// the old state; carrying out the same or another plan continues from there.
    func carryOut(_ plan: PublicationPlan) throws(ServerError) -> TreeChange {
        var change = TreeChange()
        do throws(FileError) {
            try files.removeTree(folder.incoming)
            try files.makeDirectory(folder.incoming)
        } catch { throw .file(error) }
        for (_, writes) in plan.steps {
            var directories: Set<String> = []
            for write in writes {
                let destination = destination(of: write)
                let directory = destination.removingLastComponent()
                do throws(FileError) {
                    if directories.insert(directory.string).inserted {
                        try files.makeDirectory(directory, permissions: directoryPermissions(of: write))
                    }
                } catch { throw .file(error) }
                try carryOut(write, at: destination, &change)
            }
            do throws(FileError) {
                for directory in directories.sorted() { try files.syncDirectory(FilePath(directory)) }
            } catch { throw .file(error) }
        }
        do throws(FileError) { try files.removeTree(folder.incoming) } catch { throw .file(error) }
        return change
    }

    private func carryOut(
        _ write: PublicationPlan.Write,
        at destination: FilePath,
        _ change: inout TreeChange
    ) throws(ServerError) {
        let standing = try standing(write, at: destination)
        if standing == .right { return }
        let new = folder.incoming.appending("new")
        let size: Int
        switch write.source {
        case .bytes(let bytes):
            size = bytes.count
            do throws(FileError) {
                try files.removeIfPresent(new)
                try files.write(bytes, to: new, permissions: filePermissions(of: write))
            } catch { throw .file(error) }
        case .file(let source, let digest):
            size = try copy(source, to: new, as: digest)
        }
        do throws(FileError) { try files.rename(new, to: destination) } catch { throw .file(error) }
        change.files += 1
        change.bytes += size
        if standing == .wrong, let path = write.target.contentPath(app) { change.repaired.append(path) }
    }

    private enum Standing {
        case missing, right, wrong
    }

    private func standing(_ write: PublicationPlan.Write, at destination: FilePath) throws(ServerError) -> Standing {
        do throws(FileError) {
            guard let status = try files.status(of: destination) else { return .missing }
            guard status.kind == .file else { return .wrong }
            switch write.source {
            case .bytes(let bytes):
                guard status.identity.size == bytes.count else { return .wrong }
                return try files.read(destination, limit: bytes.count) == bytes ? .right : .wrong
            case .file(_, let digest):
                return try files.fingerprint(of: destination, limit: Limits.object).sha256 == digest ? .right : .wrong
            }
        } catch { throw .file(error) }
    }

    /// Copies an object and compares what was copied: the release may have changed since it was verified.
    private func copy(_ source: FilePath, to new: FilePath, as digest: SHA256Digest) throws(ServerError) -> Int {
        var digester = Digester()
        do throws(FileError) {
            try files.removeIfPresent(new)
            let writer = try files.create(new, permissions: .sealed)
            try files.readChunks(source, limit: Limits.object) { (chunk) throws(FileError) in
                digester.update(chunk)
                try writer.append(chunk)
            }
            try writer.finish()
        } catch { throw .file(error) }
        let found = digester.finish()
        guard found.sha256 == digest else {
            throw .release(.trust(.wrongDigest(name: URLLayout.object(digest), algorithm: "sha256")))
        }
        return found.size
    }

    private func destination(of write: PublicationPlan.Write) -> FilePath {
        switch write.target {
        case .tree(let file): path(of: file)
        case .record(let name): records.appending(name)
        }
    }

    private func filePermissions(of write: PublicationPlan.Write) -> FilePermissions {
        switch write.target {
        case .tree: .sharedFile
        case .record: .privateFile
        }
    }

    private func directoryPermissions(of write: PublicationPlan.Write) -> FilePermissions {
        switch write.target {
        case .tree: .sharedDirectory
        case .record: .privateDirectory
        }
    }
}

extension PublicationPlan.Write.Target {
    /// The path of a file whose name is its content; nil for one that may be replaced.
    fileprivate func contentPath(_ app: AppID) -> String? {
        switch self {
        case .tree(.object), .tree(.target):
            guard case .tree(let file) = self else { return nil }
            return TreePath(app, file).path
        case .tree(.timestamp), .tree(.root), .tree(.role), .record: return nil
        }
    }
}
