import PatchStore
import SystemPackage

/// What a ``FaultyFiles`` holds: nodes by inode, each as it is and as it was last synced.
struct FaultyDisk {
    enum Content {
        case file([UInt8])
        case directory([String: Int])
        case symbolicLink(FilePath)

        var bytes: [UInt8]? {
            if case .file(let bytes) = self { bytes } else { nil }
        }

        var names: [String: Int]? {
            if case .directory(let names) = self { names } else { nil }
        }

        /// What stands there when nothing was ever synced.
        var blank: Content {
            switch self {
            case .file: .file([])
            case .directory: .directory([:])
            case .symbolicLink: self
            }
        }
    }

    struct Node {
        var content: Content
        var synced: Content
        var permissions: CInterop.Mode
        var syncedPermissions: CInterop.Mode
        var links = 1
        var modified: Int64
        var changed: Int64
    }

    /// Which change fails, and what comes after it.
    struct Faults {
        var failingAt: Int?
        var after: FaultyFiles.AfterFailure
        var count = 0
        var isStopped = false
    }

    static let root = 1

    var nodes: [Int: Node] = [:]
    var faults = Faults(failingAt: nil, after: .running)
    /// In bytes; nil for no end of it.
    var capacity: Int?
    /// Whether ``FaultyFiles/space(at:)`` says what is free.
    var reportsSpace = false
    /// What cannot be opened, as when too many files are open.
    var unreadable: FilePath?
    private var lastInode = root
    /// What the next change is dated with, in nanoseconds since 1970.
    var clock: Int64 = 1_000_000_000_000_000_000

    init() {
        nodes[Self.root] = Node(
            content: .directory([:]),
            synced: .directory([:]),
            permissions: 0o755,
            syncedPermissions: 0o755,
            modified: clock,
            changed: clock
        )
    }

    var usedBytes: Int {
        nodes.values.reduce(0) { $0 + ($1.links > 0 ? $1.content.bytes?.count ?? 0 : 0) }
    }

    /// Counts a change; true when it is the one to fail half way through.
    mutating func countChange(_ operation: FileError.Operation, _ path: FilePath) throws(FileError) -> Bool {
        if faults.isStopped { throw .io(operation, path, .ioError) }
        faults.count += 1
        guard faults.count == faults.failingAt else { return false }
        faults.isStopped = faults.after == .stopped
        return true
    }

    /// A change that happens or does not.
    mutating func change(_ operation: FileError.Operation, _ path: FilePath) throws(FileError) {
        if try countChange(operation, path) { throw .io(operation, path, .ioError) }
    }

    mutating func tick() -> Int64 {
        clock += 1
        return clock
    }

    mutating func nextInode() -> Int {
        lastInode += 1
        return lastInode
    }

    mutating func set(_ inode: Int, to bytes: [UInt8]) {
        let now = tick()
        nodes[inode]?.content = .file(bytes)
        nodes[inode]?.modified = now
        nodes[inode]?.changed = now
    }

    mutating func setPermissions(_ permissions: FilePermissions, of inode: Int, _ path: FilePath) throws(FileError) {
        try change(.setPermissions, path)
        let now = tick()
        nodes[inode]?.permissions = permissions.rawValue
        nodes[inode]?.changed = now
    }

    mutating func sync(_ inode: Int) {
        guard let node = nodes[inode] else { return }
        nodes[inode]?.synced = node.content
        nodes[inode]?.syncedPermissions = node.permissions
    }

    mutating func cutPower(_ survival: FaultyFiles.Survival) {
        for inode in nodes.keys.sorted() {
            guard var node = nodes[inode] else { continue }
            let isDirectory = node.content.names != nil
            if survival == .lose || survival == .keepNames && !isDirectory {
                node.content = node.synced
                node.permissions = node.syncedPermissions
            }
            node.synced = node.content
            node.syncedPermissions = node.permissions
            node.links = 0
            nodes[inode] = node
        }
        countLinks(below: Self.root)
        nodes = nodes.filter { $0.value.links > 0 || $0.key == Self.root }
    }

    private mutating func countLinks(below inode: Int) {
        for child in (nodes[inode]?.content.names ?? [:]).values {
            nodes[child]?.links += 1
            countLinks(below: child)
        }
    }
}
