import PatchDelta
import PatchFetch
package import PatchFormat
import PatchCrypto
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
        let known = Express.Known(query: request.query)
        guard let channel = channel(of: request), let express = express(of: channel, for: known) else { return nil }
        guard makesDifferences, known.takesDifference, let named = named(known, of: channel) else {
            return express.fileBytes
        }
        return ExpressDifference.body(of: express, from: named)
    }

    /// The files that a device named, which are all here.
    package func named(_ known: Express.Known, of channel: ChannelName) -> [Express.Part]? {
        let found = files.keys.compactMap { Express.File(path: $0, of: channel) }.filter(known.has)
        let named = known.named(among: found.sorted { $0.rank(in: channel) ?? 0 < $1.rank(in: channel) ?? 0 })
        return named?.map { Express.Part($0, files[$0.path] ?? []) }
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

extension Express.File {
    /// Its place among what a device names.
    fileprivate func rank(in channel: ChannelName) -> Int? {
        switch self {
        case .root: 0
        case .timestamp: nil
        case .role(let role, _): ["snapshot", "targets", channel.text, "dial"].firstIndex(of: role).map { 1 + $0 }
        case .target(let path, _):
            [.patchList(channel), .dial(channel), .parameters(channel)].firstIndex(of: path).map { 5 + $0 }
        }
    }
}
