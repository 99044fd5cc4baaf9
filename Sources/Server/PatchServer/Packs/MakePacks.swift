package import PatchFormat
import PatchStore
import SystemPackage

/// Makes the requested packs that are missing, as separate files and without the lock.
///
/// The caller discards the files in the end.
package struct MakePacks: Sendable {
    private let channel: ChannelName
    private let wanted: WantedPacks
    private let repository: AppRepository

    package init(of channel: ChannelName, _ wanted: WantedPacks, in repository: AppRepository) {
        (self.channel, self.wanted, self.repository) = (channel, wanted, repository)
    }

    package func run() async throws(ServerError) -> CompressedForms {
        let jobs = try await CompressionThreads.forms.run { () throws(ServerError) in try missing() }
        guard !jobs.isEmpty else { return .none }
        let isByDevice = if case .one = wanted { true } else { false }
        let plan = PackPlan(wanted: jobs, keepsAll: !isByDevice)
        let scratch = repository.folder.scratch()
        let (made, _) = await PackWork(plan, of: VersionSources(repository.tree), in: scratch, of: repository).run()
        return CompressedForms(made: made.flatMap(\.files), folder: scratch)
    }

    private func missing() throws(ServerError) -> [PackPlan.Job] {
        var missing: [PackPlan.Job] = []
        for job in try ListUpdates(of: channel, wanted, in: repository).jobs()
        where try repository.storage.status(of: .basePack(job.pack, .pack)) == nil {
            missing.append(job)
        }
        return missing
    }
}
