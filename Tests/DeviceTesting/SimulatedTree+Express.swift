import PatchFetch
package import PatchFormat
import PatchTrust

/// Express answers, as a server makes them.
extension SimulatedTree {
    /// What a device that has `known` is answered; nil for a channel without a release.
    package func express(of channel: ChannelName, for known: Express.Known = Express.Known()) -> Express? {
        guard versions[channel.text] != nil, let newest = versions["root"] else { return nil }
        var wanted: [Express.File] =
            known.root.map { $0 < newest ? ($0 + 1...newest).map { .root(version: $0) } : [] } ?? []
        wanted.append(.timestamp)
        for role in ["snapshot", "targets", channel.text, "dial"] {
            guard let version = versions[role] else { continue }
            wanted.append(.role(role, version: version))
            let bytes = files[URLLayout.metadata(role, version: version)] ?? []
            let targets = (try? TargetsRole(Envelope(bytes, role: role, limit: Limits.targetsRole), name: role))?
                .targets
            for path in [TargetPath.patchList(channel), .dial(channel), .parameters(channel)] {
                guard let digest = targets?[ExactString(path.text)]?.sha256 else { continue }
                wanted.append(.target(path, digest))
            }
        }
        let parts = wanted.filter { !known.has($0) }.compactMap { file in
            files[file.path].map { Express.Part(file, $0) }
        }
        return Express(of: channel, newestRoot: newest, parts: parts)
    }

    func express(_ request: FetchRequest) -> [UInt8]? {
        channel(of: request).flatMap { express(of: $0, for: Express.Known(query: request.query))?.fileBytes }
    }

    /// Says nothing of what was left out.
    func expressTag(_ request: FetchRequest) -> String? {
        channel(of: request).map { _ in "\"\(versions["timestamp"] ?? 0).\(versions["root"] ?? 0)\"" }
    }

    private func channel(of request: FetchRequest) -> ChannelName? {
        let prefix = "metadata/express/"
        return request.path.hasPrefix(prefix) ? ChannelName(String(request.path.dropFirst(prefix.count))) : nil
    }
}
