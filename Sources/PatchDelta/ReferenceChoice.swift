import PatchFormat

/// Which content of the base a new row is made from.
///
/// The same path where it is close, else the content that is most like it, else a file with the same name stem. It is the
/// maker's choice alone: a reader takes any.
struct ReferenceChoice {
    /// A same path that is as close as this is taken without a look at the others.
    private static let close = 0.3
    /// Less is chance: a licence, a loader.
    private static let least = 0.05
    /// The most of a base that is looked through, in bytes; beyond, only rows that the new version does not have.
    private static let searched = 268_435_456

    private let base: PackManifest
    /// Rows of the base whose path the new version does not have.
    private let gone: Set<Int>
    private let read: (Int) throws(PackError) -> [UInt8]
    private var indexes: [String: SketchIndex] = [:]

    /// - Parameter read: the content of a row of the base.
    init(
        base: PackManifest,
        new: PackManifest,
        read: @escaping (Int) throws(PackError) -> [UInt8]
    ) {
        self.base = base
        self.read = read
        gone = Set(base.names.rows.indices.filter { new.row(of: base.names.rows[$0].path) == nil })
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
        if !sketch.hashes.isEmpty, let found = try index(path.ending).closest(to: sketch),
            found.likeness > max(Self.least, samePath?.likeness ?? 0)
        {
            return found
        }
        if let samePath { return samePath }
        return stem(of: path, size: content.count).map { ($0, 0) }
    }

    /// Of the base's contents with this ending.
    private mutating func index(_ ending: String) throws(PackError) -> SketchIndex {
        if let index = indexes[ending] { return index }
        var rows = base.names.rows.indices.filter {
            base.names.rows[$0].path.ending == ending && base.fingerprints[$0].size <= PackLimits.held
        }
        if rows.reduce(0, { $0 + base.fingerprints[$1].size }) > Self.searched { rows = rows.filter(isGone) }
        var index = SketchIndex()
        for row in rows { index.insert(Sketch(of: try read(row)), row: row) }
        indexes[ending] = index
        return index
    }

    /// A row that is gone and whose name begins and ends like this one's: the nearest in size.
    private func stem(of path: AssetPath, size: Int) -> Int? {
        let rows = gone.filter {
            let other = base.names.rows[$0].path
            return other.ending == path.ending && other.stem == path.stem
                && base.fingerprints[$0].size <= PackLimits.held
        }
        return rows.min {
            (abs(base.fingerprints[$0].size - size), $0) < (abs(base.fingerprints[$1].size - size), $1)
        }
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
