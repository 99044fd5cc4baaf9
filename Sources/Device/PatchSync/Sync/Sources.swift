import NIOConcurrencyHelpers
import PatchFetch

/// What one server did wrong in a sync.
///
/// It cost time and nothing else: whatever came from it was checked like everything.
package struct MirrorFault: Equatable, Sendable {
    package enum Wrong: Equatable, Sendable {
        /// Its metadata did not come, or was not to be trusted; the next server was asked.
        case failed(SyncError)
        /// Its metadata is older than what is known.
        case stale(StaleMirror)
        /// It sent, for this entry, what nobody signed.
        case lied(SyncError)
    }

    /// ``Source/name``.
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
        case .lied(let error): "\(server) sent what was not signed: \(error)"
        }
    }
}

/// The servers of a device in the order in which they are asked.
///
/// One to which there is no way goes to the end for as long as the engine lives, so that not every object waits for it.
final class Sources: Sendable {
    private struct State {
        var order: [Source]
        var faults: [MirrorFault] = []
        /// Names of those whose files are asked for one by one.
        var withoutExpress: Set<String> = []
        /// Bytes of files that came from any of them, as they travelled.
        var transferred = 0
    }

    private let state: NIOLockedValueBox<State>

    init(_ sources: [Source]) {
        precondition(!sources.isEmpty)
        state = NIOLockedValueBox(State(order: sources))
    }

    var inOrder: [Source] { state.withLockedValue(\.order) }

    func putLast(_ source: Source) {
        state.withLockedValue { state in
            guard let index = state.order.firstIndex(where: { $0.name == source.name }) else { return }
            state.order.append(state.order.remove(at: index))
        }
    }

    func hasExpress(_ source: Source) -> Bool { state.withLockedValue { !$0.withoutExpress.contains(source.name) } }

    /// For as long as the engine lives.
    func giveUpExpress(of source: Source) {
        state.withLockedValue { _ = $0.withoutExpress.insert(source.name) }
    }

    /// Each fault once.
    func note(_ fault: MirrorFault) {
        state.withLockedValue { state in
            if !state.faults.contains(fault) { state.faults.append(fault) }
        }
    }

    /// So many more bytes of a file came, in whatever form.
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

/// How many bytes came of some servers, whatever for.
final class ByteCount: Sendable {
    private let state = NIOLockedValueBox(0)

    var bytes: Int { state.withLockedValue(\.self) }

    func add(_ bytes: Int) { state.withLockedValue { $0 += bytes } }
}

/// A server whose answers are counted.
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
        // What is known does not travel where its server names it.
        if bytes != known { count.add(bytes.count) }
        return bytes
    }
}

extension Source {
    func counted(by count: ByteCount) -> Source {
        Source(name: name, fetcher: CountingFetcher(server: fetcher, count: count))
    }
}
