import NIOCore

/// Whether a client takes what is written to it: at least ``ResponsePieces/size`` bytes, or the rest, in each time-out.
struct WriteProgress: Equatable, Sendable {
    let timeout: TimeAmount
    private var since: NIODeadline
    /// Bytes that were left then.
    private var left: Int

    init(left: Int, timeout: TimeAmount, now: NIODeadline) {
        self.timeout = timeout
        self.left = left
        since = now
    }

    /// - Parameter left: bytes that the kernel has not taken yet.
    mutating func isStalled(left: Int, now: NIODeadline) -> Bool {
        if self.left - left >= ResponsePieces.size {
            self.left = left
            since = now
        }
        return now - since >= timeout
    }
}
