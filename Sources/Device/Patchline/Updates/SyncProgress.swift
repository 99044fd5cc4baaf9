package import PatchSync

/// The progress of a sync, in percent of the bytes to transfer.
///
/// It never decreases, and 100 is the end.
package struct SyncProgress: Equatable, Sendable {
    package private(set) var percent = 0
    private var (received, total) = (0, 0)

    package init() {}

    /// The new percentage, if this event changes it.
    package mutating func take(_ event: SyncEvent) -> Int? {
        switch event {
        case .downloading(_, let bytes), .packBegan(_, let bytes):
            // A new choice of files is transferred in addition to the bytes received so far.
            total = received + bytes
        case .received(let bytes): received += bytes
        default: return nil
        }
        // All bytes are received, but still have to be written and installed.
        let now = total > 0 ? min(99, Int(Double(received) / Double(total) * 100)) : 0
        guard now > percent else { return nil }
        percent = now
        return now
    }
}
