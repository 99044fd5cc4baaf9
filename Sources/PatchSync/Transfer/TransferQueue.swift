import PatchFormat

/// What of a download is asked for next, and how: an object by itself, or neighbours of a bundle as a part of its pack.
///
/// Pure. Of an object that came in part the rest is asked for, by itself.
struct TransferQueue {
    enum Transfer: Equatable {
        /// By position in ``MissingObjects``.
        case object(Int)
        case run(Range<Int>)
    }

    /// Fewer neighbours than this come one by one.
    static let leastOfRun = 8
    /// So that what came of a run is soon made durable, and that several connections have something to do.
    static let mostOfRun = 1_000
    /// In bytes; one large object is no run.
    static let mostBytesOfRun = 8 << 20

    private let requests: MissingObjects
    private let begun: Set<SHA256Digest>
    /// The last one is next.
    private var waiting: [Range<Int>]

    /// - Parameter begun: objects of which something is here.
    init(_ requests: MissingObjects, begun: Set<SHA256Digest>) {
        self.requests = requests
        self.begun = begun
        waiting = [requests.indices]
    }

    /// Nil when nothing is left to be asked for.
    ///
    /// - Parameter packs: whether there is a server that may have them.
    mutating func next(packs: Bool) -> Transfer? {
        while let range = waiting.popLast() {
            guard !range.isEmpty else { continue }
            let end = packs ? endOfRun(in: range) : range.lowerBound
            let isRun = end - range.lowerBound >= Self.leastOfRun
            waiting.append((isRun ? end : range.lowerBound + 1)..<range.upperBound)
            return isRun ? .run(range.lowerBound..<end) : .object(range.lowerBound)
        }
        return nil
    }

    /// What did not come of a run is next: its first by itself, so that whatever is wrong is found and named there.
    mutating func putBack(_ positions: Range<Int>) {
        waiting.append(positions.dropFirst())
        waiting.append(positions.prefix(1))
    }

    private func endOfRun(in range: Range<Int>) -> Int {
        var (end, bytes) = (range.lowerBound, 0)
        while end < range.upperBound, end - range.lowerBound < Self.mostOfRun,
            end == range.lowerBound || requests.isNeighbour(end)
        {
            let fingerprint = requests.fingerprint(at: end)
            bytes += fingerprint.size
            guard fingerprint.size > 0, bytes <= Self.mostBytesOfRun, !begun.contains(fingerprint.sha256) else { break }
            end += 1
        }
        return end
    }
}
