import PatchFormat
import PatchCrypto
import PatchTrust

/// The files of a channel's express answer, found from the tree's timestamp.
struct ExpressContents {
    typealias Reading = (_ file: TreePath.File, _ limit: Int) throws(ServerError) -> [UInt8]

    let channel: ChannelName
    let newestRoot: Int
    let timestamp: [UInt8]
    /// All files but roots, in the order in which a refresh requests them.
    let files: [Express.File]

    /// Nil for a channel without a release, or a retired one: its files may be deleted.
    init?(of channel: ChannelName, app: AppID, newestRoot: Int, read: Reading) throws(ServerError) {
        func bytes(of file: Express.File) throws(ServerError) -> [UInt8] {
            try read(TreePath.File(file), file.limit(in: channel))
        }
        func parsed<Role>(_ role: () throws(FormatError) -> Role) throws(ServerError) -> Role {
            do throws(FormatError) { return try role() } catch { throw .tree(app, .malformed(error)) }
        }
        func targets(_ file: Express.File, _ name: String, _ paths: [TargetPath]) throws(ServerError) -> [Express.File]
        {
            let bytes = try bytes(of: file)
            let role = try parsed { () throws(FormatError) in
                try TargetsRole(Envelope(bytes, role: name, limit: Limits.targetsRole), name: name)
            }
            return [file]
                + paths.compactMap { path in
                    role.targets[ExactString(path.text)]?.sha256.map { .target(path, $0) }
                }
        }
        let timestamp = try bytes(of: .timestamp)
        let snapshotFile = Express.File.role(
            "snapshot",
            version: try parsed { () throws(FormatError) in
                try TimestampRole(Envelope(timestamp, role: "timestamp", limit: Limits.timestamp)).snapshot.version
            }
        )
        let snapshotBytes = try bytes(of: snapshotFile)
        let snapshot = try parsed { () throws(FormatError) in
            try SnapshotRole(Envelope(snapshotBytes, role: "snapshot", limit: Limits.snapshot))
        }
        guard let version = snapshot.files[ExactString(channel.text)]?.version else { return nil }
        var files: [Express.File] = [.timestamp, snapshotFile]
        if let top = snapshot.files["targets"]?.version {
            let file = Express.File.role("targets", version: top)
            let topBytes = try bytes(of: file)
            let role = try parsed { () throws(FormatError) in
                try TargetsRole(Envelope(topBytes, role: "targets", limit: Limits.targetsRole), name: "targets")
            }
            if role.hasRetired(channel.text) { return nil }
            files.append(file)
        }
        files += try targets(.role(channel.text, version: version), channel.text, [.patchList(channel)])
        if let dial = snapshot.files["dial"]?.version {
            files += try targets(.role("dial", version: dial), "dial", [.dial(channel), .parameters(channel)])
        }
        (self.channel, self.newestRoot, self.timestamp, self.files) = (channel, newestRoot, timestamp, files)
    }

    /// The files that a device lacks, up to the limit; no roots for a device without a root.
    func express(
        for known: Express.Known,
        limit: Int = Limits.express,
        read: Reading
    ) throws(ServerError) -> Express {
        let roots = known.root.map { $0 < newestRoot ? Array($0 + 1...newestRoot) : [] } ?? []
        var parts: [Express.Part] = []
        var room = limit - Express(of: channel, newestRoot: newestRoot, parts: []).fileBytes.count
        for file in roots.map({ .root(version: $0) }) + files where !known.has(file) {
            let bytes = file == .timestamp ? timestamp : try read(TreePath.File(file), file.limit(in: channel))
            let size = file.path.utf8.count + " 16000000\n\n".utf8.count + bytes.count
            guard size <= room else { continue }
            room -= size
            parts.append(Express.Part(file, bytes))
        }
        return Express(of: channel, newestRoot: newestRoot, parts: parts)
    }
}
