import PatchFormat
import PatchStore

/// The estimated bytes of each ``FilesRoute`` for the missing files of a bundle.
///
/// The size of a compressed form is known only once it arrives.
struct TransferCosts: Equatable {
    /// Fewer files than this are requested one by one, regardless of the cost.
    static let leastOfPack = 8

    /// The bytes of single requests, without the cost of the requests.
    let single: Int
    /// The bytes of parts of the plain pack, without the cost of the requests, or nil if there is no pack.
    let ranges: Int?
    /// The bytes of the full pack up to the last missing file, without its stored bytes, or nil if it must not be requested.
    let whole: Int?
    let cheapest: FilesRoute

    /// - Parameters:
    ///   - rows: The missing rows in ascending order.
    ///   - weights: The weights of the whole bundle.
    ///   - facts: The facts of an earlier request for the pack.
    init(missing rows: [Int], of weights: PackWeights, knowing facts: PackFacts?) {
        single = rows.reduce(0) { $0 + weights.estimate(of: $1) }
        guard rows.count >= Self.leastOfPack, weights.bytes > 0, let last = rows.last else {
            (ranges, whole, cheapest) = (nil, nil, .objects)
            return
        }
        let runs = weights.runs(of: rows)
        let parts = runs.reduce(0) { $0 + $1.bytes.count }
        let whole = Self.whole(of: rows, upTo: last, in: weights, knowing: facts)
        (ranges, self.whole) = (parts, whole)
        // All other ways need at least one request, which is not counted.
        let alone = single + rows.count * WireSize.request
        let inParts = parts + (runs.count - 1) * WireSize.request
        if let whole, whole <= inParts, whole < alone {
            cheapest = .fullPack
        } else {
            cheapest = inParts < alone ? .packRanges : .objects
        }
    }

    private static func whole(of rows: [Int], upTo last: Int, in weights: PackWeights, knowing facts: PackFacts?)
        -> Int?
    {
        let estimate = weights.estimate(of: 0..<last + 1)
        guard let facts else { return estimate }
        let plain = weights.plain.bytes(of: 0..<last + 1).count
        guard facts.coding != nil else { return plain }
        let needed = facts.length.map { Int(Double($0) * Double(plain) / Double(weights.bytes)) } ?? estimate
        // A pack that cannot be continued would transfer received files again.
        guard facts.kept > 0 else { return rows.count == weights.count ? needed : nil }
        // Without a length the estimate may be far too high, because a file whose name suggests compression need not be
        // compressed. The files before the first missing one are stored, and were part of the received bytes.
        let passed = facts.length == nil ? weights.estimate(of: 0..<(rows.first ?? 0)) : 0
        return max(0, needed - max(facts.kept, passed))
    }
}

extension TransferCosts {
    /// The bytes of the cheapest way.
    var bytes: Int {
        switch cheapest {
        case .fullPack: whole ?? single
        case .packRanges: ranges ?? single
        case .objects: single
        }
    }
}
