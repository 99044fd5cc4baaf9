import NIOConcurrencyHelpers
package import PatchFormat
package import PatchServer
import PatchStore
import ServerRecords

/// Makes the small forms and packs of releases that were published fast.
///
/// One process at a time does this work in a folder: the holder of ``ServerFolder/optimizing``. Publishing never waits for it:
/// the folder's lock is held only while finished files are put into the tree, and no step begins while this process publishes.
package struct Optimizer: Sendable {
    package enum Result: Equatable, Sendable {
        case done(Optimization.Outcome)
        /// Another process, such as `patchsrv serve`, did the work.
        case doneElsewhere
    }

    /// How often to check whether this process publishes, or another process has finished.
    private static let poll = Duration.milliseconds(100)

    let operations: ReleaseOperations

    package init(_ operations: ReleaseOperations) { self.operations = operations }

    /// Makes all missing files for an app, whether or not they were recorded.
    ///
    /// If another process optimizes the folder, this call waits until that has finished.
    package func optimize(_ app: AppID) async throws(OperationError) -> Result {
        try await changing(app) { (repository) throws(ServerError) in try repository.tree.requestOptimization() }
        while true {
            if let lock = try taken() {
                let outcome = await Self.result { () async throws(OperationError) in try await work(on: app) }
                lock.release()
                return .done(try outcome.get())
            }
            if try await pending(of: app).isEmpty { return .doneElsewhere }
            try? await Task.sleep(for: Self.poll, clock: .continuous)
            if Task.isCancelled { throw .stopping }
        }
    }

    /// Makes the files recorded as missing, then removes the forms that no device needs; the caller holds the lock.
    ///
    /// - Throws: `stopping` if the task is cancelled. The next call continues the work.
    func work(on app: AppID) async throws(OperationError) -> Optimization.Outcome {
        var outcome = Optimization.Outcome()
        while let next = try await pending(of: app).first { try await optimize(next, of: app, &outcome) }
        outcome.removed = try await sweep(app)
        return outcome
    }

    /// Removes derived files that devices no longer request.
    func sweep(_ app: AppID) async throws(OperationError) -> RemovedForms {
        let now = operations.records.now()
        return try await changing(app) { (repository) throws(ServerError) in
            try RemoveUnusedForms(in: repository, at: now).run()
        }
    }

    /// Nil if another process has the lock.
    func taken() throws(OperationError) -> StoreLock? {
        do throws(StoreLockError) { return try StoreLock(operations.folder.optimizing) } catch {
            if case .held = error { return nil }
            throw .server(.locked(error))
        }
    }

    func pending(of app: AppID) async throws(OperationError) -> [PendingOptimization] {
        try await operations.looking(app) { (repository) throws(ServerError) in repository.tree.pendingOptimizations }
    }

    private func optimize(
        _ pending: PendingOptimization,
        of app: AppID,
        _ outcome: inout Optimization.Outcome
    ) async throws(OperationError) {
        let found = try await operations.looking(app) { (repository) throws(ServerError) in
            try Optimization(of: pending.channel, in: repository)
        }
        guard var work = found else {
            return try await changing(app) { (repository) throws(ServerError) in
                try repository.tree.forgetOptimization(of: pending.channel, roleVersion: pending.roleVersion)
            }
        }
        guard work.roleVersion == pending.roleVersion else {
            // An interrupted publish recorded a release that devices do not see.
            return try await changing(app) { (repository) throws(ServerError) in
                try repository.tree.requestOptimization()
            }
        }
        let progress = operations.progress(.optimizing, work.progress.total)
        while true {
            await notPublishing()
            if Task.isCancelled { throw .stopping }
            let made: CompressedForms?
            do throws(ServerError) { made = try await work.next() } catch { throw .server(error) }
            guard let made else { break }
            defer { made.discard(operations.files) }
            let step = work
            let kept = try await changing(app) { (_) throws(ServerError) in try step.keep(made) }
            guard let kept else { return }
            outcome.written += kept
            outcome.leftOut += made.leftOut
            progress(step.progress.done)
        }
        let finished = work
        try await changing(app) { (_) throws(ServerError) in try finished.finish() }
    }

    private func notPublishing() async {
        while operations.publishing.isActive, !Task.isCancelled {
            try? await Task.sleep(for: Self.poll, clock: .continuous)
        }
    }

    private func changing<Value: Sendable>(
        _ app: AppID,
        _ work: @escaping @Sendable (AppRepository) throws(ServerError) -> Value
    ) async throws(OperationError) -> Value {
        try await operations.inTurn { () async throws(OperationError) in try await operations.looking(app, work) }
    }

    private static func result<Value>(
        _ work: () async throws(OperationError) -> Value
    ) async -> Swift.Result<Value, OperationError> {
        do throws(OperationError) { return .success(try await work()) } catch { return .failure(error) }
    }
}
