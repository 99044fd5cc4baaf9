import NIOConcurrencyHelpers
import PatchSync

/// Why the last good online parameters still hold: told once, until it is over or something else is wrong.
final class ParametersFaults: Sendable {
    private let last = NIOLockedValueBox<SyncError?>(nil)

    /// - Returns: what is news.
    func take(_ fault: SyncError?) -> SyncError? {
        last.withLockedValue { last in
            defer { last = fault }
            return fault == last ? nil : fault
        }
    }
}

extension ParametersUpdate {
    var fault: SyncError? {
        if case .kept(let error) = self { error } else { nil }
    }
}
