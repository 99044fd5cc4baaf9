import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// A new bundle, and the versions of it that packs may be based on.
struct NewVersion {
    /// Another version of the bundle that may be stored.
    struct Base {
        enum State {
            case unknown
            /// It is complete, and no server has a pack from it.
            case withoutPack
            /// Its files are incomplete or wrong.
            case damaged
        }

        let patch: InstalledPatch
        /// Whether part of the pack from it is stored.
        let isBegun: Bool
        var state = State.unknown
    }

    /// The maximum number of versions from which packs are requested.
    ///
    /// Each missing pack costs a wait.
    static let mostBases = 3

    /// The active version is the first one.
    private(set) var bases: [Base]
    /// Whether the manifest is stored.
    ///
    /// A pack is then only continued, because the missing files are known and can be requested.
    let hasManifest: Bool
    /// Whether an interrupted pack to the bundle is stored, which may be the second one of a chain.
    var hasPack = false
    /// The packs that a server's index lists, or nil until it was read.
    var packs: IndexedPacks?

    /// - Parameter here: Versions that may be stored, of any patch.
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

    /// The versions whose packs are looked up in an index.
    var indexBases: ArraySlice<Base> { bases.prefix(Self.mostBases) }

    /// Whether the index can help: there is no pack from a complete version, or a chain is to be continued.
    var mayFollowIndex: Bool {
        indexBases.contains { $0.state != .damaged } && (hasManifest ? hasPack && candidates.isEmpty : true)
    }

    mutating func mark(_ base: SHA256Digest, _ state: Base.State) {
        for index in bases.indices where bases[index].patch.fingerprint.sha256 == base { bases[index].state = state }
    }
}

extension NewVersion {
    /// Considers the active version, the pending one, and the embedded ones of the app.
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
    /// The version that a pack is based on, if all its files are stored.
    ///
    /// An incomplete version is marked as damaged.
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
