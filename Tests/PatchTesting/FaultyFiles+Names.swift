import PatchStore
import SystemPackage

/// Paths and names on a ``FaultyDisk``.
extension FaultyDisk {
    /// By the path's text: `FilePath.components` costs most of a sweep's time in a debug build.
    func find(_ path: FilePath, _ operation: FileError.Operation) throws(FileError) -> Int? {
        try find(names(in: path)[...], of: path, operation)
    }

    private func find(
        _ names: ArraySlice<String>,
        of path: FilePath,
        _ operation: FileError.Operation
    ) throws(FileError) -> Int? {
        var inode = Self.root
        for name in names {
            guard let inside = nodes[inode]?.content.names else { throw .notDirectory(operation, path) }
            guard let next = inside[name] else { return nil }
            inode = next
        }
        return inode
    }

    private func names(in path: FilePath) -> [String] {
        let text = path.string.utf8
        precondition(text.first == UInt8(ascii: "/"), "not an absolute path: \(path)")
        return text.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    func existing(_ path: FilePath, _ operation: FileError.Operation) throws(FileError) -> Int {
        guard let inode = try find(path, operation) else { throw .notFound(operation, path) }
        return inode
    }

    func file(_ path: FilePath, _ operation: FileError.Operation) throws(FileError) -> Int {
        let inode = try existing(path, operation)
        guard nodes[inode]?.content.bytes != nil else { throw .notRegular(operation, path) }
        return inode
    }

    /// The directory that holds or will hold `path`, and the name in it.
    func parent(_ path: FilePath, _ operation: FileError.Operation) throws(FileError) -> (Int, String) {
        let names = names(in: path)
        guard let name = names.last, let directory = try find(names.dropLast(), of: path, operation) else {
            throw .notFound(operation, path)
        }
        guard nodes[directory]?.content.names != nil else { throw .notDirectory(operation, path) }
        return (directory, name)
    }

    mutating func setName(_ name: String, in directory: Int, to inode: Int?) {
        guard var names = nodes[directory]?.content.names else { return }
        let now = tick()
        if let old = names[name] {
            nodes[old]?.links -= 1
            nodes[old]?.changed = now
        }
        if let inode {
            nodes[inode]?.links += 1
            nodes[inode]?.changed = now
        }
        names[name] = inode
        nodes[directory]?.content = .directory(names)
        nodes[directory]?.modified = now
        nodes[directory]?.changed = now
    }

    mutating func make(
        _ content: Content,
        _ path: FilePath,
        _ operation: FileError.Operation,
        permissions: CInterop.Mode
    ) throws(FileError) -> Int {
        let (directory, name) = try parent(path, operation)
        guard nodes[directory]?.content.names?[name] == nil else { throw .exists(operation, path) }
        try change(operation, path)
        let inode = nextInode()
        let now = tick()
        nodes[inode] = Node(
            content: content,
            synced: content.blank,
            permissions: permissions,
            syncedPermissions: permissions,
            links: 0,
            modified: now,
            changed: now
        )
        setName(name, in: directory, to: inode)
        return inode
    }

    mutating func rename(_ source: FilePath, _ destination: FilePath) throws(FileError) {
        guard let inode = try find(source, .rename) else { throw .notFound(.rename, source) }
        let (from, old) = try parent(source, .rename)
        let (to, new) = try parent(destination, .rename)
        if let replaced = nodes[to]?.content.names?[new] {
            // Two names of one file: rename(2) does nothing.
            if replaced == inode { return }
            try checkReplacing(replaced, by: inode, destination)
        }
        try change(.rename, destination)
        setName(new, in: to, to: inode)
        setName(old, in: from, to: nil)
    }

    private func checkReplacing(_ old: Int, by new: Int, _ path: FilePath) throws(FileError) {
        switch (nodes[old]?.content.names, nodes[new]?.content.names) {
        case (nil, nil): return
        case (_?, nil): throw .notRegular(.rename, path)
        case (nil, _?): throw .notDirectory(.rename, path)
        case (let names?, _?): if !names.isEmpty { throw .exists(.rename, path) }
        }
    }

    mutating func link(_ source: FilePath, _ destination: FilePath) throws(FileError) {
        let inode = try file(source, .link)
        let (directory, name) = try parent(destination, .link)
        guard nodes[directory]?.content.names?[name] == nil else { throw .exists(.link, destination) }
        try change(.link, destination)
        setName(name, in: directory, to: inode)
    }

    mutating func remove(_ path: FilePath) throws(FileError) {
        let inode = try existing(path, .remove)
        guard nodes[inode]?.content.names == nil else { throw .notRegular(.remove, path) }
        let (directory, name) = try parent(path, .remove)
        try change(.remove, path)
        setName(name, in: directory, to: nil)
    }

    mutating func removeTree(_ path: FilePath) throws(FileError) {
        guard let inode = try find(path, .remove) else { return }
        for name in (nodes[inode]?.content.names ?? [:]).keys.sorted() {
            try removeTree(path.at(name))
        }
        let (directory, name) = try parent(path, .remove)
        try change(.remove, path)
        setName(name, in: directory, to: nil)
    }

    mutating func makeDirectory(_ path: FilePath, permissions: CInterop.Mode) throws(FileError) {
        var missing: [FilePath] = []
        var deepest = path
        while try find(deepest, .makeDirectory) == nil {
            missing.append(deepest)
            deepest = deepest.parent
        }
        guard nodes[try existing(deepest, .makeDirectory)]?.content.names != nil else {
            throw .notDirectory(.makeDirectory, deepest)
        }
        if deepest.name != nil { try syncDirectory(deepest.parent) }
        for directory in missing.reversed() {
            _ = try make(.directory([:]), directory, .makeDirectory, permissions: permissions)
            try syncDirectory(directory.parent)
        }
    }

    mutating func syncDirectory(_ path: FilePath) throws(FileError) {
        let inode = try existing(path, .sync)
        guard nodes[inode]?.content.names != nil else { throw .notDirectory(.sync, path) }
        try change(.sync, path)
        sync(inode)
    }
}
