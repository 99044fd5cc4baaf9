import PatchFormat
import PatchServer
import PatchStore
import Synchronization
import SystemPackage

/// A published tree that lies in no folder, as one in an object store would: names and bytes, and a conditional write.
final class MemoryStorage: TreeStorage {
    private struct Row {
        var bytes: [UInt8]
        var edition: Int
        var modified: UTCTime
    }

    private struct State {
        var rows: [TreePath.File: Row] = [:]
        var writes = 0
        var now: UTCTime
        var beforeExchange: (@Sendable () throws -> Void)?
    }

    let app: AppID
    private let files: any FileOperations
    private let state: Mutex<State>

    /// - Parameter files: where what is put comes from.
    init(_ app: AppID, files: any FileOperations, at now: UTCTime) {
        self.app = app
        self.files = files
        state = Mutex(State(now: now))
    }

    var names: Set<TreePath.File> { state.withLock { Set($0.rows.keys) } }

    func setClock(to now: UTCTime) {
        state.withLock { $0.now = now }
    }

    /// What somebody else does at the last moment before the next timestamp is exchanged.
    func beforeExchange(_ body: @escaping @Sendable () throws -> Void) {
        state.withLock { $0.beforeExchange = body }
    }

    func rot(_ file: TreePath.File) {
        state.withLock { $0.rows[file]?.bytes[0] ^= 1 }
    }

    func status(of file: TreePath.File) -> StoredFile? {
        state.withLock { state in
            state.rows[file].map {
                StoredFile(size: $0.bytes.count, modified: $0.modified, edition: "\($0.edition)")
            }
        }
    }

    func open(_ file: TreePath.File, limit: Int) throws(ServerError) -> (any FileReader)? {
        guard let bytes = state.withLock({ $0.rows[file]?.bytes }) else { return nil }
        guard bytes.count <= limit else { throw .file(.tooLarge("/memory", limit: limit)) }
        return Reader(bytes)
    }

    func listing() -> TreeListing {
        state.withLock { state in
            TreeListing(files: state.rows.mapValues { .init(size: $0.bytes.count, modified: $0.modified) })
        }
    }

    func listingOfPacks() -> TreeListing { listing() }

    func roles() -> [TreePath.File] {
        names.filter { file in
            switch file {
            case .role, .root: true
            case .timestamp, .target, .object, .pack, .basePack, .packIndex, .express, .gateway, .compressed: false
            }
        }
    }

    func put(_ writes: [TreeWrite], progress: (Int) -> Void) throws(ServerError) -> TreeChange {
        var change = TreeChange()
        for (number, write) in writes.enumerated() {
            let bytes = try bytes(of: write.source)
            let isNew = state.withLock { state in
                guard state.rows[write.file]?.bytes != bytes else { return false }
                state.writes += 1
                state.rows[write.file] = Row(bytes: bytes, edition: state.writes, modified: state.now)
                return true
            }
            if isNew { (change.files, change.bytes) = (change.files + 1, change.bytes + bytes.count) }
            progress(number + 1)
        }
        return change
    }

    func exchange(_ timestamp: [UInt8], for expected: [UInt8]?) throws(ServerError) -> TreeChange {
        let others = state.withLock { state in
            defer { state.beforeExchange = nil }
            return state.beforeExchange
        }
        try? others?()
        let isRight = state.withLock { state in
            guard state.rows[.timestamp]?.bytes == expected else { return false }
            state.writes += 1
            state.rows[.timestamp] = Row(bytes: timestamp, edition: state.writes, modified: state.now)
            return true
        }
        guard isRight else { throw .movedOn(app) }
        return TreeChange(files: 1, bytes: timestamp.count)
    }

    func remove(_ files: [TreePath.File]) {
        state.withLock { state in for file in files { state.rows[file] = nil } }
    }

    func removeHalfWritten() -> [Int] { [] }

    private func bytes(of source: TreeWrite.Source) throws(ServerError) -> [UInt8] {
        switch source {
        case .bytes(let bytes): return bytes
        case .file(let path, _):
            do throws(FileError) { return try files.read(path, limit: Limits.object) } catch { throw .file(error) }
        case .stored(let file, let storage, _), .form(let file, let storage):
            var bytes: [UInt8] = []
            guard let reader = try storage.open(file, limit: Limits.object) else {
                throw .treeFileMissing(app, "\(file)")
            }
            do throws(FileError) { while let chunk = try reader.next() { bytes += chunk } } catch { throw .file(error) }
            return bytes
        }
    }

    private final class Reader: FileReader {
        private var rest: [UInt8]

        init(_ bytes: [UInt8]) {
            rest = bytes
        }

        func next() -> [UInt8]? {
            defer { rest = [] }
            return rest.isEmpty ? nil : rest
        }
    }
}
