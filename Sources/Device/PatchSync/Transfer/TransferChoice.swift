import PatchDelta
import PatchFormat
import PatchStore

/// How the missing files of a bundle are asked for: the way that costs least.
///
/// Pure, and an estimate: the cost of a compressed form is known only when it arrives. A request costs its head, the answer's head, and a
/// wait in which three kilobytes would have arrived.
enum TransferChoice: Equatable, Sendable {
    /// The whole pack in one request, or the rest of the one that broke off.
    case wholePack
    /// The parts of the plain pack that hold the missing files.
    case packRanges
    /// The missing files one by one.
    case singleObjects

    /// Fewer objects come one by one, whatever they cost.
    static let leastOfPack = 8

    /// - Parameters:
    ///   - rows: the missing ones, in their order.
    ///   - weights: of the whole bundle.
    ///   - facts: of an earlier request for the pack.
    init(missing rows: [Int], of weights: PackWeights, knowing facts: PackFacts?) {
        self = TransferCosts(missing: rows, of: weights, knowing: facts).cheapest
    }

    /// The cost of a request, in bytes.
    static let request = UpdateCost.request

    /// Percent of a file's bytes that travel.
    private static let percent = 27

    /// Estimated bytes of a document as it travels.
    static func estimate(ofDocument bytes: Int) -> Int { bytes / 100 * percent + bytes % 100 * percent / 100 }
}

/// The estimated bytes of each way to bring the missing files of a bundle.
struct TransferCosts: Equatable {
    /// One by one, without the requests.
    let single: Int
    /// In parts of the plain pack, without the requests; nil if there is no pack of it.
    let ranges: Int?
    /// By the whole pack, up to the last missing file, without its kept bytes; nil if it must not be asked for.
    let whole: Int?
    let cheapest: TransferChoice

    /// - Parameters:
    ///   - rows: the missing ones, in their order.
    ///   - weights: of the whole bundle.
    ///   - facts: of an earlier request for the pack.
    init(missing rows: [Int], of weights: PackWeights, knowing facts: PackFacts?) {
        single = rows.reduce(0) { $0 + weights.estimate(of: $1) }
        guard rows.count >= TransferChoice.leastOfPack, weights.bytes > 0, let last = rows.last else {
            (ranges, whole, cheapest) = (nil, nil, .singleObjects)
            return
        }
        let runs = weights.runs(of: rows)
        let parts = runs.reduce(0) { $0 + $1.bytes.count }
        let whole = Self.whole(of: rows, upTo: last, in: weights, knowing: facts)
        (ranges, self.whole) = (parts, whole)
        // Every way but the first needs one request at least, which is not counted.
        let alone = single + rows.count * TransferChoice.request
        let inParts = parts + (runs.count - 1) * TransferChoice.request
        if let whole, whole <= inParts, whole < alone {
            cheapest = .wholePack
        } else {
            cheapest = inParts < alone ? .packRanges : .singleObjects
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
        // A pack that cannot be continued would bring received files again.
        guard facts.kept > 0 else { return rows.count == weights.count ? needed : nil }
        // Without a length the estimate may be far too high: a file that is named as compressed need not be. The files before the first
        // missing one are here, and came in the kept bytes.
        let passed = facts.length == nil ? weights.estimate(of: 0..<(rows.first ?? 0)) : 0
        return max(0, needed - max(facts.kept, passed))
    }
}

extension TransferCosts {
    /// The bytes of the cheapest way.
    var bytes: Int {
        switch cheapest {
        case .wholePack: whole ?? single
        case .packRanges: ranges ?? single
        case .singleObjects: single
        }
    }
}
