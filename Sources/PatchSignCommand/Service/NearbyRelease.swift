import PatchFormat
import PatchRelease
import PatchStore
import PatchTrust
import ReleaseFolder
import SystemPackage

/// The folder of the release that another one was made from, if it lies beside it: a push sends less then.
///
/// Nothing of it is relied on: the server checks what it makes of it, and the parts are sent where that fails.
enum NearbyRelease {
    /// More folders are not looked at.
    static let limit = 200

    static func base(of release: SignedRelease, at folder: FilePath, files: any FileOperations) -> SignedRelease? {
        guard let base = release.header.base, let names = try? files.list(folder.parent) else { return nil }
        for name in names.sorted().prefix(limit) {
            let place = folder.parent.at(name)
            guard place != folder, isHeader(of: place, base, release.header, files),
                let found = try? SignedRelease(reading: place, files: files), found.role.identity == base.sha256,
                !found.header.leavesObjectsOut
            else { continue }
            return found
        }
        return nil
    }

    /// Whether the folder has a release of the same channel and of the base's version.
    private static func isHeader(
        of place: FilePath,
        _ base: ReleaseHeader.Base,
        _ header: ReleaseHeader,
        _ files: any FileOperations
    ) -> Bool {
        guard let bytes = try? files.read(place.at("release.json"), limit: Limits.releaseHeader),
            let found = try? ReleaseHeader(bytes)
        else { return false }
        return found.app == header.app && found.channel == header.channel && found.roleVersion == base.roleVersion
    }
}
