import NIOConcurrencyHelpers

/// How many bytes of answers are held at a time, of all that somebody looks at together.
final class CollectingRoom: Sendable {
    private let left: NIOLockedValueBox<Int>

    init(bytes: Int) {
        left = NIOLockedValueBox(bytes)
    }

    /// Whether there is room for so many more; then they are taken.
    func take(_ count: Int) -> Bool {
        left.withLockedValue { left in
            guard count <= left else { return false }
            left -= count
            return true
        }
    }

    func giveBack(_ count: Int) {
        left.withLockedValue { $0 += count }
    }
}
