package import PatchDelta
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// Which packs somebody asks for.
package enum WantedPacks: Sendable {
    /// From every version in the tree that the channel ever listed.
    case all
    case version(VersionLabel)
    /// From the version of this manifest, whichever channel listed it.
    case manifest(SHA256Digest)
    case one(BasePack)
}

extension AppRepository {
    /// What an update costs from each version in the tree to each bundle that a channel lists now.
    package func updates(of channel: ChannelName, _ wanted: WantedPacks = .all) throws(ServerError) -> [UpdateStep] {
        let sizes = TravelledSizes([], storage)
        var updates: [UpdateStep] = []
        for job in try steps(to: channel, wanted) {
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

    /// Makes those that are wanted and are not there, in files of their own, without the lock.
    ///
    /// The caller discards them in the end.
    package func makePacks(of channel: ChannelName, _ wanted: WantedPacks) async throws(ServerError) -> CompressedForms
    {
        let jobs = try await CompressionThreads.forms.run { () throws(ServerError) -> [PackPlan.Job] in
            var missing: [PackPlan.Job] = []
            for job in try steps(to: channel, wanted) where try storage.status(of: .basePack(job.pack, .pack)) == nil {
                missing.append(job)
            }
            return missing
        }
        guard !jobs.isEmpty else { return .none }
        let scratch = folder.root.at("\(ServerFolder.compressing)\(UInt64.random(in: .min ... .max))")
        let isByDevice = if case .one = wanted { true } else { false }
        let made = await make(PackPlan(wanted: jobs, keepsAll: !isByDevice), of: VersionSources(tree), in: scratch)
        return CompressedForms(made: made.flatMap(\.files), folder: scratch)
    }

    /// Puts them into the tree; those that stand there stay.
    ///
    /// The caller holds the lock.
    package func keep(_ made: CompressedForms) throws(ServerError) -> TreeChange {
        var plan = PublicationPlan()
        plan.add(made)
        return try WriteTree(plan, in: self, over: nil).run()
    }

    /// Of all packs from a base in the tree.
    package func packBytes() throws(ServerError) -> Int {
        try storage.listing().files.reduce(0) { bytes, file in
            if case .basePack = file.key { bytes + file.value.size } else { bytes }
        }
    }

    /// Packs of a channel that save too little for the room that they take, and their bytes.
    package func packsWastingRoom(of channel: ChannelName) throws(ServerError) -> (count: Int, bytes: Int) {
        let steps = try updates(of: channel).filter(\.wastesRoom)
        return (steps.count, steps.reduce(0) { $0 + ($1.packBytes ?? 0) })
    }

    /// Where packs can lead: to manifests that a channel lists now, and from those that are in the tree.
    package func packEnds() throws(ServerError) -> (listed: [SHA256Digest: ChannelName], bases: Set<SHA256Digest>) {
        var listed: [SHA256Digest: ChannelName] = [:]
        for (channel, published) in try PublishedState(of: self).channels.sorted(by: { $0.key < $1.key }) {
            let list = versions(of: channel, before: published.role.header.version + 1, limit: 1).first ?? []
            for version in list { listed[version.digest] = listed[version.digest] ?? channel }
        }
        var bases: Set<SHA256Digest> = []
        for case .target(let path, let digest) in try storage.listing().files.keys where path.isManifest {
            bases.insert(digest)
        }
        return (listed, bases)
    }

    /// Nil where there is no pack, or it is not one from this base: `check` says so.
    private func summary(of job: PackPlan.Job) throws(ServerError) -> PackSummary? {
        guard let reader = try storage.open(.basePack(job.pack, .pack), limit: Limits.object),
            let base = try? PackManifest(try VersionSources(tree).document(job.base.manifest))
        else { return nil }
        return try? PackSummary(of: FileBytes(reader), base: base, limit: Limits.object)
    }

    private func steps(to channel: ChannelName, _ wanted: WantedPacks) throws(ServerError) -> [PackPlan.Job] {
        guard let role = try PublishedState(of: self).channels[channel]?.role else { return [] }
        let before = versions(of: channel, before: role.header.version + 1, limit: .max)
        guard let list = before.first else { return [] }
        let reading = PackJobs(VersionSources(tree), storage)
        let elsewhere = try wanted.base.map { base throws(ServerError) in
            try BundleDocuments(storage.listing()).versions(base)
        }
        return list.flatMap { new in
            PackBases(of: new, in: list, after: before + [elsewhere ?? []]).candidates.enumerated()
                .filter { wanted.has($1, new) }.compactMap { reading.job(to: new, from: $1, rank: $0) }
        }
    }
}

extension WantedPacks {
    /// The manifest of the base, where that is known.
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
