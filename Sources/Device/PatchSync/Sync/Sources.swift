import NIOConcurrencyHelpers
import PatchFetch

/// A fault of one server in a sync.
///
/// The only cost is time, because data from every server is verified in the same way.
package struct MirrorFault: Equatable, Sendable {
    package enum Wrong: Equatable, Sendable {
        /// Its metadata could not be downloaded or failed verification, and the next server was asked.
        case failed(SyncError)
        /// Its metadata is older than the metadata known here.
        case stale(StaleMirror)
        /// It sent unsigned content for this entry.
        case lied(SyncError)
    }

    /// The server, as in ``Source/name``.
    package let server: String
    package let wrong: Wrong

    package init(server: String, wrong: Wrong) {
        self.server = server
        self.wrong = wrong
    }
}

extension MirrorFault: CustomStringConvertible {
    package var description: String {
        switch wrong {
        case .failed(let error): "\(server): \(error)"
        case .stale(let stale): "\(server): \(stale)"
        case .lied(let error): "\(server) sent unsigned data: \(error)"
        }
    }
}

/// The servers of a device, in the order in which they are asked.
///
/// An unreachable server moves to the end for as long as the engine exists, so that later objects need not wait for it.
final class Sources: Sendable {
    private struct State {
        var order: [Source]
        var faults: [MirrorFault] = []
        /// The names of servers whose metadata files are requested one by one.
        var withoutExpress: Set<String> = []
        /// Bytes of files received from all servers, as transferred.
        var transferred = 0
    }

    private let state: NIOLockedValueBox<State>

    init(_ sources: [Source]) {
        precondition(!sources.isEmpty)
        state = NIOLockedValueBox(State(order: sources))
    }

    var inOrder: [Source] { state.withLockedValue(\.order) }

    func moveToEnd(_ source: Source) {
        state.withLockedValue { state in
            guard let index = state.order.firstIndex(where: { $0.name == source.name }) else { return }
            state.order.append(state.order.remove(at: index))
        }
    }

    func hasExpress(_ source: Source) -> Bool { state.withLockedValue { !$0.withoutExpress.contains(source.name) } }

    /// Stops asking this server for express answers for as long as the engine exists.
    func giveUpExpress(of source: Source) {
        state.withLockedValue { _ = $0.withoutExpress.insert(source.name) }
    }

    /// Records a fault, once.
    func note(_ fault: MirrorFault) {
        state.withLockedValue { state in
            if !state.faults.contains(fault) { state.faults.append(fault) }
        }
    }

    /// Adds received bytes of a file, compressed or plain.
    func count(_ bytes: Int) {
        state.withLockedValue { $0.transferred += bytes }
    }

    func takeTransferred() -> Int {
        state.withLockedValue { state in
            defer { state.transferred = 0 }
            return state.transferred
        }
    }

    func takeFaults() -> [MirrorFault] {
        state.withLockedValue { state in
            defer { state.faults = [] }
            return state.faults
        }
    }
}

/// Counts the bytes received from some servers.
final class ByteCount: Sendable {
    private let state = NIOLockedValueBox(0)

    var bytes: Int { state.withLockedValue(\.self) }

    func add(_ bytes: Int) { state.withLockedValue { $0 += bytes } }
}

/// A server whose received bytes are counted.
struct CountingFetcher: Fetcher {
    let server: any Fetcher
    let count: ByteCount

    func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        try await server.fetch(request) { part throws(FetchError) in
            if case .bytes(let chunk) = part { count.add(chunk.count) }
            try await take(part)
        }
    }

    func bytes(_ path: String, known: [UInt8], limit: Int, deadline: Duration) async throws(FetchError) -> [UInt8] {
        let bytes = try await server.bytes(path, known: known, limit: limit, deadline: deadline)
        // The server confirmed the known document without sending it again.
        if bytes != known { count.add(bytes.count) }
        return bytes
    }
}

extension Source {
    func counted(by count: ByteCount) -> Source {
        Source(name: name, fetcher: CountingFetcher(server: fetcher, count: count))
    }
}
