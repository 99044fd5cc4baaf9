import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// By what is on a device: the same for a sync, and for whoever asks what one costs.
extension IndexedRoute {
    /// - Parameters:
    ///   - tried: packs from these were asked for, and nobody has them; at least one.
    ///   - others: versions that stay to go back to.
    ///   - column: bytes of the target's signature column; nil where the device does without.
    init?(
        _ index: PackIndex,
        to patch: InstalledPatch,
        from tried: [HeldVersion],
        and others: [InstalledPatch],
        column: Int?,
        in store: DeviceStore
    ) {
        guard let weight = tried.first?.base.contents else { return nil }
        let here =
            tried.map { Base($0.patch, isTried: true, in: store) } + others.map { Base($0, isTried: false, in: store) }
        let target = Target(
            manifest: patch.fingerprint.size,
            column: column,
            contents: TransferChoice.estimate(ofDocument: weight),
            most: weight
        )
        self.init(index, from: here, to: target)
    }
}

extension IndexedRoute.Base {
    fileprivate init(_ patch: InstalledPatch, isTried: Bool, in store: DeviceStore) {
        let column = patch.column.flatMap { try? store.files.identity(of: try store.place(of: $0).path) }
        self.init(manifest: patch.fingerprint.sha256, isTried: isTried, hasColumn: column != nil)
    }
}

extension DeviceStore {
    /// Versions of a bundle that stay to go back to, besides those from which packs were asked for.
    func kept(
        of patch: InstalledPatch,
        in channel: ChannelName,
        besides bases: [InstalledPatch]
    ) -> [InstalledPatch] {
        var seen = Set(bases.map(\.fingerprint.sha256) + [patch.fingerprint.sha256])
        let kept = (try? state(of: channel))?.machine.kept ?? []
        return kept.flatMap(\.patches).filter { other in
            other.kind == .bundle && other.patchID == patch.patchID && seen.insert(other.fingerprint.sha256).inserted
        }
    }
}
