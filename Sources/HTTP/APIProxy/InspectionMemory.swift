import NIOConcurrencyHelpers

/// The memory for inspected answers, shared by all of them.
final class InspectionMemory: Sendable {
    private let left: NIOLockedValueBox<Int>

    init(bytes: Int) {
        left = NIOLockedValueBox(bytes)
    }

    /// Reserves `count` bytes.
    ///
    /// Returns false if they do not fit.
    func take(_ count: Int) -> Bool {
        left.withLockedValue { left in
            guard count <= left else { return false }
            left -= count
            return true
        }
    }

    func release(_ count: Int) {
        left.withLockedValue { $0 += count }
    }
}
