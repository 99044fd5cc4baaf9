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
    /// By row.
    private var names: [NameHash] = []
    private var folders: Set<NameHash> = []
    private var urls: Set<NameHash> = []
    /// Case-folded, of the row before: rows are sorted, so its folders are mostly this one's too.
    private var last: [UInt8] = []

    /// The next row, in the order of the manifest.
    mutating func insert(_ path: AssetPath) -> Outcome {
        let row = names.count
        let folded = path.caseFoldedBytes
        defer { last = folded }
        var name = NameHashing()
        var (depth, start) = (0, 0)
        // What this row and the one before begin with alike.
        var common = 0
        while common < min(folded.count, last.count), folded[common] == last[common] { common += 1 }
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
        let whole = name.hash
        if let other = files.updateValue(Int32(row), forKey: whole) { return .equals(Int(other)) }
        names.append(whole)
        return .taken
    }

    /// - Returns: whether it stood nowhere before.
    mutating func insert(url: String) -> Bool {
        urls.insert(NameHash(of: url)).inserted
    }

    /// Whether other files lie in what the name of this row, which was taken, would be.
    func isFolder(row: Int) -> Bool {
        folders.contains(names[row])
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
