/// The names of a bundle's files, their folders and URLs: which stand twice, and how many folders they make.
///
/// Work and memory are in proportion to the bytes of the names; no folder is made a string of.
struct BundleNames {
    enum Outcome: Equatable {
        case taken
        /// After case folding; the row that has the name already.
        case equals(Int)
        case tooDeep
        case tooManyFolders
    }

    private var files: [NameHash: Int32] = [:]
    private var folders: Set<NameHash> = []
    private var urls: Set<NameHash> = []
    /// Case-folded, of the row before: rows are sorted, so its folders are mostly this one's too.
    private var last: [UInt8] = []

    /// A row, in the order of the manifest.
    mutating func insert(_ path: AssetPath, row: Int) -> Outcome {
        let folded = Array(path.caseFolded.text.utf8)
        defer { last = folded }
        var name = NameHashing()
        var (depth, start) = (0, 0)
        // What this row and the one before begin with alike.
        let common = zip(folded, last).prefix { $0 == $1 }.count
        for place in folded.indices where folded[place] == UInt8(ascii: "/") {
            depth += 1
            guard depth <= Limits.folderDepth else { return .tooDeep }
            name.combine(folded[start..<place])
            start = place
            // A folder of the row before too: it was inserted with that.
            if place < common { continue }
            if folders.insert(name.hash).inserted, folders.count > Limits.foldersInBundle { return .tooManyFolders }
        }
        name.combine(folded[start...])
        if let other = files.updateValue(Int32(row), forKey: name.hash) { return .equals(Int(other)) }
        return .taken
    }

    /// - Returns: whether it stood nowhere before.
    mutating func insert(url: String) -> Bool {
        urls.insert(NameHash(of: url)).inserted
    }

    /// Whether other files lie in what this one's name would be.
    func isFolder(_ path: AssetPath) -> Bool {
        folders.contains(NameHash(of: path.caseFolded.text))
    }
}

/// 128 bits in place of a name, keyed anew in each process: nobody outside can make two names have the same.
struct NameHash: Hashable {
    private let first: Int
    private let second: Int

    fileprivate init(_ first: Int, _ second: Int) {
        (self.first, self.second) = (first, second)
    }

    init(of text: String) {
        let bytes = Array(text.utf8)
        var (name, start) = (NameHashing(), 0)
        for place in bytes.indices where bytes[place] == UInt8(ascii: "/") {
            name.combine(bytes[start..<place])
            start = place
        }
        name.combine(bytes[start...])
        self = name.hash
    }
}

/// A name piece by piece, each up to the next slash; the hash of all so far is at hand after each.
private struct NameHashing {
    private var first = Hasher()
    private var second = Hasher()

    init() {
        second.combine(true)
    }

    mutating func combine(_ piece: ArraySlice<UInt8>) {
        unsafe piece.withUnsafeBytes { bytes in
            unsafe first.combine(bytes: bytes)
            unsafe second.combine(bytes: bytes)
        }
    }

    var hash: NameHash { NameHash(first.finalize(), second.finalize()) }
}
