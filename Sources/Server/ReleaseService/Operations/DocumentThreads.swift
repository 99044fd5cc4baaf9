import NIOConcurrencyHelpers
package import NIOPosix
import PatchFormat

/// Threads for reading uploaded documents that may lack a quorum.
///
/// They are few and separate from all other threads, so that devices and other calls are answered even if such a document takes
/// long. An app uses one of them at a time, and has a bounded queue: documents for one app do not block those for another.
package final class DocumentThreads: Sendable {
    /// Separate queues for the threads of the process, which never end.
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

    /// - Parameter waitingAtMost: the limit for one app, including the running call; further calls throw `busy`.
    package init(_ threads: NIOThreadPool, waitingAtMost: Int = 64) {
        self.threads = threads
        self.waitingAtMost = waitingAtMost
    }

    /// - Throws: `busy` if too many calls of the app wait already, `stopping`, and the errors of `work`.
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
    /// Runs `work` on one of these threads, which may wait for the disk.
    ///
    /// - Throws: `stopping` if the server stops before `work` begins, and the errors of `work`.
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
