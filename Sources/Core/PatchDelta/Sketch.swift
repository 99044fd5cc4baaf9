/// A sample of the 16-byte pieces of a content, by their hashes.
///
/// The same text always gives the same pieces, wherever it occurs.
struct Sketch: Sendable {
    /// One in 2^5 pieces is a candidate.
    private static let share = 5
    static let most = 1_024

    /// The hashes in ascending order, each once.
    let hashes: [UInt64]

    init(of bytes: [UInt8]) {
        let input = bytes.span
        var hashes: [UInt64] = []
        var limit = UInt64.max >> Self.share
        guard input.count >= 16 else {
            self.hashes = []
            return
        }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for place in input.indices {
            high = high << 8 | low >> 56
            low = low << 8 | UInt64(input[place])
            guard place >= 15 else { continue }
            var hash = (high ^ low &* 0x9E37_79B9_7F4A_7C15) &* 0xC2B2_AE3D_27D4_EB4F
            hash = (hash ^ hash >> 29) &* 0x1656_67B1_9E37_79F9
            hash ^= hash >> 32
            guard hash <= limit else { continue }
            hashes.append(hash)
            if hashes.count >= 8 * Self.most {
                hashes = Self.lowest(hashes)
                limit = hashes.last ?? limit
            }
        }
        self.hashes = Self.lowest(hashes)
    }

    /// The share of the pieces of both that occur in both, from 0 to 1.
    func likeness(to other: Sketch) -> Double {
        Self.likeness(shared: Set(hashes).intersection(other.hashes).count, of: hashes.count, and: other.hashes.count)
    }

    static func likeness(shared: Int, of first: Int, and second: Int) -> Double {
        shared == 0 ? 0 : Double(shared) / Double(first + second - shared)
    }

    private static func lowest(_ hashes: [UInt64]) -> [UInt64] {
        var lowest: [UInt64] = []
        for hash in hashes.sorted() where hash != lowest.last {
            lowest.append(hash)
            if lowest.count == most { break }
        }
        return lowest
    }
}

/// Finds the contents that contain a piece.
struct SketchIndex: Sendable {
    /// A piece that occurs in more contents is not distinctive and is ignored.
    private static let most = 64
    /// Pieces of all contents together, about 16 bytes each.
    private static let capacity = 2_000_000
    private static let fewest = 64

    private struct Place: Sendable {
        let hash: UInt64
        let row: Int32
    }

    /// The pieces, sorted by hash and then by row.
    private let places: [Place]
    private let counts: [Int32: Int]
    /// Pieces of each content, so that many contents need no more memory than few.
    private let size: Int

    /// - Parameter read: returns the content of a row.
    init(_ rows: [Int], read: (Int) throws(PackError) -> [UInt8]) throws(PackError) {
        size = min(Sketch.most, max(Self.fewest, Self.capacity / max(1, rows.count)))
        var places: [Place] = []
        var counts: [Int32: Int] = [:]
        for row in rows {
            let hashes = Sketch(of: try read(row)).hashes.prefix(size)
            counts[Int32(row)] = hashes.count
            places += hashes.map { Place(hash: $0, row: Int32(row)) }
        }
        self.places = places.sorted { ($0.hash, $0.row) < ($1.hash, $1.row) }
        self.counts = counts
    }

    /// Returns the most similar content, the first of equals.
    func closest(to sketch: Sketch) -> (row: Int, likeness: Double)? {
        var shared: [Int32: Int] = [:]
        let hashes = sketch.hashes.prefix(size)
        for hash in hashes {
            let found = places[firstPlace(of: hash)...].prefix(Self.most + 1).prefix { $0.hash == hash }
            guard found.count <= Self.most else { continue }
            for place in found { shared[place.row, default: 0] += 1 }
        }
        var best: (row: Int, likeness: Double)?
        for (row, count) in shared.sorted(by: { $0.key < $1.key }) {
            let likeness = Sketch.likeness(shared: count, of: hashes.count, and: counts[row] ?? 0)
            if likeness > best?.likeness ?? 0 { best = (Int(row), likeness) }
        }
        return best
    }

    private func firstPlace(of hash: UInt64) -> Int {
        var range = places.indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = places[middle].hash < hash ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
