package import PatchDelta
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// The requested packs.
package enum WantedPacks: Sendable {
    /// Packs from every version in the tree that the channel ever listed.
    case all
    case version(VersionLabel)
    /// Packs from the version of this manifest, in any channel.
    case manifest(SHA256Digest)
    case one(BasePack)
}

/// Estimates the cost of an update from each version in the tree to each bundle that a channel lists now.
package struct ListUpdates: Sendable {
    private let channel: ChannelName
    private let wanted: WantedPacks
    private let repository: AppRepository

    package init(of channel: ChannelName, _ wanted: WantedPacks = .all, in repository: AppRepository) {
        (self.channel, self.wanted, self.repository) = (channel, wanted, repository)
    }

    package func run() throws(ServerError) -> [UpdateStep] {
        let storage = repository.storage
        let sizes = TransferSizes([], storage)
        var updates: [UpdateStep] = []
        for job in try jobs() {
            let column = try storage.status(of: job.new.column)?.size ?? 0
            updates.append(
                UpdateStep(
                    of: job.new.label.patchID,
                    from: job.base.label.version,
                    to: job.new.label.version,
                    by: job.pack,
                    packBytes: try storage.status(of: .basePack(job.pack, .pack))?.size,
                    try summary(of: job),
                    signatures: try storage.status(of: .basePack(job.pack, .signatures))?.size,
                    column: column,
                    otherwise: sizes.otherwise(
                        job,
                        manifest: try storage.status(of: job.new.manifest)?.size ?? 0,
                        column: column
                    )
                )
            )
        }
        return updates
    }

    /// The number and size of packs that save too few bytes for the space they use.
    package func packsWastingSpace() throws(ServerError) -> (count: Int, bytes: Int) {
        let steps = try run().filter(\.wastesSpace)
        return (steps.count, steps.reduce(0) { $0 + ($1.packBytes ?? 0) })
    }

    func jobs() throws(ServerError) -> [PackPlan.Job] {
        guard let role = try PublishedState(of: repository).channels[channel]?.role else { return [] }
        let before = BundleVersion.listed(
            of: channel,
            before: role.header.version + 1,
            limit: .max,
            in: repository
        )
        guard let list = before.first else { return [] }
        let reading = PackJobs(VersionSources(repository.tree), repository.storage)
        let elsewhere = try wanted.base.map { base throws(ServerError) in
            try BundleDocuments(repository.storage.listing()).versions(base)
        }
        return list.flatMap { new in
            PackBases(of: new, in: list, after: before + [elsewhere ?? []]).candidates.enumerated()
                .filter { wanted.has($1, new) }.compactMap { reading.job(to: new, from: $1, rank: $0) }
        }
    }

    /// The summary of a pack, or nil if it is missing or has another base: `check` reports that.
    private func summary(of job: PackPlan.Job) throws(ServerError) -> PackSummary? {
        guard let reader = try repository.storage.open(.basePack(job.pack, .pack), limit: Limits.object),
            let base = try? PackManifest(try VersionSources(repository.tree).document(job.base.manifest))
        else { return nil }
        return try? PackSummary(of: FileBytes(reader), base: base, limit: Limits.object)
    }
}

extension WantedPacks {
    /// The manifest of the base, if known.
    fileprivate var base: SHA256Digest? {
        switch self {
        case .all, .version: nil
        case .manifest(let digest): digest
        case .one(let pack): pack.base
        }
    }

    fileprivate func has(_ base: BundleVersion, _ new: BundleVersion) -> Bool {
        switch self {
        case .all: true
        case .version(let version): base.label.version == version
        case .manifest(let digest): base.digest == digest
        case .one(let pack): pack == BasePack(manifest: new.digest, base: base.digest)
        }
    }
}
