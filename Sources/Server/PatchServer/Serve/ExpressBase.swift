import PatchFormat
import PatchCrypto
import PatchTrust

/// The files of a difference's base, as named by a device.
enum ExpressBase {
    /// The files in the order in which they were named.
    ///
    /// Only files of a device that followed one snapshot are accepted. So their combinations are limited to the possible states of
    /// a device, and a client cannot request every mixture.
    /// - Parameters:
    ///   - limit: the maximum total size in bytes.
    ///   - read: fails for files that the tree no longer has.
    /// - Returns: nil unless they are the channel's files of such a device, each once and in order.
    static func parts(
        named known: Express.Known,
        of channel: ChannelName,
        newestRoot: Int,
        limit: Int,
        read: ExpressContents.Reading
    ) -> [Express.Part]? {
        var room = limit
        var held: [Express.File: [UInt8]] = [:]
        func bytes(of file: Express.File) -> [UInt8]? {
            guard known.has(file), let bytes = try? read(TreePath.File(file), min(file.limit(in: channel), room)) else {
                return nil
            }
            room -= bytes.count
            held[file] = bytes
            return bytes
        }
        var files: [Express.File] = []
        var targets: [Express.File] = []
        if let version = known.root, version <= newestRoot { files.append(.root(version: version)) }
        if let version = known.version(of: "snapshot"),
            case let file = Express.File.role("snapshot", version: version), let content = bytes(of: file),
            let snapshot = try? SnapshotRole(Envelope(content, role: "snapshot", limit: Limits.snapshot))
        {
            files.append(file)
            for (name, paths) in [
                ("targets", []), (channel.text, [.patchList(channel)]),
                ("dial", [.dial(channel), .parameters(channel)]),
            ] as [(String, [TargetPath])] {
                guard let version = snapshot.files[ExactString(name)]?.version,
                    case let file = Express.File.role(name, version: version), known.has(file)
                else { continue }
                files.append(file)
                guard !paths.isEmpty, let content = bytes(of: file),
                    let role = try? TargetsRole(Envelope(content, role: name, limit: Limits.targetsRole), name: name)
                else { continue }
                for path in paths {
                    guard let digest = role.targets[ExactString(path.text)]?.sha256 else { continue }
                    targets.append(.target(path, digest))
                }
            }
        }
        guard let named = known.named(among: files + targets), !named.isEmpty else { return nil }
        var parts: [Express.Part] = []
        for file in named {
            guard let content = held[file] ?? bytes(of: file) else { return nil }
            parts.append(Express.Part(file, content))
        }
        return parts
    }
}
