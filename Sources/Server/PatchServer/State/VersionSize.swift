package import PatchFormat
import PatchCrypto
import PatchTrust

/// How much a version has, before compression.
package struct VersionSize: Equatable, Sendable {
    /// Of the script, or of all assets together.
    package let bytes: Int
    /// Nil for a script.
    package let files: Int?

    package init(bytes: Int, files: Int?) {
        (self.bytes, self.files) = (bytes, files)
    }
}

extension VersionSize {
    /// The sizes of the versions that a release listed, as far as the tree still has their files.
    ///
    /// For people: nothing is verified again.
    package static func all(
        of channel: ChannelName,
        version: Int,
        in repository: AppRepository
    ) throws(ServerError) -> [Label: VersionSize] {
        let tree = repository.tree
        guard let role = try tree.standingRole(channel.text, version: version),
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
