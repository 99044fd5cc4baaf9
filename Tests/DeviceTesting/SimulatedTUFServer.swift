import NIOConcurrencyHelpers
package import PatchFetch
package import PatchTesting
import PatchSync

/// Serves a simulated TUF repository: an access log, and every way in which a network and a server go wrong.
package final class SimulatedTUFServer: Fetcher, Sendable {
    private struct State {
        var repository: SimulatedTUF
        var faults: [String: SimulatedRepository.Fault] = [:]
        var requests: [String] = []
        var bytes = 0
    }

    private let state: NIOLockedValueBox<State>

    package init(_ repository: SimulatedTUF) {
        state = NIOLockedValueBox(State(repository: repository))
    }

    package var repository: SimulatedTUF { state.withLockedValue(\.repository) }

    package func edit(_ change: (inout SimulatedTUF) -> Void) {
        state.withLockedValue { change(&$0.repository) }
    }

    package func fail(_ path: String, with fault: SimulatedRepository.Fault) {
        state.withLockedValue { $0.faults[path] = fault }
    }

    package func repair(_ path: String) {
        state.withLockedValue { $0.faults[path] = nil }
    }

    /// The access log, in order, and empties it.
    package func takeRequests() -> [String] {
        state.withLockedValue { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// Bytes of every answer so far.
    package var bytesSent: Int { state.withLockedValue(\.bytes) }

    package func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        let answer = state.withLockedValue { state in
            state.requests.append(request.path)
            return SimulatedAnswer(
                request: request,
                found: state.repository.files[request.path],
                fault: state.faults[request.path]
            )
        }
        try await answer.send { part throws(FetchError) in
            if case .bytes(let chunk) = part { state.withLockedValue { $0.bytes += chunk.count } }
            try await take(part)
        }
    }
}
