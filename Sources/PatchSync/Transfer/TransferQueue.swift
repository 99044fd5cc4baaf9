import PatchFormat

/// What of a download is asked for next, and how: an object by itself, or all that is missing of a bundle by its whole pack.
///
/// Pure. Of an object that came in part the rest is asked for, by itself.
struct TransferQueue {
    enum Transfer: Equatable {
        /// By position in ``MissingObjects``.
        case object(Int)
        case pack(bundle: Int, positions: [Int])
    }

    private enum Waiting {
        case objects(ArraySlice<Int>)
        /// How they come is chosen when it is their turn.
        case bundle(Int, [Int])
    }

    private let requests: MissingObjects
    /// The last one is next.
    private var waiting: [Waiting] = []

    /// - Parameter begun: objects of which something is here.
    init(_ requests: MissingObjects, begun: Set<SHA256Digest>) {
        self.requests = requests
        for block in requests.blocks.reversed() {
            let isBegun = { position in !begun.isEmpty && begun.contains(requests.fingerprint(at: position).sha256) }
            waiting.append(.objects(block.positions.filter { !block.isBundle || isBegun($0) }[...]))
            if block.isBundle { waiting.append(.bundle(block.task, block.positions.filter { !isBegun($0) })) }
        }
    }

    /// Nil when nothing is left to be asked for.
    ///
    /// - Parameter packs: whether there is a server that may have a bundle's.
    mutating func next(packs: (_ bundle: Int) -> Bool) -> Transfer? {
        while let next = waiting.popLast() {
            switch next {
            case .objects(var positions):
                guard let position = positions.popFirst() else { continue }
                waiting.append(.objects(positions))
                return .object(position)
            case .bundle(let bundle, let positions):
                if packs(bundle), requests.choice(of: bundle, missing: positions) == .wholePack {
                    return .pack(bundle: bundle, positions: positions)
                }
                waiting.append(.objects(positions[...]))
            }
        }
        return nil
    }

    /// What did not come of a pack is next.
    ///
    /// - Parameter alone: what is asked for by itself in any case: so that whatever is wrong is found and named there.
    mutating func putBack(_ positions: [Int], of bundle: Int, alone: Set<Int>) {
        waiting.append(.bundle(bundle, positions.filter { !alone.contains($0) }))
        waiting.append(.objects(positions.filter { alone.contains($0) }[...]))
    }
}
