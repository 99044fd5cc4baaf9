import NIOConcurrencyHelpers
import PatchSync

/// The reason why the last good online parameters stay in effect.
///
/// Reported once, until it is resolved or changes.
final class ParametersFaults: Sendable {
    private let last = NIOLockedValueBox<SyncError?>(nil)

    /// - Returns: The fault if it is new.
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
