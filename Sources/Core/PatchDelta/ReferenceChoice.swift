import PatchFormat

/// Which content of the base a new row is made from.
///
/// The same path where it is close, else the content that is most like it, else a file with the same name stem. It is the
/// maker's choice alone: a reader takes any.
struct ReferenceChoice {
    /// A same path, or one that is gone, that is as close as this is taken without a look at the others.
    private static let close = 0.3
    /// Less is chance: a licence, a loader.
    private static let least = 0.05
    /// The most of a base that is looked through, in bytes; beyond, only rows that the new version does not have.
    private static let searched = 268_435_456

    private let base: PackManifest
    /// Rows of the base whose path the new version does not have.
    private let gone: Set<Int>
    /// Rows that may be held, by how their names end; of those that are gone, by their stems too, the smallest first.
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
        let areGone: Bool
    }

    /// - Parameter read: the content of a row of the base.
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

    /// Whether names of this row's file may stand for those of another: it is gone.
    func isGone(_ row: Int) -> Bool { gone.contains(row) }

    /// A row of the base, and how like it is.
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
            // A file that has a new name comes first: few are gone, and its name may be a token.
            for areGone in [true, false] {
                let found = try index(Searched(ending: path.ending, areGone: areGone)).closest(to: sketch)
                if let found, found.likeness > (areGone ? Self.close : least) { return found }
            }
        }
        if let samePath { return samePath }
        return stem(of: path, size: content.count).map { ($0, 0) }
    }

    /// Of the base's contents with an ending: of those that are gone, or of all.
    private mutating func index(_ searched: Searched) throws(PackError) -> SketchIndex {
        if let index = indexes[searched] { return index }
        var rows = endings[searched.ending, default: []].filter { !searched.areGone || isGone($0) }
        if rows.reduce(0, { $0 + base.fingerprints[$1].size }) > Self.searched { rows = rows.filter(isGone) }
        let index = try SketchIndex(rows, read: read)
        indexes[searched] = index
        return index
    }

    /// A row that is gone and whose name begins and ends like this one's: the nearest in size.
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

    /// `js` of `static/main.5176981c.js`.
    var ending: String { name.split(separator: ".").dropFirst().last.map(String.init) ?? "" }

    /// `static/main` of `static/main.5176981c.js`: the folder and the name up to its first mark.
    fileprivate var stem: String {
        let first = name.prefix { $0.isLetter || $0.isNumber }
        return (folders.last ?? "") + "/" + first
    }
}
