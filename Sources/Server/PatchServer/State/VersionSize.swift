package import PatchFormat
import PatchCrypto
import PatchTrust

/// The size of a version, before compression.
package struct VersionSize: Equatable, Sendable {
    /// The size of the script, or of all assets together.
    package let bytes: Int
    /// The number of files; nil for a script.
    package let files: Int?

    package init(bytes: Int, files: Int?) {
        (self.bytes, self.files) = (bytes, files)
    }
}

extension VersionSize {
    /// The sizes of the versions in a release, as far as the tree still has their files.
    ///
    /// For display: nothing is verified again.
    package static func all(
        of channel: ChannelName,
        version: Int,
        in repository: AppRepository
    ) throws(ServerError) -> [Label: VersionSize] {
        let tree = repository.tree
        guard let role = try tree.storedRole(channel.text, version: version),
            let (bytes, _) = try? tree.target(.patchList(channel), of: role),
            let list = try? ParsedPatchList(bytes).list
        else { return [:] }
        var sizes: [Label: VersionSize] = [:]
        for entry in list.entries {
            let label = Label(patchID: entry.patchID, version: entry.version)
            guard entry.kind == .bundle else {
                sizes[label] = VersionSize(bytes: entry.fingerprint.size, files: nil)
                continue
            }
            guard let assets = try? repository.assets(of: entry, in: channel, role) else { continue }
            let bytes = assets.reduce(0) { $0 + $1.fingerprint.size }
            sizes[label] = VersionSize(bytes: bytes, files: assets.count)
        }
        return sizes
    }
}
