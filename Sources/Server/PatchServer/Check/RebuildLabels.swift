package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// A release that was once published, according to the server's history.
package struct KnownRelease: Equatable, Sendable {
    package let channel: ChannelName
    package let roleVersion: Int
    package let labels: [Label: SHA256Digest]

    package init(_ channel: ChannelName, roleVersion: Int, labels: [Label: SHA256Digest]) {
        (self.channel, self.roleVersion, self.labels) = (channel, roleVersion, labels)
    }
}

/// A record of labels that was lost and rebuilt from the tree and the history.
struct RebuiltLabels {
    let labels: PublishedLabels
    /// How many releases it was rebuilt from.
    let releases: Int
    /// Versions whose contents are unknown, if they were published.
    let unknown: [ChannelName: [ClosedRange<Int>]]

    /// A note for the operator who repaired it.
    var note: String {
        let gaps = unknown.sorted { $0.key < $1.key }.map { channel, ranges in
            let numbers = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            return "\(channel) \(numbers.joined(separator: ", "))"
        }
        let rest =
            gaps.isEmpty
            ? "no release is missing in it"
            : "the releases published as \(gaps.joined(separator: "; ")) are unknown: restore a copy if there is one"
        return
            "labels.json was made again from \(Words.count(releases, "release")) of the tree and the history; \(rest)"
    }
}

/// Collects every label of a release in the tree or in the history, with the content of the first release that had it.
///
/// The published release takes precedence. Higher versions were never published, or only by an attacker from whom the channel was
/// recovered.
struct RebuildLabels: Sendable {
    private let repository: AppRepository
    private let history: [KnownRelease]

    init(of repository: AppRepository, history: [KnownRelease]) {
        (self.repository, self.history) = (repository, history)
    }

    private var tree: AppTree { repository.tree }

    func run() throws(ServerError) -> RebuiltLabels {
        let state = try PublishedState(of: repository)
        let current = try PublishedLabels().adding(publishedIn: state, tree)
        var labels = PublishedLabels()
        for (channel, version) in try droppedChannels(state) {
            labels = labels.dropping(channel, at: version)
        }
        let releases = try storedReleases(state, labels.dropped)
        for release in releases {
            for (label, sha256) in release.labels where current.rows[label].map({ $0.sha256 == sha256 }) ?? true {
                _ = labels.note(
                    label,
                    PublishedLabels.Row(sha256: sha256, channel: release.channel, roleVersion: release.roleVersion)
                )
            }
        }
        labels = try labels.adding(publishedIn: state, tree)
        try repository.checkSize(of: labels)
        var unknown: [ChannelName: [ClosedRange<Int>]] = [:]
        let last = state.channels.mapValues(\.role.header.version).merging(labels.dropped) { published, _ in published }
        for (channel, version) in last {
            let known = releases.filter { $0.channel == channel }.map(\.roleVersion)
            let gaps = Self.gaps(in: known, upTo: version)
            if !gaps.isEmpty { unknown[channel] = gaps }
        }
        return RebuiltLabels(labels: labels, releases: releases.count, unknown: unknown)
    }

    /// Channels that are no longer published, with their last version.
    private func droppedChannels(_ state: PublishedState) throws(ServerError) -> [ChannelName: Int] {
        let record = try tree.versionRecord()
        var last = record.collected.merging(record.restored, uniquingKeysWith: max)
        for release in history { last[release.channel] = max(release.roleVersion, last[release.channel] ?? 0) }
        return last.filter { state.channels[$0.key] == nil }
    }

    /// Releases that were published, the oldest first.
    ///
    /// The tree's copy wins over the history's.
    private func storedReleases(
        _ state: PublishedState,
        _ dropped: [ChannelName: Int]
    ) throws(ServerError) -> [KnownRelease] {
        func wasPublished(_ channel: ChannelName, _ version: Int) -> Bool {
            version <= state.channels[channel]?.role.header.version ?? dropped[channel] ?? 0
        }
        var found: [KnownRelease] = []
        for (channel, versions) in try repository.storage.listing().channels {
            for version in versions where wasPublished(channel, version) {
                if let release = try? release(of: channel, version) { found.append(release) }
            }
        }
        let existing = found
        found += history.filter { release in
            wasPublished(release.channel, release.roleVersion)
                && !existing.contains { $0.channel == release.channel && $0.roleVersion == release.roleVersion }
        }
        return found.sorted { ($0.roleVersion, $0.channel) < ($1.roleVersion, $1.channel) }
    }

    /// The release of a role in the tree.
    private func release(of channel: ChannelName, _ version: Int) throws -> KnownRelease? {
        guard let role = try tree.storedRole(channel.text, version: version) else { return nil }
        let list = try ParsedPatchList(try tree.target(.patchList(channel), of: role).0).list
        return KnownRelease(
            channel,
            roleVersion: version,
            labels: Dictionary(
                list.entries.map {
                    (Label(patchID: $0.patchID, version: $0.version), $0.fingerprint.sha256)
                }
            ) { first, _ in first }
        )
    }

    private static func gaps(in versions: [Int], upTo last: Int) -> [ClosedRange<Int>] {
        var (gaps, next) = ([ClosedRange<Int>](), 1)
        for version in Set(versions).sorted() {
            if version > next { gaps.append(next...(version - 1)) }
            next = version + 1
        }
        if next <= last { gaps.append(next...last) }
        return gaps
    }
}

extension PublishedLabels {
    /// Adds every label of the published lists; throws if one is known with other bytes.
    func adding(publishedIn state: PublishedState, _ tree: AppTree) throws(ServerError) -> PublishedLabels {
        var labels = self
        for (name, channel) in state.channels {
            let (bytes, file) = try tree.target(.patchList(name), of: channel.role)
            do throws(TrustError) {
                let list = try VerifiedList(bytes, for: tree.app, channel: name, file: file, role: channel.role)
                do throws(EntryFault) {
                    let version = channel.role.header.version
                    labels = try labels.adding(list.entries, channel: name, roleVersion: version)
                } catch { throw .entry(error) }
            } catch { throw .tree(tree.app, error) }
        }
        return labels
    }
}
