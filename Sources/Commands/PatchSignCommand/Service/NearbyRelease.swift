import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// Finds the base of a release in a neighbouring folder, so that a push sends fewer bytes.
///
/// The base is not trusted: the server verifies the result of the pack. If that fails, the push sends the parts.
enum NearbyRelease {
    /// The maximum number of folders that are searched.
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

    /// Whether the folder contains the base's version of the same channel.
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
