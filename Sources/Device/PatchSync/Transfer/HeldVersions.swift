import PatchChoice
import PatchFormat
import PatchCrypto
import PatchTrust

/// A version that is here, and the base for packs from it.
struct HeldVersion {
    let patch: InstalledPatch
    let base: BaseVersion
}

/// The versions that an index may lead from.
struct HeldVersions {
    /// Versions from which packs were requested.
    var tried: [HeldVersion] = []
    /// Versions that are kept for a rollback.
    var others: [InstalledPatch] = []

    /// Nil unless all of the version is here.
    func base(
        _ digest: SHA256Digest,
        for new: InstalledPatch,
        in store: DeviceStore,
        _ check: inout IntegrityCheck
    ) -> BaseVersion? {
        if let found = tried.first(where: { $0.patch.fingerprint.sha256 == digest }) { return found.base }
        let other = others.first { $0.fingerprint.sha256 == digest }
        return other.flatMap { BaseVersion($0, to: new, in: store, &check) }
    }
}
