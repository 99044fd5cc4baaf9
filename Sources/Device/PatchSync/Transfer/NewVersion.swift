import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// A new bundle, and the versions of it that packs may lead from.
struct NewVersion {
    /// Another version of the bundle that may be here.
    struct Base {
        enum State {
            case unknown
            /// It is complete, and no server has a pack from it.
            case withoutPack
            /// Its files are incomplete or wrong.
            case damaged
        }

        let patch: InstalledPatch
        /// Whether some of the pack from it is stored.
        let isBegun: Bool
        var state = State.unknown
    }

    /// The most versions from which packs are requested: each missing pack costs a wait.
    static let mostBases = 3

    /// The running version first.
    private(set) var bases: [Base]
    /// Whether the manifest is here.
    ///
    /// A pack is then only continued: the missing files are known, and can be requested.
    let hasManifest: Bool
    /// Whether a pack to the bundle is stored that broke off, and may be the second one of a chain.
    var hasPack = false
    /// The packs that a server's index lists; nil until it was read.
    var packs: IndexedPacks?

    /// - Parameter here: versions that may be here, of any patch.
    init(_ patch: InstalledPatch, from here: [InstalledPatch], hasManifest: Bool, isBegun: (SHA256Digest) -> Bool) {
        var seen: Set<SHA256Digest> = [patch.fingerprint.sha256]
        let others = here.filter { base in
            patch.kind == .bundle && base.kind == .bundle && base.patchID == patch.patchID
                && seen.insert(base.fingerprint.sha256).inserted
        }
        bases = others.map { Base(patch: $0, isBegun: hasManifest && isBegun($0.fingerprint.sha256)) }
        self.hasManifest = hasManifest
    }

    /// The versions from which packs are requested.
    var candidates: [Base] { hasManifest ? bases.filter(\.isBegun) : Array(bases.prefix(Self.mostBases)) }

    /// The version from which a pack is requested next.
    var nextBase: Base? { candidates.first { $0.state == .unknown } }

    /// The versions whose packs an index is compared with.
    var indexBases: ArraySlice<Base> { bases.prefix(Self.mostBases) }

    /// Whether the index can help: no pack was found from a version that is complete, or a chain is to be continued.
    var mayFollowIndex: Bool {
        indexBases.contains { $0.state != .damaged } && (hasManifest ? hasPack && candidates.isEmpty : true)
    }

    mutating func mark(_ base: SHA256Digest, _ state: Base.State) {
        for index in bases.indices where bases[index].patch.fingerprint.sha256 == base { bases[index].state = state }
    }
}

extension NewVersion {
    /// The running version, the pending one, and the embedded ones of the app may be here.
    init(_ wanted: SyncPlan.Wanted, _ plan: SyncPlan, in store: DeviceStore, hasManifest: Bool) {
        let patch = wanted.patch
        let here = [wanted.current, plan.pending?[patch.patchID]].compactMap(\.self) + (store.embedded?.bundles ?? [])
        self.init(patch, from: here, hasManifest: hasManifest) { base in
            let pack = BasePack(manifest: patch.fingerprint.sha256, base: base)
            return (try? store.objects.received(of: pack)).map { $0.isWhole || $0.bytes > 0 } ?? false
        }
    }
}

extension NewVersion {
    /// The version that a pack leads from, if all of it is here.
    ///
    /// A version that is incomplete is marked as damaged.
    mutating func hold(
        _ digest: SHA256Digest,
        for new: InstalledPatch,
        in held: inout HeldVersions,
        _ store: DeviceStore,
        _ check: inout IntegrityCheck
    ) -> BaseVersion? {
        guard let found = bases.first(where: { $0.patch.fingerprint.sha256 == digest })?.patch,
            let base = BaseVersion(found, to: new, in: store, &check)
        else {
            mark(digest, .damaged)
            return nil
        }
        held.tried.append(HeldVersion(patch: found, base: base))
        return base
    }
}
