import PatchDelta
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

extension AppRepository {
    /// How many releases are looked through for earlier versions of a bundle.
    private static let releasesLooked = 10

    /// The packs that a release lacks: to each of its bundles from the versions that its channel listed before.
    ///
    /// An earlier release that cannot be read has no versions: devices do without packs.
    func packPlan(for verified: VerifiedRelease) -> PackPlan {
        let channel = verified.release.header.channel
        let list = BundleVersion.all(of: verified.list.entries, in: verified.role, channel)
        let sources = VersionSources(tree, verified.release)
        return packPlan(to: list, of: channel, at: verified.role.header.version, sources)
    }

    /// The same of the bundles that a release lists.
    func packPlan(
        to list: [BundleVersion],
        of channel: ChannelName,
        at version: Int,
        _ sources: VersionSources
    ) -> PackPlan {
        guard packBases > 0, !list.isEmpty else { return .none }
        let before = versions(of: channel, before: version, limit: Self.releasesLooked)
        let reading = PackJobs(sources, storage)
        return PackPlan(
            list.flatMap { reading.jobs(PackBases(of: $0, in: list, after: before), count: packBases) }
        )
    }

    /// The bundles that each earlier release lists, the newest first.
    func versions(of channel: ChannelName, before version: Int, limit: Int) -> [[BundleVersion]] {
        let roles = (try? roles(of: channel, below: version, limit: limit)) ?? []
        return roles.compactMap { version in
            guard let role = try? tree.standingRole(channel.text, version: version),
                let (bytes, _) = try? tree.target(.patchList(channel), of: role),
                let list = try? ParsedPatchList(bytes).list
            else { return nil }
            return BundleVersion.all(of: list.entries, in: role, channel)
        }
    }

    /// Those that can be made and are worth it; none on a full disk.
    ///
    /// - Parameter forms: compressed forms that are published with them.
    func make(
        _ plan: PackPlan,
        of sources: VersionSources,
        beside forms: [CompressedForms.Form] = [],
        in scratch: FilePath,
        on threads: CompressionThreads = .packs,
        leavingOut onWaste: @escaping @Sendable (LeftOutPack) -> Void = { _ in }
    ) async -> [MadePack] {
        guard !plan.jobs.isEmpty else { return [] }
        let sizes = TravelledSizes(forms, storage)
        let work = PackFiles(
            folder: scratch,
            files: files,
            sources: sources,
            effort: plan.effort,
            sizes: sizes,
            keepsAll: plan.keepsAll,
            onWaste: onWaste
        )
        do throws(ServerError) {
            do throws(FileError) { try files.makeDirectory(scratch) } catch { throw .file(error) }
            return try await ParallelWork(plan.jobs, on: threads) { (job, number) throws(ServerError) in
                try work.make(job, number)
            }.run(progress(.packing, plan.jobs.count))
        } catch {
            try? files.removeTree(scratch)
            return []
        }
    }
}
