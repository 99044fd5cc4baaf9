/// Told of every connection and every answer of a server, on its fast path: from many threads, and it must not wait.
package protocol TrafficMeter: Sendable {
    func connectionOpened()
    func connectionClosed()
    /// One ended, or never began, for want of room or time.
    func connectionLost(_ loss: LossOfConnection)

    /// - Parameters:
    ///   - target: as received, with its query; `-` when no head could be read.
    ///   - bodyBytes: handed to the system.
    ///   - duration: as ``AccessLogEntry/duration``.
    func answered(_ target: String, status: Int, bodyBytes: Int, in duration: Duration)
}
