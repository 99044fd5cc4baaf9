import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// The packs to a bundle that a server's index lists, for the stored versions.
///
/// A pure value. The index is not signed. A wrong size in it costs extra transfers, which are limited.
struct IndexedPacks {
    /// A stored version.
    struct Base: Equatable, Sendable {
        let manifest: SHA256Digest
        /// Whether a pack from it was requested and no server has one.
        let isTried: Bool
        /// Whether its signature column is stored.
        let hasColumn: Bool
    }

    /// The sizes of the new bundle's documents and contents, in bytes.
    struct Target: Equatable, Sendable {
        let manifest: Int
        /// The size of its signature column, or nil if the device needs none.
        let column: Int?
        /// The estimated size of all its contents, used if the index has no size.
        let contents: Int
        /// The upper bound for the index's unsigned size: a size above that of the base is unlikely.
        let most: Int
    }

    /// The maximum bytes by which an intermediate manifest may exceed twice the signed one.
    ///
    /// Its head occupies memory of the reader.
    static let manifestAllowance = 65_536

    let index: PackIndex
    /// The active version is the first one.
    let here: [Base]
    let target: Target

    init(_ index: PackIndex, from here: [Base], to target: Target) {
        (self.index, self.here, self.target) = (index, here, target)
    }

    /// A pack, a chain of two packs, or ``BundleRoute/documents`` if no pack costs less.
    var cheapest: BundleRoute {
        var best = (cost: Self.documents(index, target), route: BundleRoute.documents)
        func offer(_ steps: [PackIndex.Pack], by base: Base, _ row: PackIndex.Row, _ route: BundleRoute) {
            let signatures = Self.signatures(of: steps, by: base, row, target)
            let cost = steps.reduce(0) { $0 + $1.size + WireSize.request } + signatures
            if cost < best.cost { best = (cost, route) }
        }
        let known = Set(here.map(\.manifest))
        for base in here {
            for row in index.from {
                if row.pack.base == base.manifest, !base.isTried {
                    offer([row.pack], by: base, row, .listed(row.pack))
                }
                guard !known.contains(row.pack.base), 1...Self.maximumManifestBytes(target) ~= row.manifest else {
                    continue
                }
                for first in row.from where first.base == base.manifest {
                    offer([first, row.pack], by: base, row, .chain(first, through: row))
                }
            }
        }
        return best.route
    }

    private static func maximumManifestBytes(_ target: Target) -> Int { 2 * target.manifest + manifestAllowance }

    /// The cost without packs: at least three requests.
    private static func documents(_ index: PackIndex, _ target: Target) -> Int {
        let whole = index.whole.map { min($0, target.most) } ?? target.contents
        let documents = WireSize.estimate(ofDocument: target.manifest) + (target.column ?? 0)
        return documents + whole + 3 * WireSize.request
    }

    /// The cost of the signatures sent with the packs: those of new entries, else the whole column.
    private static func signatures(
        of steps: [PackIndex.Pack],
        by base: Base,
        _ row: PackIndex.Row,
        _ target: Target
    ) -> Int {
        guard let column = target.column else { return 0 }
        let parts = steps.compactMap(\.signatures)
        guard base.hasColumn, parts.count == steps.count, steps.count == 1 || row.column != nil else {
            return column + WireSize.request
        }
        return parts.reduce(0) { $0 + $1 + ($1 > 0 ? WireSize.request : 0) }
    }
}

extension IndexedPacks {
    /// - Parameters:
    ///   - held: The stored versions. At least one was tried, and its size bounds the sizes in the index.
    ///   - column: The bytes of the target's signature column, or nil if the device needs none.
    init(
        _ index: PackIndex,
        to patch: InstalledPatch,
        from held: HeldVersions,
        column: Int?,
        in store: DeviceStore
    ) {
        let here =
            held.tried.map { Base($0.patch, isTried: true, in: store) }
            + held.others.map { Base($0, isTried: false, in: store) }
        let weight = held.tried.first?.base.contents ?? 0
        let target = Target(
            manifest: patch.fingerprint.size,
            column: column,
            contents: WireSize.estimate(ofDocument: weight),
            most: weight
        )
        self.init(index, from: here, to: target)
    }
}

extension IndexedPacks.Base {
    fileprivate init(_ patch: InstalledPatch, isTried: Bool, in store: DeviceStore) {
        let column = patch.column.flatMap { try? store.files.identity(of: try store.place(of: $0).path) }
        self.init(manifest: patch.fingerprint.sha256, isTried: isTried, hasColumn: column != nil)
    }
}

extension DeviceStore {
    /// Versions of a bundle that are kept for a rollback, except those from which packs were requested.
    func kept(of patch: InstalledPatch, in channel: ChannelName, besides bases: [InstalledPatch]) -> [InstalledPatch] {
        var seen = Set(bases.map(\.fingerprint.sha256) + [patch.fingerprint.sha256])
        let kept = (try? state(of: channel))?.machine.kept ?? []
        return kept.flatMap(\.patches).filter { other in
            other.kind == .bundle && other.patchID == patch.patchID && seen.insert(other.fingerprint.sha256).inserted
        }
    }
}
