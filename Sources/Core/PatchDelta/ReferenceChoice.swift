import PatchFormat

/// Chooses the content of the base that a new row is made from.
///
/// It is the same path if that is similar, otherwise the most similar content, otherwise a file with the same name stem. Only the
/// maker chooses: a reader accepts any reference.
struct ReferenceChoice {
    /// The same path, or a removed one, with at least this likeness is used without a look at other rows.
    private static let close = 0.3
    /// A lower likeness is coincidence: a licence, a loader.
    private static let least = 0.05
    /// The largest part of a base that is searched, in bytes.
    ///
    /// Above it, only rows that the new version lacks are searched.
    private static let searched = 268_435_456

    private let base: PackManifest
    /// Rows of the base whose path the new version does not have.
    private let gone: Set<Int>
    /// Rows that fit into memory, by extension.
    ///
    /// Removed rows also by stem, the smallest first.
    private let endings: [String: [Int]]
    private let stems: [Stem: [Int]]
    private let read: (Int) throws(PackError) -> [UInt8]
    private var indexes: [Searched: SketchIndex] = [:]

    private struct Stem: Hashable {
        let stem: String
        let ending: String

        init(of path: AssetPath) {
            (stem, ending) = (path.stem, path.ending)
        }
    }

    private struct Searched: Hashable {
        let ending: String
        let areRemoved: Bool
    }

    /// - Parameter read: returns the content of a row of the base.
    init(
        base: PackManifest,
        new: PackManifest,
        read: @escaping (Int) throws(PackError) -> [UInt8]
    ) {
        self.base = base
        self.read = read
        let gone = Set(base.names.rows.indices.filter { new.row(of: base.names.rows[$0].path) == nil })
        let held = base.names.rows.indices.filter { base.fingerprints[$0].size <= PackLimits.held }
        endings = Dictionary(grouping: held) { base.path(of: $0).ending }
        stems = Dictionary(grouping: held.filter(gone.contains)) { Stem(of: base.path(of: $0)) }
            .mapValues { rows in
                rows.sorted { (base.fingerprints[$0].size, $0) < (base.fingerprints[$1].size, $1) }
            }
        self.gone = gone
    }

    /// Whether the file of this row was removed, so that its name may be replaced by another.
    func isRemoved(_ row: Int) -> Bool { gone.contains(row) }

    /// Returns a row of the base, and its likeness.
    mutating func reference(
        for path: AssetPath,
        _ content: [UInt8]
    ) throws(PackError) -> (row: Int, likeness: Double)? {
        let sketch = Sketch(of: content)
        var samePath: (row: Int, likeness: Double)?
        if let row = base.row(of: path), base.fingerprints[row].size <= PackLimits.held {
            let likeness = sketch.likeness(to: Sketch(of: try read(row)))
            if likeness >= Self.close || sketch.hashes.isEmpty { return (row, likeness) }
            samePath = (row, likeness)
        }
        if !sketch.hashes.isEmpty {
            let least = max(Self.least, samePath?.likeness ?? 0)
            // Renamed files first: there are few, and their names may be tokens.
            for areRemoved in [true, false] {
                let found = try index(Searched(ending: path.ending, areRemoved: areRemoved)).closest(to: sketch)
                if let found, found.likeness > (areRemoved ? Self.close : least) { return found }
            }
        }
        if let samePath { return samePath }
        return stem(of: path, size: content.count).map { ($0, 0) }
    }

    /// The index of the base's contents with an extension: of the removed ones, or of all.
    private mutating func index(_ searched: Searched) throws(PackError) -> SketchIndex {
        if let index = indexes[searched] { return index }
        var rows = endings[searched.ending, default: []].filter { !searched.areRemoved || isRemoved($0) }
        if rows.reduce(0, { $0 + base.fingerprints[$1].size }) > Self.searched { rows = rows.filter(isRemoved) }
        let index = try SketchIndex(rows, read: read)
        indexes[searched] = index
        return index
    }

    /// The removed row whose name has the same stem and extension and that is nearest in size.
    private func stem(of path: AssetPath, size: Int) -> Int? {
        let rows = stems[Stem(of: path), default: []]
        // The first of those as large or larger, and the first of the largest below them.
        let larger = first(of: rows, notBelow: size)
        let smaller = larger == 0 ? 0 : first(of: rows, notBelow: base.fingerprints[rows[larger - 1]].size)
        return [smaller, larger].filter(rows.indices.contains).map { rows[$0] }.min {
            (abs(base.fingerprints[$0].size - size), $0) < (abs(base.fingerprints[$1].size - size), $1)
        }
    }

    private func first(of rows: [Int], notBelow size: Int) -> Int {
        var range = rows.indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range =
                base.fingerprints[rows[middle]].size < size
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}

extension AssetPath {
    private var name: Substring { text[(text.lastIndex(of: "/").map(text.index(after:)) ?? text.startIndex)...] }

    /// The extension: `js` for `static/main.5176981c.js`.
    var ending: String { name.split(separator: ".").dropFirst().last.map(String.init) ?? "" }

    /// The folder and the name up to its first mark: `static/main` for `static/main.5176981c.js`.
    fileprivate var stem: String {
        let first = name.prefix { $0.isLetter || $0.isNumber }
        return (folders.last ?? "") + "/" + first
    }
}
