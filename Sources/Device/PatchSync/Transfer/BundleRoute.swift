import PatchChoice
import PatchDelta
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// How a bundle comes that is new to this device.
///
/// Pure. A pack from a version that is here holds less than anything else that brings the bundle, whatever the server compresses.
enum BundleRoute: Equatable, Sendable {
    /// By the pack from the first of these versions from which a server has one.
    case pack(from: [InstalledPatch])
    /// Its manifest and its signatures come first; ``TransferChoice`` says how the rest does.
    case documents

    /// So many packs are asked for at most: each that is not there costs a wait.
    static let mostBases = 3

    /// - Parameters:
    ///   - here: versions that may be here, the one that runs first.
    ///   - hasManifest: whether the manifest is here already: what is missing besides is known then, and asked for.
    ///   - isBegun: whether some of the pack from this manifest is here, and the rest can be asked for.
    init(to patch: InstalledPatch, from here: [InstalledPatch], hasManifest: Bool, isBegun: (SHA256Digest) -> Bool) {
        let bases = Self.bases(of: patch, in: here)
        let usable = hasManifest ? bases.filter { isBegun($0.fingerprint.sha256) } : Array(bases.prefix(Self.mostBases))
        self = patch.kind == .bundle && !usable.isEmpty ? .pack(from: usable) : .documents
    }

    /// Other versions of the same bundle, each once.
    private static func bases(of patch: InstalledPatch, in here: [InstalledPatch]) -> [InstalledPatch] {
        var seen: Set<SHA256Digest> = [patch.fingerprint.sha256]
        return here.filter { base in
            base.patchID == patch.patchID && base.kind == .bundle && seen.insert(base.fingerprint.sha256).inserted
        }
    }

    /// The versions from which packs are asked for.
    static func bases(of wanted: SyncPlan.Wanted, _ plan: SyncPlan, in store: DeviceStore) -> [InstalledPatch] {
        Array(bases(of: wanted.patch, in: here(wanted, plan, in: store)).prefix(mostBases))
    }

    private static func here(_ wanted: SyncPlan.Wanted, _ plan: SyncPlan, in store: DeviceStore) -> [InstalledPatch] {
        [wanted.current, plan.pending?[wanted.patch.patchID]].compactMap(\.self) + (store.embedded?.bundles ?? [])
    }

    /// By what is on this device: the version that runs, the one that waits, and those that the app ships.
    init(_ wanted: SyncPlan.Wanted, _ plan: SyncPlan, in store: DeviceStore, hasManifest: Bool) {
        let patch = wanted.patch
        self.init(to: patch, from: Self.here(wanted, plan, in: store), hasManifest: hasManifest) { base in
            let pack = BasePack(manifest: patch.fingerprint.sha256, base: base)
            return (try? store.objects.received(of: pack)).map { $0.isWhole || $0.bytes > 0 } ?? false
        }
    }
}

extension PackReader.Bounds {
    /// - Parameter size: of all that the base is made of. A pack that has more is not worth it; and a version has as much as
    ///   four of it at most, with what it is made from.
    init(fromBaseOf size: Int) {
        self.init(pack: max(1_048_576, size), contents: 4 * max(PackLimits.held, size))
    }
}

extension PackError {
    /// Whether whoever made the pack, or sent it, is at fault: its base is right, and it was within this device's own bounds.
    var isLie: Bool {
        switch self {
        case .object, .tooLong, .tooMuch: false
        case .otherFormat, .compression, .head, .malformed, .rowTooLarge, .prefixTooLarge, .incomplete, .trailing,
            .otherManifest, .otherForm, .signatures:
            true
        }
    }
}
