package import PatchSync

/// How far a sync has come, in percent of the bytes that will travel: it never goes back, and 100 is the end.
package struct SyncProgress: Equatable, Sendable {
    package private(set) var percent = 0
    private var (received, total) = (0, 0)

    package init() {}

    /// The new percentage, if this event changes it.
    package mutating func take(_ event: SyncEvent) -> Int? {
        switch event {
        case .downloading(_, let bytes), .packBegan(_, let bytes):
            // What was chosen anew travels besides what came already.
            total = received + bytes
        case .received(let bytes): received += bytes
        default: return nil
        }
        // All bytes are there, and still have to be written down and taken.
        let now = total > 0 ? min(99, Int(Double(received) / Double(total) * 100)) : 0
        guard now > percent else { return nil }
        percent = now
        return now
    }
}
