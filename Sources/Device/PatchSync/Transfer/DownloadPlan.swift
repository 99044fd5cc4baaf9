import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto

/// The download part of a sync: missing files of every wanted patch are downloaded, verified and staged.
///
/// ``PreparePatch`` finds the missing files of each patch, ``DownloadObjects`` downloads them, and ``InstallPatch`` stages the
/// result. For a bundle, ``DownloadManifest`` runs first, with ``DownloadPack``, ``DownloadColumn`` and ``TakePack``.
struct DownloadPlan {
    func run(_ download: inout Download) async throws(SyncError) -> Download.Outcome {
        let store = download.store
        // A crash may have left the folder of an intermediate version.
        try store.wrapped { () throws(FileError) in try store.removeIntermediate() }
        defer { try? store.removeIntermediate() }
        var tasks: [PatchDownload] = []
        for wanted in download.plan.wanted where !download.outcome.isDone(wanted) {
            let task = try await isolating(wanted, &download) { (download) throws(SyncError) in
                try await PreparePatch(wanted: wanted).run(&download)
            }
            if let task { tasks.append(task) }
        }
        let failures = try await DownloadObjects(tasks: tasks).run(&download)
        download.atCommitPoint(.afterObjects)
        for task in tasks {
            _ = try await isolating(task.wanted, &download) { (download) throws(SyncError) in
                if let digest = task.digests.first(where: { failures[$0] != nil }), let failure = failures[digest] {
                    throw failure
                }
                try InstallPatch(task: task).run(&download)
            }
        }
        try download.check.save()
        return download.outcome
    }

    /// Runs a step for one patch.
    ///
    /// A patch that fails stays at its version. Errors that end the whole sync are thrown.
    private func isolating<Result>(
        _ wanted: SyncPlan.Wanted,
        _ download: inout Download,
        _ body: (inout Download) async throws(SyncError) -> Result?
    ) async throws(SyncError) -> Result? {
        do throws(SyncError) {
            return try await body(&download)
        } catch {
            guard !error.endsSync else { throw error }
            if case .incompatible(_, let platform, let needs) = error {
                let row = UnfitVersions.Row(version: wanted.patch.version, platform: platform, needs: needs)
                download.outcome.unfit.add(wanted.patch.content, row)
                return nil
            }
            if case .noRoom(_, let wait) = error { download.outcome.noRoom[wanted.patch.content] = wait }
            if wanted.isNew { download.outcome.transfers.fail(wanted.patch, because: error.transferCause) }
            let failure = PatchFailure(patchID: wanted.patch.patchID, version: wanted.patch.version, error: error)
            download.outcome.failures.append(failure)
            download.transfers.report(.failed(failure))
            return nil
        }
    }
}
