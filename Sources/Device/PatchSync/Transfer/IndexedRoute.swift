import PatchFormat
import PatchCrypto
import PatchTrust

/// How a bundle comes to which no pack leads from the versions that were asked for, by what a server's index of packs says.
///
/// Pure. Nobody signs the index: sizes that lie cost a detour, and bounds end it.
enum IndexedRoute: Equatable, Sendable {
    /// By a pack from another version that is here.
    case pack(PackIndex.Pack)
    /// By a pack to a version that is not here, and one from that.
    case chain(PackIndex.Pack, through: PackIndex.Row)
    /// Its manifest and its signatures come first; ``TransferChoice`` says how the rest does.
    case documents

    /// A version that is here.
    struct Base: Equatable, Sendable {
        let manifest: SHA256Digest
        /// Whether a pack from it was asked for, and nobody had it.
        let isTried: Bool
        /// Whether its signature column is here.
        let hasColumn: Bool
    }

    /// What is to come.
    struct Target: Equatable, Sendable {
        /// Of its manifest, in bytes.
        let manifest: Int
        /// Of its signature column; nil where the device does without.
        let column: Int?
        /// About as many as all its contents take, where the index does not say.
        let contents: Int
        /// The upper bound for the index's unsigned size: more than the base weighs is unlikely.
        let most: Int
    }

    /// An intermediate manifest has at most that many bytes more than twice the signed one: its head costs a reader memory.
    static let manifestRoom = 65_536

    /// - Parameter here: the one that runs first.
    init(_ index: PackIndex, from here: [Base], to target: Target) {
        var best = (cost: Self.documents(index, target), route: Self.documents)
        func offer(_ steps: [PackIndex.Pack], by base: Base, _ row: PackIndex.Row, _ route: Self) {
            let signatures = Self.signatures(of: steps, by: base, row, target)
            let cost = steps.reduce(0) { $0 + $1.size + TransferChoice.request } + signatures
            if cost < best.cost { best = (cost, route) }
        }
        let known = Set(here.map(\.manifest))
        for base in here {
            for row in index.from {
                if row.pack.base == base.manifest, !base.isTried { offer([row.pack], by: base, row, .pack(row.pack)) }
                guard !known.contains(row.pack.base), 1...Self.mostOfManifest(target) ~= row.manifest else { continue }
                for first in row.from where first.base == base.manifest {
                    offer([first, row.pack], by: base, row, .chain(first, through: row))
                }
            }
        }
        self = best.route
    }

    private static func mostOfManifest(_ target: Target) -> Int { 2 * target.manifest + manifestRoom }

    /// All that comes otherwise, in three requests at least.
    private static func documents(_ index: PackIndex, _ target: Target) -> Int {
        let whole = index.whole.map { min($0, target.most) } ?? target.contents
        let documents = TransferChoice.estimate(ofDocument: target.manifest) + (target.column ?? 0)
        return documents + whole + 3 * TransferChoice.request
    }

    /// What comes beside the packs: signatures of new statements, else the column as a whole.
    private static func signatures(
        of steps: [PackIndex.Pack],
        by base: Base,
        _ row: PackIndex.Row,
        _ target: Target
    ) -> Int {
        guard let column = target.column else { return 0 }
        let parts = steps.compactMap(\.signatures)
        guard base.hasColumn, parts.count == steps.count, steps.count == 1 || row.column != nil else {
            return column + TransferChoice.request
        }
        return parts.reduce(0) { $0 + $1 + ($1 > 0 ? TransferChoice.request : 0) }
    }
}
