import PatchFormat
import PatchStore

/// The next transfer of a download: an object by itself, or missing objects of a bundle by its pack.
///
/// Pure. Of an object that came in part the rest is asked for, by itself.
struct TransferQueue {
    enum Transfer: Equatable {
        /// By position in ``MissingObjects``.
        case object(Int)
        ///
        /// - Parameter range: the only bytes of the plain pack that are asked for; nil for the pack from its first byte.
        case pack(bundle: Int, positions: [Int], range: Range<Int>?)
    }

    private enum Waiting {
        case objects(ArraySlice<Int>)
        /// How they come is chosen when it is their turn.
        case bundle(Int, [Int])
        /// Parts of its pack.
        case runs(Int, ArraySlice<PackRun>)
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
    /// - Parameters:
    ///   - packs: whether there is a server that may have a bundle's.
    ///   - facts: of an earlier request for a bundle's pack.
    mutating func next(
        packs: (_ bundle: Int) -> Bool,
        knowing facts: (_ bundle: Int) -> PackFacts? = { _ in nil }
    ) -> Transfer? {
        while let next = waiting.popLast() {
            switch next {
            case .objects(var positions):
                guard let position = positions.popFirst() else { continue }
                waiting.append(.objects(positions))
                return .object(position)
            case .bundle(let bundle, let positions):
                let hasServer = packs(bundle)
                switch requests.route(of: bundle, missing: positions, knowing: facts(bundle), hasServer: hasServer) {
                case .fullPack: return .pack(bundle: bundle, positions: positions, range: nil)
                case .packRanges: waiting.append(.runs(bundle, requests.runs(of: bundle, for: positions)[...]))
                default: waiting.append(.objects(positions[...]))
                }
            case .runs(let bundle, var runs):
                guard let run = runs.popFirst() else { continue }
                waiting.append(.runs(bundle, runs))
                let (files, bytes) = (run.positions.count, run.bytes.count)
                switch Route(.part(files: files, bytes: bytes, hasServer: packs(bundle))) {
                case .packRanges: return .pack(bundle: bundle, positions: run.positions, range: run.bytes)
                default: waiting.append(.objects(run.positions[...]))
                }
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
