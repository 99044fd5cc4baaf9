import NIOConcurrencyHelpers
import PatchDelta
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// The jobs of a pack plan, on several threads.
struct PackWork: Sendable {
    var threads = CompressionThreads.packs
    private let plan: PackPlan
    private let sources: VersionSources
    private let scratch: FilePath
    private let repository: AppRepository
    private let forms: [CompressedForms.Form]

    /// - Parameter forms: compressed forms that are published together with the packs.
    init(
        _ plan: PackPlan,
        of sources: VersionSources,
        in scratch: FilePath,
        of repository: AppRepository,
        beside forms: [CompressedForms.Form] = []
    ) {
        (self.plan, self.sources, self.scratch) = (plan, sources, scratch)
        (self.repository, self.forms) = (repository, forms)
    }

    /// The packs that were made, and those that save too little; none on a full disk.
    func run() async -> (made: [MadePack], leftOut: [DiscardedPack]) {
        guard !plan.jobs.isEmpty else { return ([], []) }
        let files = repository.files
        let leftOut = NIOLockedValueBox<[DiscardedPack]>([])
        let work = PackFiles(
            folder: scratch,
            files: files,
            sources: sources,
            effort: plan.effort,
            sizes: TransferSizes(forms, repository.storage),
            keepsAll: plan.keepsAll,
            onDiscard: { pack in leftOut.withLockedValue { $0.append(pack) } }
        )
        do throws(ServerError) {
            do throws(FileError) { try files.makeDirectory(scratch) } catch { throw .file(error) }
            let made = try await ParallelWork(plan.jobs, on: threads) { (job, number) throws(ServerError) in
                try work.make(job, number)
            }.run(repository.progress(.packing, plan.jobs.count))
            return (made, leftOut.withLockedValue(\.self))
        } catch {
            try? files.removeTree(scratch)
            return ([], leftOut.withLockedValue(\.self))
        }
    }
}
