import NIOConcurrencyHelpers
package import NIOPosix
import PatchFormat

/// Threads on which documents are read that somebody brought and that no quorum may have signed.
///
/// They are few and apart from those on which everything else is done, so that however long such a document takes, devices
/// and other calls are answered meanwhile. An app has one of them at a time, and a bounded queue: who brings documents
/// for one app keeps nobody of another from it.
package final class DocumentThreads: Sendable {
    /// Lines of its own before the threads of the process, which never end.
    package static var ofProcess: DocumentThreads { DocumentThreads(pool) }

    private static let pool: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 4)
        threads.start()
        return threads
    }()

    private struct Line {
        let turn = SerialQueue()
        var count = 0
    }

    private let threads: NIOThreadPool
    private let waitingAtMost: Int
    private let lines = NIOLockedValueBox<[AppID: Line]>([:])

    /// - Parameter waitingAtMost: of one app, the one that is read among them; who comes then is told to try again.
    package init(_ threads: NIOThreadPool, waitingAtMost: Int = 64) {
        self.threads = threads
        self.waitingAtMost = waitingAtMost
    }

    /// - Throws: `busy` when too many of the app wait already, `stopping`, and what `work` throws.
    func run<Value: Sendable>(
        for app: AppID,
        _ work: @escaping @Sendable () throws(OperationError) -> Value
    ) async throws(OperationError) -> Value {
        guard let turn = join(app) else { throw .busy }
        defer { leave(app) }
        let threads = threads
        return try await turn.taken { () async throws(OperationError) in
            try await threads.taken(by: work)
        }
    }

    private func join(_ app: AppID) -> SerialQueue? {
        lines.withLockedValue { lines in
            var line = lines[app] ?? Line()
            guard line.count < waitingAtMost else { return nil }
            line.count += 1
            lines[app] = line
            return line.turn
        }
    }

    private func leave(_ app: AppID) {
        lines.withLockedValue { lines in
            lines[app]?.count -= 1
            if lines[app]?.count == 0 { lines[app] = nil }
        }
    }
}

extension NIOThreadPool {
    /// On one of these threads, which may wait for the disk.
    ///
    /// - Throws: `stopping` when the server stops before the turn of `work` comes, and what it throws.
    func taken<Value: Sendable>(
        by work: @escaping @Sendable () throws(OperationError) -> Value
    ) async throws(OperationError) -> Value {
        let result: Result<Value, OperationError>
        do {
            result = try await runIfActive {
                do throws(OperationError) { return .success(try work()) } catch { return .failure(error) }
            }
        } catch { throw .stopping }
        return try result.get()
    }
}
