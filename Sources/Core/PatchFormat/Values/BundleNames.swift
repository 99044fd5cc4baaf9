/// Finds duplicates among the names of a bundle's files, folders and URLs, and counts the folders.
///
/// Work and memory are proportional to the bytes of the names. Folders are hashed without making a string for each.
struct BundleNames {
    enum Outcome: Equatable {
        case taken
        /// Equal after case folding to the name of this row.
        case equals(Int)
        case tooDeep
        case tooManyFolders
    }

    private var files: [NameHash: Int32] = [:]
    /// The hash of each row's name.
    private var names: [NameHash] = []
    private var folders: Set<NameHash> = []
    private var urls: Set<NameHash> = []
    /// The case-folded path of the previous row.
    ///
    /// Rows are sorted, so it shares most folders with this one.
    private var last: [UInt8] = []

    /// Inserts the next row, in the order of the manifest.
    mutating func insert(_ path: AssetPath) -> Outcome {
        let row = names.count
        let folded = path.caseFoldedBytes
        defer { last = folded }
        var name = NameHashing()
        var (depth, start) = (0, 0)
        // The length of the common prefix of this row and the previous one.
        var common = 0
        while common < min(folded.count, last.count), folded[common] == last[common] { common += 1 }
        for place in folded.indices where folded[place] == UInt8(ascii: "/") {
            depth += 1
            guard depth <= Limits.folderDepth else { return .tooDeep }
            name.combine(folded[start..<place])
            start = place
            // The previous row is in the same folder and has inserted it.
            if place < common { continue }
            if folders.insert(name.hash).inserted, folders.count > Limits.foldersInBundle { return .tooManyFolders }
        }
        name.combine(folded[start...])
        let whole = name.hash
        if let other = files.updateValue(Int32(row), forKey: whole) { return .equals(Int(other)) }
        names.append(whole)
        return .taken
    }

    /// - Returns: whether the URL is new.
    mutating func insert(url: String) -> Bool {
        urls.insert(NameHash(of: url)).inserted
    }

    /// Whether the name of this row, which was `taken`, is also a folder of other files.
    func isFolder(row: Int) -> Bool {
        folders.contains(names[row])
    }
}

/// A 128-bit hash in place of a name, keyed anew in each process: outsiders cannot construct collisions.
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

/// Hashes a name in pieces, each up to the next slash.
///
/// The hash of all pieces so far is available after each.
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
