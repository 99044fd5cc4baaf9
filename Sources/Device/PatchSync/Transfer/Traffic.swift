import NIOConcurrencyHelpers

/// What travelled in a sync, also for lists that a newer one replaced.
final class Traffic: Sendable {
    private let state = NIOLockedValueBox((files: 0, bytes: 0))

    var files: Int { state.withLockedValue(\.files) }
    var bytes: Int { state.withLockedValue(\.bytes) }

    func add(_ outcome: Download.Outcome) {
        state.withLockedValue { state in
            state.files += outcome.filesReceived
            state.bytes += outcome.bytesReceived
        }
    }
}
