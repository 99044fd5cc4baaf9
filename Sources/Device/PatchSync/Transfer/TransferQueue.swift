import PatchFormat
import PatchStore

/// The next transfer of a download: a single object, or missing objects of a bundle from its pack.
///
/// A pure value. The rest of a partially received object is requested alone.
struct TransferQueue {
    enum Transfer: Equatable {
        /// An object by its position in ``MissingObjects``.
        case object(Int)
        /// Objects of a bundle from its pack.
        ///
        /// - Parameter range: The only bytes of the plain pack that are requested, or nil for the pack from its first byte.
        case pack(bundle: Int, positions: [Int], range: Range<Int>?)
    }

    private enum Waiting {
        case objects(ArraySlice<Int>)
        /// The route is chosen when the bundle is next.
        case bundle(Int, [Int])
        /// Parts of the bundle's pack.
        case runs(Int, ArraySlice<PackRun>)
    }

    private let requests: MissingObjects
    /// The last element is next.
    private var waiting: [Waiting] = []

    /// - Parameter begun: Objects of which some bytes are stored.
    init(_ requests: MissingObjects, begun: Set<SHA256Digest>) {
        self.requests = requests
        for block in requests.blocks.reversed() {
            let isBegun = { position in !begun.isEmpty && begun.contains(requests.fingerprint(at: position).sha256) }
            waiting.append(.objects(block.positions.filter { !block.isBundle || isBegun($0) }[...]))
            if block.isBundle { waiting.append(.bundle(block.task, block.positions.filter { !isBegun($0) })) }
        }
    }

    /// The next transfer, or nil if there is none.
    ///
    /// - Parameters:
    ///   - packs: Whether a server is left that may have a bundle's pack.
    ///   - facts: The facts of an earlier request for a bundle's pack.
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
                case .objects: waiting.append(.objects(positions[...]))
                }
            case .runs(let bundle, var runs):
                guard let run = runs.popFirst() else { continue }
                waiting.append(.runs(bundle, runs))
                if run.isRequested(hasServer: packs(bundle)) {
                    return .pack(bundle: bundle, positions: run.positions, range: run.bytes)
                }
                waiting.append(.objects(run.positions[...]))
            }
        }
        return nil
    }

    /// Puts objects that a pack did not deliver first in the queue.
    ///
    /// - Parameter alone: The objects to request alone in any case, so that a fault is found and reported there.
    mutating func requeue(_ positions: [Int], of bundle: Int, alone: Set<Int>) {
        waiting.append(.bundle(bundle, positions.filter { !alone.contains($0) }))
        waiting.append(.objects(positions.filter { alone.contains($0) }[...]))
    }
}
