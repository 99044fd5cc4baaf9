import PatchFormat
import PatchStore
import PatchTrust
import ReleaseFolder
import SystemPackage

/// The folder that an app's tree is exported to.
///
/// ```
/// FOLDER/APP/…          the tree
/// FOLDER/.incoming/     half-written files, while an export runs or after one that was stopped
/// FOLDER/.lock          held by whoever exports
/// ```
struct TreeExport {
    /// How many files become durable together.
    private static let batch = 256

    let app: AppID
    let folder: FilePath
    let files: any FileOperations

    private var tree: FilePath { folder.appending(app.text) }
    private var incoming: FilePath { folder.appending(".incoming") }

    /// - Parameter anchor: the root of trust that `init` was given.
    func check(anchor: FilePath, timestamp: Int) throws(ExportError) {
        let isOurs: Bool
        do throws(FileError) {
            isOurs = try hasNoOther(than: try files.read(anchor, limit: Limits.root))
        } catch { throw .server(.file(error)) }
        guard isOurs else { throw .otherRoot(app, folder) }
        guard let found = try standingTimestamp(), found > timestamp else { return }
        throw .older(app, timestamp: timestamp, inFolder: found)
    }

    private func hasNoOther(than root: [UInt8]) throws(FileError) -> Bool {
        guard let role = try? RootRole(Envelope(root, role: "root", limit: Limits.root)) else { return true }
        let standing = tree.appending(URLLayout.metadata("root", version: role.header.version))
        guard try files.status(of: standing) != nil else { return true }
        return try files.read(standing, limit: Limits.root) == root
    }

    /// Nil for one that is missing or no timestamp.
    private func standingTimestamp() throws(ExportError) -> Int? {
        let path = tree.appending(URLLayout.timestamp)
        do throws(FileError) {
            guard try files.status(of: path) != nil else { return nil }
            let bytes = try files.read(path, limit: Limits.timestamp)
            return try? TimestampRole(Envelope(bytes, role: "timestamp", limit: Limits.timestamp)).header.version
        } catch .tooLarge {
            return nil
        } catch { throw .server(.file(error)) }
    }

    /// Writes what is missing or different, step by step.
    func carryOut(
        _ plan: PublicationPlan,
        rereading: Bool,
        progress: (_ done: Int, _ of: Int) -> Void
    ) throws(ExportError) -> (TreeChange, unchanged: Int) {
        let total = plan.steps.reduce(0) { $0 + $1.writes.count }
        var (change, unchanged, done) = (TreeChange(), 0, 0)
        do throws(ServerError) {
            do throws(FileError) {
                try files.removeTree(incoming)
                try files.makeDirectory(incoming, permissions: .sharedDirectory)
            } catch { throw .file(error) }
            for (_, writes) in plan.steps {
                var directories: Set<String> = []
                var rest = writes[...]
                while !rest.isEmpty {
                    let part = rest.prefix(Self.batch)
                    rest = rest.dropFirst(part.count)
                    let missing = try self.missing(part, rereading: rereading)
                    try write(missing, &directories, &change)
                    unchanged += part.count - missing.count
                    done += part.count
                    progress(done, total)
                }
                do throws(FileError) {
                    for directory in directories.sorted() { try files.syncDirectory(FilePath(directory)) }
                } catch { throw .file(error) }
            }
            do throws(FileError) { try files.removeTree(incoming) } catch { throw .file(error) }
        } catch { throw .server(error) }
        return (change, unchanged)
    }

    private func missing(
        _ writes: ArraySlice<PublicationPlan.Write>,
        rereading: Bool
    ) throws(ServerError) -> [PublicationPlan.Write] {
        var missing: [PublicationPlan.Write] = []
        do throws(FileError) {
            for write in writes where try !isRight(write, rereading: rereading) { missing.append(write) }
        } catch { throw .file(error) }
        return missing
    }

    private func isRight(_ write: PublicationPlan.Write, rereading: Bool) throws(FileError) -> Bool {
        guard let destination = destination(of: write) else { return true }
        guard let status = try files.status(of: destination), status.kind == .file else { return false }
        switch write.source {
        case .bytes(let bytes):
            guard status.identity.size == bytes.count else { return false }
            return try files.read(destination, limit: bytes.count) == bytes
        case .file(let source, let digest):
            guard try files.status(of: source)?.identity.size == status.identity.size else { return false }
            guard rereading else { return true }
            return try files.fingerprint(of: destination, limit: Limits.object).sha256 == digest
        }
    }

    /// All of these become durable together, and then get their names.
    private func write(
        _ writes: [PublicationPlan.Write],
        _ directories: inout Set<String>,
        _ change: inout TreeChange
    ) throws(ServerError) {
        guard !writes.isEmpty else { return }
        let batch: any FileBatch
        do throws(FileError) { batch = try files.beginBatch(on: incoming) } catch { throw .file(error) }
        var sizes = 0
        for (number, write) in writes.enumerated() { sizes += try fill(incoming.appending("\(number)"), with: write) }
        do throws(FileError) {
            try batch.sync()
            for (number, write) in writes.enumerated() {
                guard let destination = destination(of: write) else { continue }
                let directory = destination.removingLastComponent()
                if directories.insert(directory.string).inserted {
                    try files.makeDirectory(directory, permissions: .sharedDirectory)
                }
                try files.rename(incoming.appending("\(number)"), to: destination)
            }
        } catch { throw .file(error) }
        change.files += writes.count
        change.bytes += sizes
    }

    /// - Returns: how many bytes.
    private func fill(_ new: FilePath, with write: PublicationPlan.Write) throws(ServerError) -> Int {
        var digester = Digester()
        do throws(FileError) {
            try files.removeIfPresent(new)
            let writer = try files.create(new, permissions: .sharedFile)
            switch write.source {
            case .bytes(let bytes): try writer.append(bytes)
            case .file(let source, _):
                try files.readChunks(source, limit: Limits.object) { (chunk) throws(FileError) in
                    digester.update(chunk)
                    try writer.append(chunk)
                }
            }
            try writer.close()
        } catch .notFound(.read, let path) {
            throw .treeFileMissing(app, path.string)
        } catch { throw .file(error) }
        switch write.source {
        case .bytes(let bytes): return bytes.count
        case .file(let source, let digest):
            let found = digester.finish()
            guard found.sha256 == digest else {
                throw .tree(app, .wrongDigest(name: source.lastComponent?.string ?? "", algorithm: "sha256"))
            }
            return found.size
        }
    }

    private func destination(of write: PublicationPlan.Write) -> FilePath? {
        guard case .tree(let file) = write.target else { return nil }
        return tree.appending(TreePath(app, file).path)
    }
}
